"""Text logs: turns under headers, records of a logger, thoughts and actions, as plain text."""

from __future__ import annotations

from dataclasses import replace

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list
from planproof.core.trace import Kind, Trace
from planproof.readers.accounting import account_lines
from planproof.readers.decoding.source import Source
from planproof.readers.text_log.records import add_log_records, find_record_starts, has_records
from planproof.readers.text_log.turns import add_turns, has_turns
from planproof.readers.toolkit.text_pointers import PointerFactory
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LIST_KEYS = ("trajectory", "log", "logs", "lines")
_SNIFF_LINES = 400


class TextLogReader:
    """Reads text, or a JSON list of the lines of a text, bare or under a key."""

    name = "text-log"

    def sniff(self, source: Source) -> bool:
        """Whether there are turns, calls or records of a logger in the text."""
        if source.form == "text":
            return _has_structure(source.document)
        if source.form != "json":
            return False
        lines, _ = _find_lines(source.document)
        head = lines[:_SNIFF_LINES]
        if not all(isinstance(line, str) for line in head):
            return False
        return _has_structure("\n".join(line.rstrip("\n") for line in head))

    def read(self, source: Source) -> Trace:
        """The events of the turns or records, each with the lines that it stands in."""
        builder = TraceBuilder(source.skipped)
        if source.form == "text":
            lines, read = _add_events(builder, source.document.split("\n"), _line_pointer)
        else:
            items, pointer = _find_lines(source.document)
            once = _find_repeat(items)
            if once < len(items):
                builder.skip(f"{pointer}/{once}", "the log is repeated from here on")
            texts: list[str] = []
            owners: list[int] = []
            for index, item in enumerate(items[:once]):
                item_lines = item.rstrip("\n").split("\n") if isinstance(item, str) else [""]
                texts += item_lines
                owners += [index] * len(item_lines)

            def items_at(first: int, last: int) -> str:
                # What is spread over several strings stands nowhere but in the whole list.
                one = owners[first - 1]
                return f"{pointer}/{one}" if one == owners[last - 1] else pointer

            lines, read = _add_events(builder, texts, items_at)
        trace = builder.build(self.name)
        return replace(trace, record_counts=account_lines(trace.events, lines, read))


def _add_events(
    builder: TraceBuilder, lines: list[str], pointer_for: PointerFactory
) -> tuple[int, int]:
    """Write the events of a text; returns its lines but the user's, and how many were read."""
    log = find_record_starts(lines)
    if log is None:
        return add_turns(builder, lines, pointer_for)
    add_log_records(builder, lines, log, pointer_for)
    # A logger's records are anything; where one of them tells a thought, the log is an agent's.
    thinks = any(draft.kind is Kind.REASONING for draft in builder.drafts)
    return len(log), len(log) if thinks else 0


def _has_structure(text: str) -> bool:
    return has_records(text) or has_turns(text)


def _find_lines(document: Json) -> tuple[list[Json], str]:
    """The list of lines that a document is or holds, and the pointer to it."""
    if is_object(document):
        key = key_with_list(document, _LIST_KEYS)
        return (document[key], f"/{key}") if key is not None else ([], "")
    return (document, "") if is_list(document) else ([], "")


def _find_repeat(items: list[Json]) -> int:
    """Where a log that was written into the list more than once begins again."""
    if items[:1] and items[0] in items[1:]:
        again = items.index(items[0], 1)
        if items[again:] == items[: len(items) - again]:
            return again
    return len(items)


def _line_pointer(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-{last}"
