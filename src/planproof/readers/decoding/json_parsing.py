"""Parse JSON, JSON Lines and event streams from untrusted text, within limits."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence

from planproof.core.content import Json
from planproof.core.json_values import (
    NOT_STRICT_ERRORS,
    has_more_values,
    is_deeper_than,
    is_object,
    parse_strict,
)
from planproof.core.limits import Limits
from planproof.core.trace import SkippedPart
from planproof.errors import InvalidInput

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BEGINS_LIKE_JSON = re.compile(r'\s*(?:\{\s*"|\[\s*[\[{"])')
_MIN_LOGGED_RECORDS = 3
_CONSOLE_LINE = re.compile(
    r"(?:\x1b?\[[0-9;]{1,20}m){0,4}(?:Thought|Action|Action Input|Observation):|> Entering new "
)
_MIN_LOGGED_SHARE = 3
"""Records are read from a log if they are at least this part of its text: a third."""
_STREAM_FIELD = re.compile(r"(?:event|data|id|retry):|:")


class Parser:
    """Parses the text of one source; `skipped` lists what was left out or replaced."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        self.skipped: list[SkippedPart] = []
        self._pointer = ""

    def parse(self, text: str, pointer: str = "") -> Json:
        """Parse one JSON value; raise `JSONDecodeError` if the text is not one."""
        self._pointer = pointer
        self.check_values(text)
        try:
            value = parse_strict(text)
        except NOT_STRICT_ERRORS:
            try:
                value = self._parse_leniently(text)
            except RecursionError as error:
                raise self.too_deep_error() from error
        depth = self.limits.depth
        # Each level of nesting takes two brackets.
        if len(text) > 2 * depth and is_deeper_than(value, depth):
            raise self.too_deep_error()
        return value

    def parse_lines(self, text: str) -> tuple[tuple[int, Json], ...] | None:
        """Parse the records of JSON Lines, of an event stream or of consecutive values.

        Return None if the text is none of these.
        """
        if text.count("\n") > self.limits.values:
            what = f"has more than {self.limits.values:,} lines."
            raise limit_error(what, self._describe_location(), "max_values")
        lines = text.split("\n")
        filled = [line for line in lines if not _is_blank(line)]
        if _is_event_stream(filled):
            self.check_values(text)
            return tuple(self._parse_event_stream(lines))
        opened = sum(line.startswith(("{", "[")) or line.lstrip()[:1] in "{[" for line in filled)
        if opened * 2 >= len(filled):
            self.check_values(text)
            before = len(self.skipped)
            records = tuple(
                record
                for record in self.parse_records(enumerate(lines, 1))
                if isinstance(record[1], (dict, list))
                or self.skip(record[0], "not a JSON object or array")
            )
            if records and len(records) * 2 >= len(filled):
                return records
            del self.skipped[before:]
        is_indented = bool(filled) and filled[0].rstrip() in ("{", "[")
        return self._parse_blocks(lines, text, is_log=not is_indented)

    def _parse_blocks(
        self, lines: list[str], text: str, *, is_log: bool
    ) -> tuple[tuple[int, Json], ...] | None:
        """Parse the values among other lines; None unless they are a large part of the text.

        In a log, only objects with a `type` count: many logs contain JSON that is part of a text,
        such as the arguments of a call.
        """
        least = _MIN_LOGGED_RECORDS if is_log else 1
        blocks = (
            list(iter_json_blocks(lines)) if text.count('"type"') >= least or not is_log else []
        )
        if sum(len(block) for _, _, block in blocks) * _MIN_LOGGED_SHARE < len(text):
            return None
        self.check_values(text)
        before = len(self.skipped)
        records: list[tuple[int, Json]] = []
        stretches: list[tuple[int, int]] = []
        length = reached = 0
        for number, count, block in blocks:
            try:
                value = self.parse(block, f"L{number}")
            except json.JSONDecodeError:
                continue
            if not is_log or (is_object(value) and isinstance(value.get("type"), str)):
                records.append((number, value))
                stretches.append((reached, number - 1))
                length += len(block)
                reached = number - 1 + count
        if len(records) < least or length * _MIN_LOGGED_SHARE < len(text):
            del self.skipped[before:]
            return None
        stretches.append((reached, len(lines)))
        if any(
            _CONSOLE_LINE.match(lines[n]) for start, end in stretches for n in range(start, end)
        ):
            # An agent's console, which printed JSON among other things.
            del self.skipped[before:]
            return None
        for start, end in stretches:
            first = next((n for n in range(start, end) if not _is_blank(lines[n])), None)
            if first is not None:
                self.skip(first + 1, "text between JSON values, or truncated JSON")
        return tuple(records)

    def is_malformed_json(self, text: str, failure: json.JSONDecodeError) -> bool:
        """Return whether a text that did not parse was meant to be JSON."""
        return failure.msg != "Extra data" and _BEGINS_LIKE_JSON.match(text) is not None

    def skip(self, line: int, why: str) -> bool:
        """Note a line that is left out; return False, for use in a condition."""
        self.skipped.append(SkippedPart(f"L{line}", why))
        return False

    def check_values(self, text: str) -> None:
        """Raise `InvalidInput` for JSON text that contains too many values and keys."""
        if has_more_values(text, self.limits.values):
            raise too_many_values_error(self.limits.values, self._describe_location())

    def _describe_location(self) -> str:
        return f"{self.name}, line {self._pointer[1:]}" if self._pointer else self.name

    def too_deep_error(self) -> InvalidInput:
        """Return the error for a value that is nested beyond the limit."""
        return InvalidInput(
            f"is nested more than {self.limits.depth} levels deep.",
            where=self._describe_location(),
            advice="No agent framework writes such traces; check the program that wrote the file.",
        )

    def parse_records(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Json]]:
        """Yield the values of numbered lines; skip lines that are not JSON."""
        for number, line in lines:
            if _is_blank(line):
                continue
            try:
                yield number, self.parse(line, f"L{number}")
            except json.JSONDecodeError as error:
                self.skip(number, f"truncated or invalid JSON: {error.msg} at column {error.colno}")

    def _parse_event_stream(self, lines: list[str]) -> Iterator[tuple[int, Json]]:
        event = ""
        for number, line in enumerate(lines, 1):
            if line.startswith("event:"):
                event = line[6:].strip()
            # Some providers send an end marker, which is not data.
            elif line.startswith("data:") and line[5:].strip() != "[DONE]":
                for _, value in self.parse_records(iter([(number, line[5:])])):
                    if is_object(value) and event:
                        # The event type is outside the data; readers need both.
                        value.setdefault("event", event)
                    yield number, value

    def _parse_leniently(self, text: str) -> Json:
        """Parse JSON that is not strict, and note what was replaced."""
        decoder = json.JSONDecoder(
            parse_constant=self._keep_as_text,
            parse_int=lambda number: self._parse_number(int, number),
            parse_float=lambda number: self._parse_number(float, number),
        )
        value = decoder.decode(text)
        written = json.dumps(value, ensure_ascii=False)
        mended = replace_lone_surrogates(written, self)
        return value if mended is written else json.loads(mended)

    def _parse_number(self, parse: Callable[[str], float], text: str) -> float | str:
        try:
            number = parse(text)
        except ValueError:  # thousands of digits
            return self._keep_as_text(text)
        return number if parse is int or math.isfinite(number) else self._keep_as_text(text)

    def _keep_as_text(self, number: str) -> str:
        note = SkippedPart(
            self._pointer, f"{number[:40]} is an invalid or too large number; read as text"
        )
        if note not in self.skipped[-3:]:
            self.skipped.append(note)
        return number


