"""Twice the input is about twice the work, for inputs that are meant to be expensive.

Work is counted in executed lines of Python, so that no result depends on the machine.
"""

from __future__ import annotations

import gc
import io
import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from planproof import evaluate
from planproof.checking import rules
from planproof.contracts.contract_file import parse_contract
from planproof.contracts.contract_validation import check_contract
from planproof.core.quotes import is_quote_in, to_searchable_text
from planproof.core.verdict import Outcome
from planproof.errors import PlanproofError
from planproof.llm.audit import step_values
from planproof.planning.find_plan import find_declared_plan
from planproof.planning.plan_parser import parse_given_plan
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.trace_files import read_cases
from planproof.readers.detect import read_trace
from planproof.readers.profile_reader import ProfileReader, parse_profile
from planproof.runs.store.open_store import open_sql_store
from planproof.runs.store.queries import ResultFilter, query_results
from tests.audit_helpers import audit_answer, run_audit, step_answer
from tests.fake_model import FakeModel
from tests.hostile.intensity import choose
from tests.line_counts import count_lines
from tests.run_builders import RUN, make_results
from tests.small_cases import FOLLOWED, USER, called
from tests.stored_runs import store_finished_run
from tests.trace_builders import did

SIZE = choose(100, 250)
MOST = 2.6
"""Times the work for twice the input: 2 if linear, 4 if quadratic; sorting takes a little more."""


def _measure_growth(work: Callable[[int], object]) -> float:
    """Return how many times more is done for twice the size, with nothing remembered."""
    work(8)  # so that what is loaded once is not counted

    def count(size: int) -> int:
        re.purge()
        for found in gc.get_objects():
            # A few entries are knowledge that is loaded once.
            if isinstance(found, _Cache) and found.cache_info().currsize > _FEW:
                found.cache_clear()
        return count_lines(lambda: work(size))

    return count(2 * SIZE) / count(SIZE)


_FEW = 16
_Cache: Any = type(lru_cache(len))


@contextmanager
def _allow_refusal() -> Generator[None, None, None]:
    with suppress(PlanproofError):
        yield


PLANS: dict[str, Callable[[int], Any]] = {
    "numbered lines": lambda n: "\n".join(f"{i}. Read file {i}" for i in range(1, n)),
    "deep numbers": lambda n: ".".join(["1"] * n) + " Read it",
    "deeper and deeper": lambda n: "\n".join(f"{' ' * i}- Read {i}" for i in range(n)),
    "many parts": lambda n: "1. " + " and ".join(f"read a{i}.txt" for i in range(n)),
    "conditions": lambda n: "1. " + "if it is open, " * n + "close it",
    "brackets": lambda n: "1. " + "(" * n + "read" + ")" * n,
    "quotes": lambda n: '1. Read "' + '" and "'.join("a" * n) + '"',
    "blanks": lambda n: "1. Read" + " " * 20 * n + "\n" * n + "2. Copy",
    "references": lambda n: "\n".join(f"{i}. Repeat step {i - 1}" for i in range(1, n)),
    "json steps": lambda n: [{"number": str(i), "text": f"Read {i}"} for i in range(n)],
    "punctuation": lambda n: "1. " + ",;:." * n,
    "stars": lambda n: "1. " + "**" * n + "read",
}


@pytest.mark.parametrize("name", PLANS)
def test_plans(name: str) -> None:
    def work(size: int) -> None:
        with _allow_refusal():
            parse_given_plan(PLANS[name](size))

    assert _measure_growth(work) < MOST


def _say(text: str) -> list[dict[str, Any]]:
    return [USER, {"role": "assistant", "content": text}]


