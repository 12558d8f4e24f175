"""The recorder: records in, deviations, a file and a verdict out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planproof import evaluate
from planproof.core.content import Json
from planproof.errors import InvalidConfiguration, InvalidInput
from planproof.integrations.capture import Recorder
from planproof.integrations.hosts import import_framework
from planproof.monitor import Deviation, OffPlan

PLAN = ["Read the file report-12.txt", "Delete the file draft-7.txt"]
READ: Json = {"kind": "action", "name": "read_file", "arguments": {"path": "report-12.txt"}}
PIZZA: Json = {"kind": "action", "name": "order_pizza", "output": "on its way"}
DELETED: Json = {"kind": "action", "name": "delete_file", "arguments": {"path": "draft-7.txt"}}
SAID: Json = {"kind": "message", "actor": "assistant", "text": "My plan:\n1. " + "\n2. ".join(PLAN)}


def test_each_deviation_is_reported_once_and_the_verdict_is_that_of_evaluate(
    tmp_path: Path,
) -> None:
    heard: list[Deviation] = []
    file = tmp_path / "trace.json"
    recorder = Recorder(PLAN, task="Tidy up.", file=file, on_deviation=heard.append)
    events: list[Json] = []
    for event in (READ, PIZZA, DELETED):
        events.append(event)
        recorder.record(events, reader="native")
        assert json.loads(file.read_text(encoding="utf-8")) == events
    proven = [deviation for deviation in heard if deviation.certainty == "proven"]
    assert [deviation.event for deviation in proven] == ["e2"]
    assert recorder.monitor is not None
    assert recorder.monitor.ceiling == 0.5
    assert recorder.finish() == evaluate(task="Tidy up.", plan=PLAN, trace=events)
    assert [each.name for each in tmp_path.iterdir()] == ["trace.json"]


def test_off_plan_is_raised_until_the_run_stops() -> None:
    recorder = Recorder(PLAN, raise_on="proven")
    recorder.record([READ], reader="native")
    recorder.check()
    with pytest.raises(OffPlan) as first:
        recorder.record([READ, PIZZA], reader="native")
    with pytest.raises(OffPlan) as second:
        recorder.record([READ, PIZZA, DELETED], reader="native")
    assert first.value is second.value
    with pytest.raises(OffPlan):
        recorder.check()
    assert [step.status for step in recorder.finish().steps] == ["executed", "executed"]


def _expected(recorder: Recorder) -> list[str] | None:
    return recorder.monitor and [step.number for step in recorder.monitor.next_steps]


def test_without_a_plan_the_declared_one_is_used() -> None:
    recorder = Recorder(raise_on="proven")
    recorder.record([{"kind": "message", "actor": "user", "text": "Tidy up."}], reader="native")
    assert _expected(recorder) is None
    recorder.record([SAID, READ], reader="native")
    assert _expected(recorder) == ["2"]
    with pytest.raises(OffPlan):
        recorder.record([SAID, READ, PIZZA], reader="native")


def test_what_can_not_be_read_stops_no_run() -> None:
    recorder = Recorder(PLAN, raise_on="minor")
    recorder.record([{"kind": "nonsense"}], reader="native")
    recorder.record([READ], reader="native")
    assert recorder.finish().steps[0].status == "executed"
    deep: Json = []
    for _ in range(300):
        deep = [deep]
    recorder.record([READ, {**DELETED, "output": deep}], reader="native")
    # It would be the verdict on a part of the run.
    with pytest.raises(InvalidInput, match="nested"):
        recorder.finish()


def test_who_listens_may_fail_and_the_run_stops_all_the_same() -> None:
    def fails(_: Deviation) -> None:
        raise LookupError

    recorder = Recorder(PLAN, on_deviation=fails, raise_on="proven")
    with pytest.raises(LookupError):
        recorder.record([READ, PIZZA], reader="native")
    with pytest.raises(OffPlan):
        recorder.record([READ, PIZZA, DELETED], reader="native")


def test_nothing_recorded_is_not_judged() -> None:
    verdict = Recorder(PLAN).finish()
    assert (verdict.outcome, verdict.score) == ("no_events", None)


def test_a_plan_without_steps_and_a_missing_folder_fail_at_once(
    tmp_path: Path,
) -> None:
    with pytest.raises(InvalidInput, match="no steps"):
        Recorder("")
    with pytest.raises(InvalidInput, match="folder"):
        Recorder(PLAN, file=tmp_path / "nowhere" / "trace.json")
    plan = tmp_path / "plan.md"
    plan.write_text("1. Read the file report-12.txt\n", encoding="utf-8")
    monitor = Recorder(plan).monitor
    assert monitor is not None
    assert len(monitor.plan.steps) == 1


def test_a_framework_that_is_missing_is_named_with_its_package() -> None:
    with pytest.raises(InvalidConfiguration, match="pip install no-such-thing"):
        import_framework("no_such_thing", "no-such-thing")
