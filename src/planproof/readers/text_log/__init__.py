"""Text logs: turns under headers, records of a logger, thoughts and actions, as plain text."""

from __future__ import annotations

from dataclasses import replace

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_list
from planproof.core.trace import Kind, Trace
from planproof.readers.accounting import account_lines
from planproof.readers.decoding.source import Source
from planproof.readers.text_log.records import has_records, log_lines, read_log
from planproof.readers.text_log.turns import has_turns, read_turns
from planproof.readers.toolkit.text_pointers import Place
from planproof.readers.toolkit.trace_builder import Transcript

_HOLDERS = ("trajectory", "log", "logs", "lines")
_LOOKED_AT = 400


class TextLogReader:
    """Reads text, or a JSON list of the lines of a text, bare or under a key."""

    name = "text-log"

    def sniff(self, source: Source) -> bool:
        """Whether there are turns, calls or records of a logger in the text."""
        if source.form == "text":
            return _has_structure(source.document)
        if source.form != "json":
            return False
        lines, _ = _listed(source.document)
        head = lines[:_LOOKED_AT]
        if not all(isinstance(line, str) for line in head):
            return False
        return _has_structure("\n".join(line.rstrip("\n") for line in head))

    def read(self, source: Source) -> Trace:
        """The events of the turns or records, each with the lines that it stands in."""
        transcript = Transcript(source.skipped)
        if source.form == "text":
            lines, read = _read(transcript, source.document.split("\n"), _text_lines)
        else:
            items, pointer = _listed(source.document)
            once = _once(items)
            if once < len(items):
                transcript.skip(f"{pointer}/{once}", "the log is repeated from here on")
            texts: list[str] = []
            owners: list[int] = []
            for index, item in enumerate(items[:once]):
                found = item.rstrip("\n").split("\n") if isinstance(item, str) else [""]
                texts += found
                owners += [index] * len(found)

            def items_at(first: int, last: int) -> str:
                # What is spread over several strings stands nowhere but in the whole list.
                one = owners[first - 1]
                return f"{pointer}/{one}" if one == owners[last - 1] else pointer

            lines, read = _read(transcript, texts, items_at)
        trace = transcript.trace(self.name)
        return replace(trace, accounted=account_lines(trace.events, lines, read))


def _read(transcript: Transcript, lines: list[str], place: Place) -> tuple[int, int]:
    """Write the events of a text; returns its lines but the user's, and how many were read."""
    log = log_lines(lines)
    if log is None:
        return read_turns(transcript, lines, place)
    read_log(transcript, lines, log, place)
    # A logger's records are anything; where one of them tells a thought, the log is an agent's.
    thinks = any(draft.kind is Kind.REASONING for draft in transcript.drafts)
    return len(log), len(log) if thinks else 0


def _has_structure(text: str) -> bool:
    return has_records(text) or has_turns(text)


def _listed(document: Json) -> tuple[list[Json], str]:
    """The list of lines that a document is or holds, and the pointer to it."""
    if is_object(document):
        key = key_with_list(document, _HOLDERS)
        return (document[key], f"/{key}") if key is not None else ([], "")
    return (document, "") if is_list(document) else ([], "")


def _once(items: list[Json]) -> int:
    """Where a log that was written into the list more than once begins again."""
    if items[:1] and items[0] in items[1:]:
        again = items.index(items[0], 1)
        if items[again:] == items[: len(items) - again]:
            return again
    return len(items)


def _text_lines(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-{last}"
