"""The seam of the readers: whatever the format, the same holds of every trace that is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.pointer import resolve
from planproof.core.quotes import is_quote_in, to_searchable_text
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.recognition import list_readers, load_reader
from tests.golden_files import GOLDENS
from tests.unit.readers.samples import ALL

READERS = list_readers()
WHOLE = {golden.name: golden.text for golden in GOLDENS if golden.is_one_text}
SAMPLES: dict[str, Any] = {**ALL, **WHOLE}


def collect_texts(value: Json) -> list[str]:
    """Return all text in a raw value, including the text in JSON strings."""
    if isinstance(value, str):
        held = json.loads(value) if _holds_json(value) else None
        return [value, *collect_texts(held)]
    if is_object(value):
        return [text for key, item in value.items() for text in (key, *collect_texts(item))]
    if is_list(value):
        return [text for item in value for text in collect_texts(item)]
    return [] if value is None else [json.dumps(value)]


def _holds_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), (dict, list))
    except ValueError:
        return False


def fold_whitespace(*texts: str) -> str:
    return " ".join(" ".join(texts).split())


def text_at(source: Source, pointer: str) -> str:
    return fold_whitespace(*collect_texts(resolve(source.document, pointer)))


def is_text_at(text: str, source: Source, pointer: str) -> bool:
    """Whether a text is there: as it is, escaped, or as the object that it writes as JSON."""
    if fold_whitespace(text) in text_at(source, pointer):
        return True
    return is_quote_in(text, to_searchable_text(resolve(source.document, pointer)))


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Any:
    return SAMPLES[request.param]


@pytest.fixture
def source(sample: Any) -> Source:
    return Source.from_value(sample)


@pytest.fixture
def trace(source: Source) -> Trace:
    return read_trace(source)


def test_every_sample_has_events(trace: Trace) -> None:
    assert trace.events
    assert {event.kind for event in trace.events} & {Kind.ACTION, Kind.MESSAGE}


def test_ids_are_unique_and_known(trace: Trace) -> None:
    ids = [event.id for event in trace.events]
    assert len(set(ids)) == len(ids) == len(trace.by_id)
    assert {event.parent for event in trace.events} <= {None, *ids}


def test_text_and_arguments_are_at_their_pointer(source: Source, trace: Trace) -> None:
    for event in trace.events:
        assert is_text_at(event.text, source, event.pointer)
        for piece in collect_texts(event.arguments):
            assert is_text_at(piece, source, event.pointer)


def test_the_name_of_a_call_is_at_its_pointer(source: Source, trace: Trace) -> None:
    # Where arguments tell what was called; the sort of a code block need not be written there.
    for event in trace.events:
        if event.name and event.arguments is not None:
            assert is_text_at(event.name, source, event.pointer)


def test_outputs_are_at_their_pointer(source: Source, trace: Trace) -> None:
    for event in trace.events:
        if event.output_pointer is None:
            assert not event.output
        else:
            assert is_text_at(event.output, source, event.output_pointer)


def test_what_was_skipped_is_there(source: Source, trace: Trace) -> None:
    for part in trace.skipped:
        assert part.why
        resolve(source.document, part.pointer)


def test_only_actions_have_names_and_outcomes(trace: Trace) -> None:
    for event in trace.events:
        if event.kind in (Kind.MESSAGE, Kind.REASONING):
            assert event.name is None
            assert event.status is EventStatus.UNKNOWN
        if event.kind is Kind.ACTION:
            assert event.name


def test_reading_twice_gives_the_same(source: Source, trace: Trace) -> None:
    assert read_trace(source) == trace


def test_a_file_a_value_and_a_string_give_the_same(
    sample: Any, trace: Trace, tmp_path: Path
) -> None:
    path = tmp_path / "trace"
    text = sample if isinstance(sample, str) else json.dumps(sample, indent=1)
    path.write_bytes(text.encode())
    from_file = Source.from_path(path)
    from_string = Source.from_value(text)
    assert read_trace(from_file) == read_trace(from_string) == trace
    assert from_file.digest == from_string.digest
    assert from_file.canonical_digest == Source.from_value(sample).canonical_digest


@pytest.mark.parametrize("name", READERS)
def test_every_reader_takes_every_sample_or_says_why_not(name: str, source: Source) -> None:
    reader = load_reader(name)
    assert reader.name == name
    assert isinstance(reader.sniff(source), bool)
    if reader.sniff(source):
        assert reader.read(source).reader == name


def test_one_more_reader_than_the_general_one_is_registered() -> None:
    assert {"native", "openai-messages", "general"} <= set(READERS)


def remove_keys(value: Any, keys: frozenset[str]) -> Any:
    """The same value without these keys, at whatever depth."""
    if is_object(value):
        return {key: remove_keys(item, keys) for key, item in value.items() if key not in keys}
    return [remove_keys(item, keys) for item in value] if is_list(value) else value


@pytest.mark.parametrize("lost", ["content", "output", "args", "arguments", "text", "message"])
def test_pointers_lead_somewhere_when_fields_are_lost(sample: Any, lost: str) -> None:
    source = Source.from_value(sample)
    if source.form == "text":
        return
    own = read_trace(source).reader
    lines = source.form == "jsonl"
    records: list[Any] = [value for _, value in source.document] if lines else source.document
    kept = remove_keys(records, frozenset((lost,)))
    text = "\n".join(map(json.dumps, kept)) if lines else json.dumps(kept)
    source = Source.from_text(text)
    for event in read_trace(source, reader=own).events if own != "native" else ():
        resolve(source.document, event.pointer)
        resolve(source.document, event.output_pointer or event.pointer)


@pytest.mark.parametrize("odd", [[], {}, {"a": 1}, 7, True], ids=repr)
@pytest.mark.parametrize("field", ["spanId", "span_id", "span_kind", "traceId", "parentSpanId"])
def test_spans_and_log_records_with_odd_ids_are_read(field: str, odd: Json) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in tool.items()]
    span = {"spanId": "a1", "traceId": "t", "name": "look", "attributes": attributes, field: odd}
    record: Json = {"spanId": "a1", "body": {"stringValue": "so"}, "attributes": [], field: odd}
    batches: list[Json] = [
        {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]},
    ]
    trace = read_trace(Source.from_text("\n".join(map(json.dumps, batches))))
    assert trace.reader in ("opentelemetry", "openinference")
    assert [event.name for event in trace.events] == ["look"]