TRACES: dict[str, Callable[[int], Any]] = {
    "calls": lambda n: [USER, *(m for i in range(n) for m in called(i, "read", path=str(i)))],
    "one id": lambda n: [USER, *(m for _ in range(n) for m in called(1, "read", path="a"))],
    "open calls": lambda n: [USER, *(called(i, "read")[0] for i in range(n))],
    "results alone": lambda n: [USER, *(called(i, "read")[1] for i in range(n))],
    "open fences": lambda n: _say("```\nls\n" * n),
    "open tags": lambda n: _say("<tool_call><invoke name=" * n),
    "closing tags": lambda n: _say("</tool_call>" * n),
    "actions": lambda n: _say("Thought: a\nAction: read\nAction Input: {}\n" * n),
    "observations": lambda n: _say("Observation: " * n),
    "open braces": lambda n: _say('Tool call: f({"a": ' * n),
    "plans": lambda n: _say("Plan:\n1. Read a\n2. Copy b\n" * n),
    "lists": lambda n: _say("- [ ] read it\n" * n),
    "claims": lambda n: _say("I have read the file. " * n),
    "backslashes": lambda n: _say("\\" * n + '"' + "\\u005c" * n),
    "text log": lambda n: "\n".join(f"2026-01-01 10:00:{i % 60:02} INFO call f" for i in range(n)),
    "prompts": lambda n: "$ ls\n" * n,
    "headings": lambda n: "## User\nhi\n## Assistant\n" * n,
    "chunks": lambda n: (
        '{"type": "tool_call", "session_id": "s", "subtype": "started", "call_id": "c", '
        '"tool_call": {"readToolCall": {}}}\n'
        + '{"type": "thinking", "session_id": "s", "text": "and so on "}\n'
        * n
    ),
    "json in json": lambda n: _say(json.dumps({"a": "x" * n}) * 20),
    "spans": lambda n: {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {"traceId": "1", "spanId": str(i), "parentSpanId": str(i - 1)}
                            for i in range(n)
                        ]
                    }
                ]
            }
        ]
    },
}


@pytest.mark.parametrize("name", TRACES)
def test_readers_and_the_search_for_plans(name: str) -> None:
    def work(size: int) -> None:
        with _allow_refusal():
            find_declared_plan(read_trace(Source.from_value(TRACES[name](size))))

    assert _measure_growth(work) < MOST


@pytest.mark.parametrize("name", TRACES)
def test_rules_on_longer_traces(name: str) -> None:
    def work(size: int) -> None:
        with _allow_refusal():
            evaluate(task="Do it.", plan=FOLLOWED["agent_plan"], trace=TRACES[name](size))

    assert _measure_growth(work) < MOST


@pytest.mark.parametrize("name", PLANS)
def test_rules_on_longer_plans(name: str) -> None:
    def work(size: int) -> None:
        with _allow_refusal():
            evaluate(task="Do it.", plan=PLANS[name](size), trace=FOLLOWED["execution_trace"])

    assert _measure_growth(work) < MOST


def test_rules_stop_at_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_PAIRS", 8)
    verdict = evaluate(plan=FOLLOWED["agent_plan"], trace=FOLLOWED["execution_trace"])
    assert (verdict.outcome, verdict.cause) == (Outcome.JUDGE_FAILED, "limit")
    assert verdict.score is None
    assert "Judge parts of the trace" in verdict.reason


