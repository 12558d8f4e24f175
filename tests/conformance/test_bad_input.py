"""Bad input: a clear error, or a verdict that says what was left out. One row a kind.

Every row goes through `planproof judge`, through `planproof run` with good cases around it, and,
where it is a case at all, through evaluate().
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from planproof import InvalidInput, evaluate
from tests.command_line import CommandLine
from tests.small_cases import DELETE, FOLLOWED, READ, USER, called

EVENT: dict[str, Any] = {"kind": "action", "name": "read_file", "arguments": {"path": "a"}}
TRACE: list[dict[str, Any]] = FOLLOWED["execution_trace"]
LINES = [json.dumps(message) for message in TRACE]


@dataclass(frozen=True)
class Row:
    """A fault in the file or in one field of a case, and what planproof says to it.

    Code 2: `says` is in the error. Code 3: it is the outcome. Code 0: it is in the coverage.
    """

    name: str
    code: int
    says: str
    file: bytes | None = None
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def content(self) -> bytes:
        """The case file."""
        return json.dumps({**FOLLOWED, **self.changes}).encode() if self.file is None else self.file


def _trace(name: str, code: int, says: str, trace: Any) -> Row:
    return Row(name, code, says, changes={"execution_trace": trace})


def _plan(name: str, code: int, says: str, plan: Any) -> Row:
    return Row(name, code, says, changes={"agent_plan": plan})


def _nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


DEEP = b'{"a":' * 10_000 + b"1" + b"}" * 10_000
FILES = [
    Row("empty file", 2, "is empty", file=b""),
    Row("only white space", 2, "is empty", file=b"  \n\n"),
    Row("no JSON", 2, "is not valid JSON", file=b"Dear all,"),
    Row(
        "an image",
        2,
        "is not text: byte 0 is not valid UTF-8",
        file=b"\x89PNG\r\n\x1a\n" + bytes(range(200, 256)),
    ),
    Row("a list", 2, "must be an object, not a list", file=b"[1, 2]"),
    Row("a number", 2, "must be an object, not a number", file=b"42"),
    Row("null", 2, "must be an object, not null", file=b"null"),
    Row("text", 2, "must be an object, not text", file=b'"case"'),
    Row("an object of another kind", 2, "`user_task` is missing", file=b'{"name": "x"}'),
    Row("cut off", 2, "is not valid JSON", file=json.dumps(FOLLOWED).encode()[:-40]),
    Row("10,000 deep", 2, "is nested too deeply", file=DEEP),
    Row("a number of 5,000 digits", 2, "Exceeds the limit (4300 digits)", file=b"1" * 5_000),
]
TYPES = [
    Row("task a number", 2, "#/user_task: must be text or a list", changes={"user_task": 3}),
    Row("task null", 0, "", changes={"user_task": None}),
    Row("task an object", 2, "#/user_task: must be text or a list", changes={"user_task": {}}),
    Row("task part", 2, "#/user_task/0: must be a content part", changes={"user_task": [3]}),
    Row("plan a number", 2, "#/agent_plan: must be text", changes={"agent_plan": 3}),
    Row("plan true", 2, "#/agent_plan: must be text", changes={"agent_plan": True}),
    Row("plan step", 2, "agent_plan#/1: ", changes={"agent_plan": ["Do it", 3]}),
    Row("trace a number", 2, "#/execution_trace: must be text", changes={"execution_trace": 3}),
    Row("trace null", 2, "#/execution_trace: must be text", changes={"execution_trace": None}),
    Row("id a list", 2, "#/id: must be text or a number", changes={"id": []}),
    Row("metadata text", 2, "#/metadata: must be an object", changes={"metadata": "x"}),
]
TRACES = [
    _trace("empty text", 2, "execution_trace: is empty", ""),
    _trace("10,000 deep inside", 2, "execution_trace: is nested", DEEP.decode()),
    _trace("300 deep", 2, "is nested more than 200 levels", _nested(300)),
    _trace("no events: a list", 3, "no_events", []),
    _trace("no events: an object", 3, "no_events", {}),
    _trace("no events: no messages", 3, "no_events", {"messages": []}),
    _trace("the agent does nothing", 0, "", [USER]),
    _trace("a cut off line", 0, "L7: truncated or invalid JSON", "\n".join(LINES)[:-20]),
    _trace(
        "a broken line", 0, "L2: truncated or invalid JSON", "\n".join((LINES[0], "{,", *LINES[1:]))
    ),
    _trace("duplicate ids", 2, "the id 'a' is used twice", [{**EVENT, "id": "a"}] * 2),
    _trace("duplicate call ids", 0, "", [USER, *READ, *READ, *DELETE]),
    _trace(
        "parents in a circle",
        2,
        "form a cycle",
        [{**EVENT, "id": "a", "parent": "b"}, {**EVENT, "id": "b", "parent": "a"}],
    ),
    _trace("a parent that is not there", 2, "no event has the id 'z'", [{**EVENT, "parent": "z"}]),
    _trace("a wrong kind", 2, "Kinds are action, message", [EVENT] * 20 + [{"kind": "act"}]),
    _trace("a wrong type", 2, "execution_trace#/0/name: Expected `str", [{**EVENT, "name": 3}]),
    _trace("a field of no event", 2, "/0/nmae: is not a field", [{**EVENT, "nmae": "x"}]),
    _trace(
        "times out of order",
        0,
        "",
        [{**EVENT, "time": "2026-01-02T00:00:00Z"}, {**EVENT, "time": "2026-01-01T00:00:00Z"}],
    ),
    _trace(
        "NaN",
        0,
        "NaN is an invalid or too large number",
        [{**EVENT, "arguments": {"a": float("nan")}}],
    ),
    _trace("a lone surrogate", 0, "lone surrogates", [{**EVENT, "text": "half \ud83d"}]),
    _trace("NUL", 0, "", [{**EVENT, "text": "a\0b"}]),
    _trace("right to left", 0, "", [{**EVENT, "text": "קרא את הקובץ \u202e gnp"}]),
    _trace("a line of a million characters", 0, "", [{**EVENT, "text": "x" * 1_000_000}]),
    _trace("a line of text of a million characters", 3, "not_understood", "read " * 200_000),
    _trace("records of no kind", 3, "not_understood", [{"what": "it was read"}]),
    _trace("messages without content", 0, "", [{"role": "assistant"}, USER]),
    _trace("messages of no type", 0, "", [None, 3, USER, *called(4, "read_file", path="a")]),
]
PLANS = [
    _plan("no plan", 3, "no_plan", None),
    _plan("an empty plan", 3, "no_plan", []),
    _plan("a plan of white space", 3, "no_plan", " \n "),
    _plan("an object without steps", 2, "contains no list of steps", {"version": 1}),
    _plan("a plan 10,000 deep", 2, "is nested too deeply", "[" * 10_000),
    _plan("NUL in the plan", 0, "", ["Read\0 it"]),
    _plan("a lone surrogate in the plan", 0, "", ["Read \ud800 it"]),
    _plan("a step of a million characters", 0, "", ["read " * 200_000]),
]
ROWS = FILES + TYPES + TRACES + PLANS


@pytest.fixture
def planproof(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return CommandLine(monkeypatch, capsys)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_judge_answers_clearly(planproof: CommandLine, tmp_path: Path, row: Row) -> None:
    (tmp_path / "case.json").write_bytes(row.content)
    done = planproof("judge", "case.json", "--format", "full")
    assert done.code == row.code
    if row.code == 2:
        assert done.out == ""
        assert done.err.startswith("planproof: error: case.json")
        assert row.says in done.err
    else:
        _check(row, json.loads(done.out))
    for form in ("terminal", "markdown", "json"):
        assert planproof("judge", "case.json", "--format", form).code == row.code


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_run_goes_on(planproof: CommandLine, tmp_path: Path, row: Row) -> None:
    good = json.dumps(FOLLOWED).encode()
    one_line = row.content.replace(b"\n", b" ")
    (tmp_path / "cases.jsonl").write_bytes(b"\n".join((good, one_line, good)))
    done = planproof("run", "cases.jsonl")
    verdicts = [json.loads(line) for line in done.out.splitlines()]
    assert [verdicts[0]["score"], verdicts[-1]["score"]] == [1.0, 1.0]
    if not one_line.strip():
        assert len(verdicts) == 2
        return
    assert len(verdicts) == 3
    if row.code == 2:
        assert verdicts[1]["outcome"] == "invalid_input"
        assert verdicts[1]["score"] is None
        assert verdicts[1]["reason"].startswith("cases.jsonl, line 2")
        assert row.says in verdicts[1]["reason"]
    else:
        _check(row, verdicts[1])
    assert done.code == (0 if row.code == 0 else 3)


@pytest.mark.parametrize(
    "row", [row for row in TRACES + PLANS if row.file is None], ids=lambda row: row.name
)
def test_evaluate_raises_or_says_so(row: Row) -> None:
    case = {**FOLLOWED, **row.changes}
    inputs = {
        "task": case["user_task"],
        "plan": case["agent_plan"],
        "trace": case["execution_trace"],
    }
    if row.code == 2:
        with pytest.raises(InvalidInput) as caught:
            evaluate(**inputs)
        assert row.says in str(caught.value)
    else:
        _check(row, evaluate(**inputs).full())


def test_a_trace_of_50_megabytes_is_judged(tmp_path: Path) -> None:
    big = called(9, "read_file", path="report-12.txt")
    big[1]["content"] = "A long line of output that says little.\n" * 250_000
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([USER, *READ, *(big * 5), *DELETE]), encoding="utf-8")
    assert path.stat().st_size > 50_000_000
    verdict = evaluate(task=FOLLOWED["user_task"], plan=FOLLOWED["agent_plan"], trace=path)
    assert verdict.outcome == "scored"
    assert verdict.coverage is not None
    assert verdict.coverage.events == 8


def test_duplicate_cases_each_have_their_verdict(planproof: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(f"{json.dumps(FOLLOWED)}\n" * 3, encoding="utf-8")
    lines = planproof("run", "cases.jsonl").out.splitlines()
    assert len(lines) == 3
    assert len(set(lines)) == 1


def _check(row: Row, verdict: dict[str, Any]) -> None:
    if row.code == 3:
        assert verdict["outcome"] == row.says
        assert verdict["score"] is None
    else:
        assert verdict["outcome"] == "scored"
        assert 0.0 <= verdict["score"] <= 1.0
        assert row.says in " ".join(verdict["coverage"]["notes"])
        assert bool(row.says) == bool(verdict["coverage"]["skipped"]) or not row.says
    assert verdict["reason"]