def too_many_values_error(limit: int, where: str) -> InvalidInput:
    """Return the error for JSON that contains more values and keys than the limit."""
    return limit_error(f"contains more than {limit:,} values and keys.", where, "max_values")


def limit_error(what: str, where: str, setting: str = "max_bytes") -> InvalidInput:
    """Return the error for input that exceeds the limit of a setting."""
    advice = f"Raise `{setting}` under `limits` in the configuration, or split the trace."
    return InvalidInput(what, where=where, advice=advice)


def _is_blank(line: str) -> bool:
    return not line or line.isspace()


def replace_lone_surrogates(text: str, parser: Parser) -> str:
    """Replace lone surrogates, which can't be encoded, with U+FFFD."""
    if text.isascii():
        return text
    try:
        # Faster than checking each character.
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        return text
    parser.skipped.append(SkippedPart("", "lone surrogates; read as U+FFFD"))
    return _LONE_SURROGATE.sub("\ufffd", text)


def _is_event_stream(filled: list[str]) -> bool:
    head = filled[:20]
    return any(line.startswith("data:") for line in head) and all(
        _STREAM_FIELD.match(line) for line in head
    )


def iter_json_blocks(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield each text that may be a JSON value among other lines: behind a prefix, or indented.

    Each comes with the number of its first line and the count of its lines. An indented one begins
    with a bracket at the end of a line and ends with a line that is only a bracket; it is passed
    over if it is not closed before the next begins.
    """
    first, closing = 0, ""
    for number, line in enumerate(lines, 1):
        bare = line.rstrip()
        if first and bare == closing:
            opening = lines[first - 1].rstrip()[-1]
            yield first, number - first + 1, "\n".join([opening, *lines[first:number]])
            first = 0
        elif bare in ("{", "[") or (bare.endswith(" {") and not bare[0].isspace()):
            first, closing = number, "]" if bare == "[" else "}"
        elif bare.endswith("}") and (start := bare.find('{"')) >= 0 and not bare[0].isspace():
            yield number, 1, bare[start:]
            first = 0


def describe_json_error(error: ValueError | RecursionError) -> str:
    """Say in plain words why data is not JSON: it is empty, not text, or not valid."""
    if isinstance(error, UnicodeDecodeError):
        return f"is not text: byte {error.start} is not valid {error.encoding.upper()}."
    if isinstance(error, json.JSONDecodeError) and not error.doc.strip():
        return "is empty."
    return f"is not valid JSON: {error}."
