"""Quotes that a model cites, looked up in the trace."""

from __future__ import annotations

import pytest

from planproof.core.finding import Evidence
from planproof.llm.audit.citations import NO_QUOTE, QuoteResolver
from tests.trace_builders import did, said
from tests.unit.checking.judge_cases import read

TRACE = read(
    {**did("read_file", path="report-12.txt"), "actor": "assistant"},
    did("ls", ""),
    {"kind": "action", "actor": "assistant", "name": "search", "text": "Oslo museums"},
    said("read_file by assistant is what I called."),
)


@pytest.mark.parametrize(
    ("event", "quote", "found"),
    [
        ("e1", '{"path":"report-12.txt"}', "report-12.txt"),
        ("e1", 'read_file by assistant {"path":"report-12.txt"}', "report-12.txt"),
        ("e1", 'read_file {"path": "report-12.txt"}', "report-12.txt"),
        ("e1", "read_file by assistant", "read_file"),
        ("e3", "search «Oslo museums»", "Oslo museums"),
        ("e3", "search by assistant «Oslo museums»", "Oslo museums"),
        ("e4", "read_file by assistant is what", "read_file by assistant is what"),
    ],
)
def test_a_quote_may_begin_as_the_prompt_writes_the_event(
    event: str, quote: str, found: str
) -> None:
    evidence = QuoteResolver(TRACE).resolve(event, quote)
    assert isinstance(evidence, Evidence)
    assert evidence.quote == found


@pytest.mark.parametrize(
    ("event", "quote"),
    [
        ("e1", 'read_file by assistant {"path":"report-13.txt"}'),
        ("e1", 'write_file by assistant {"path":"report-12.txt"}'),
        ("e3", "search by somebody «Oslo museums»"),
        ("e3", "search by assistant «Bergen»"),
    ],
)
def test_what_the_event_does_not_have_is_not_found_behind_its_name(event: str, quote: str) -> None:
    assert QuoteResolver(TRACE).resolve(event, quote) == NO_QUOTE