def test_ids_that_audit_looks_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call has ids that no result has: all results before it would be searched for each."""
    monkeypatch.setattr(step_values, "_MAX_SEARCHED_CHARS", 100 * 10 * SIZE)
    plan = parse_given_plan(["Read the report"])

    def work(size: int) -> None:
        events = [did("buy", "nothing", key=f"id-{n}") for n in range(size)]
        cited = [(f"e{n + 1}", f"id-{n}") for n in range(size)]
        answer = audit_answer(step_answer("1", "executed", *cited))
        run_audit(FakeModel(answer, answer, answer), events, plan)

    assert _measure_growth(work) < MOST


def _step(number: int, more: str) -> str:
    return f'  - {{number: "{number}", text: Read {number}, {more}}}\n'


_HEAD = "planproof: contract/1\nsteps:\n"
CONTRACTS: dict[str, Callable[[int], str]] = {
    "steps": lambda n: _HEAD + "".join(_step(i, f"call: read_{i}") for i in range(1, n)),
    "same steps": lambda n: _HEAD + "".join(_step(i, "call: read_file") for i in range(1, n)),
    "alternatives": lambda n: (
        _HEAD + _step(1, f"any_of: [{', '.join(f'{{call: f{i}}}' for i in range(n))}]")
    ),
    "stars": lambda n: _HEAD + _step(1, f'call: "{"a*" * n}b"'),
    "values": lambda n: (
        _HEAD + _step(1, f"call: f, where: {{path: {{any_of: [{', '.join('ab' * n)}]}}}}")
    ),
    "comments": lambda n: "# x\n" * n + _HEAD + _step(1, "call: f"),
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_contracts(name: str) -> None:
    def work(size: int) -> None:
        with _allow_refusal():
            contract = parse_contract(CONTRACTS[name](size), "contract.yaml")
            check_contract(contract)
            evaluate(trace=FOLLOWED["execution_trace"], contract=contract)

    assert _measure_growth(work) < MOST


PROFILE = """planproof: profile/1
name: own
records: {lines: true}
"""
PROFILES: dict[str, Callable[[int], str]] = {
    "comments": lambda n: PROFILE + "# x\n" * n,
    "events": lambda n: PROFILE + "events:\n" + "  - {kind: action, when: {type: call}}\n" * n,
    "unknown keys": lambda n: PROFILE + "".join(f"k{i}: 1\n" for i in range(n)),
}


@pytest.mark.parametrize("name", PROFILES)
def test_profiles(name: str) -> None:
    def work(size: int) -> None:
        with _allow_refusal():
            ProfileReader(parse_profile(PROFILES[name](size), name="own.yaml"))

    assert _measure_growth(work) < MOST


DATA_SETS: dict[str, Callable[[int], str]] = {
    "lines": lambda n: f"{json.dumps(FOLLOWED)}\n" * n,
    "array": lambda n: json.dumps([FOLLOWED] * n),
    "broken lines": lambda n: "{\n" * n,
    "blank lines": lambda n: "\n" * n + json.dumps(FOLLOWED),
    "nested": lambda n: "[" * n,
    "long element": lambda n: json.dumps([{"user_task": "[" * n * 1_000}]),
    "many strings": lambda n: json.dumps([{"user_task": ["a"] * n}]),
}


@pytest.mark.parametrize("name", DATA_SETS)
def test_data_sets(name: str) -> None:
    def work(size: int) -> None:
        with _allow_refusal():
            list(read_cases(io.BytesIO(DATA_SETS[name](size).encode()), name="cases.jsonl"))

    assert _measure_growth(work) < MOST


QUOTES: dict[str, Callable[[int], tuple[str, str]]] = {
    "ellipses": lambda n: ("a…" * n, "ab" * n),
    "backslashes": lambda n: ("\\" * n + "a", "\\" * n),
    "escapes": lambda n: ("\\ud800" * n, "\\udc00" * n),
    "colours": lambda n: ("[1m" * n, "\x1b[" * n),
    "near misses": lambda n: ("a" * n + "b", "a" * 2 * n),
}


@pytest.mark.parametrize("name", QUOTES)
def test_quotes(name: str) -> None:
    def work(size: int) -> None:
        quote, text = QUOTES[name](size)
        is_quote_in(quote, to_searchable_text(text))

    assert _measure_growth(work) < MOST


def test_the_search_on_pages(tmp_path: Path) -> None:
    """A page is as large as it is, however many results there are."""

    def work(size: int) -> None:
        with open_store(size) as database:
            query_results(database, RUN.id, ResultFilter(words="a%_\\" * 50), offset=0, limit=50)

    @contextmanager
    def open_store(size: int) -> Generator[Any, None, None]:
        path = tmp_path / f"{size}.db"
        is_new = not path.exists()
        store = open_sql_store(str(path))
        if is_new:
            store_finished_run(store, RUN, make_results({f"case-{n}": 0.5 for n in range(size)}))
        yield store.database
        store.close()

    for size in (8, SIZE, 2 * SIZE):
        work(size)  # fill the stores first
    assert _measure_growth(work) < MOST
