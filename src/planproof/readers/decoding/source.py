"""The source of a trace: the input, decoded and parsed, before a reader interprets it."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from planproof.core.content import Json
from planproof.core.limits import Limits
from planproof.core.trace import SkippedPart
from planproof.errors import InvalidInput
from planproof.readers.decoding.archives import Archive, is_archive
from planproof.readers.decoding.json_parsing import Parser, limit_error, replace_lone_surrogates


@contextmanager
def gc_paused() -> Generator[None, None, None]:
    """Pause garbage collection while many objects without reference cycles are created and kept.

    The collector would scan all of them repeatedly, which takes a sixth of the time to read
    50 MB. If it was disabled before, it stays disabled.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


SourceForm: TypeAlias = Literal["json", "jsonl", "text", "archive"]

_MAX_SCALAR_LENGTH = 400


@dataclass(frozen=True, slots=True)
class Source:
    """A trace as it was given.

    `document` is a JSON value, a tuple of (line number, value) for JSON Lines and for streams of
    server-sent events, the text, or an `Archive`, which holds traces but is not one.
    `skipped` lists what could not be parsed.
    """

    name: str
    form: SourceForm
    document: Json
    skipped: tuple[SkippedPart, ...] = ()
    _digest: str | None = field(default=None, repr=False, compare=False)
    _text: str | None = field(default=None, repr=False, compare=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the trace as it was given: of its text, or of a value written as JSON."""
        if self._digest is None and self._text is not None:
            # Computed on demand: it takes half as long as parsing the text.
            object.__setattr__(self, "_digest", _compute_digest(self._text.encode()))
            object.__setattr__(self, "_text", None)
        return self.canonical_digest if self._digest is None else self._digest

    @property
    def canonical_digest(self) -> str:
        """The digest of a JSON value, independent of how a file formats it."""
        if self.form != "json":
            return self.digest
        return _compute_digest(json.dumps(self.document, separators=(",", ":")).encode())

    @property
    def raw_value(self) -> Json:
        """The trace as a JSON value that reads as the same source: its text, if still available."""
        if self._text is not None:
            return self._text
        if self.form != "jsonl":
            return self.document
        lines: list[str] = []
        for number, value in self.document:
            lines += [""] * (number - 1 - len(lines))
            lines.append(json.dumps(value, separators=(",", ":")))
        return "\n".join(lines)

    @classmethod
    def from_path(cls, path: Path, *, limits: Limits | None = None) -> Source:
        """Read a file."""
        limits = limits or Limits()
        try:
            size = path.stat().st_size
            if size > limits.bytes:
                raise _too_large_error(size, limits, str(path))
            data = path.read_bytes()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise InvalidInput(f"can't be read: {why}.", where=str(path)) from error
        return cls.from_bytes(data, name=str(path), limits=limits)

    @classmethod
    def from_bytes(
        cls, data: bytes, *, name: str = "trace", limits: Limits | None = None
    ) -> Source:
        """Decode bytes: UTF-8, or UTF-16 and UTF-32 that begin with a byte order mark; or a ZIP."""
        limits = limits or Limits()
        if len(data) > limits.bytes:
            raise _too_large_error(len(data), limits, name)
        if is_archive(data):
            return cls(name, "archive", Archive(data, name, limits), _digest=_compute_digest(data))
        encoding = json.detect_encoding(data)
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"byte {error.start} is not valid {encoding.upper()}.",
                where=name,
                advice="Save the trace as UTF-8 text; unpack it first if it is an archive.",
            ) from error
        # Free the bytes while the text is parsed, unless the caller keeps them.
        del data
        return cls._from_clean_text(text, Parser(name, limits))

    @classmethod
    def from_text(cls, text: str, *, name: str = "trace", limits: Limits | None = None) -> Source:
        """Parse a text as JSON, JSON Lines or an event stream, or keep it as plain text."""
        parser = Parser(name, limits or Limits())
        return cls._from_clean_text(
            replace_lone_surrogates(text.removeprefix("\ufeff"), parser), parser
        )

    @classmethod
    @gc_paused()
    def _from_clean_text(cls, text: str, parser: Parser) -> Source:
        name = parser.name
        failure: json.JSONDecodeError | None = None
        while True:
            start = text[:_MAX_SCALAR_LENGTH].strip()
            if not start and not text.strip():
                raise InvalidInput(
                    "is empty.", where=name, advice="Pass a trace that is not empty."
                )
            if start[:1] not in ("{", "[", '"') and len(text) > _MAX_SCALAR_LENGTH:
                break
            try:
                value = parser.parse(text)
            except json.JSONDecodeError as error:
                failure = error
                break
            if not start.startswith('"'):
                return cls(name, "json", value, tuple(parser.skipped), _text=text)
            # A JSON string that contains a trace: parse its content.
            text = value
        records = parser.parse_lines(text)
        if records is not None:
            return cls(name, "jsonl", records, tuple(parser.skipped), _text=text)
        if failure is not None and parser.is_malformed_json(text, failure):
            raise InvalidInput(
                f"is truncated or invalid JSON ({failure.msg}).",
                where=f"{name}, line {failure.lineno} column {failure.colno}",
                advice="Write the file again. Only in JSON Lines may the last line be truncated.",
            )
        return cls(name, "text", text, tuple(parser.skipped), _text=text)

    @classmethod
    def from_value(
        cls, value: Json, *, name: str = "trace", limits: Limits | None = None
    ) -> Source:
        """Create a source from a parsed JSON value, or from a string that contains a trace."""
        if isinstance(value, str):
            return cls.from_text(value, name=name, limits=limits)
        # Serialized and parsed again, so that the checks of files also apply to values.
        parser = Parser(name, limits or Limits())
        try:
            text = json.dumps(value, separators=(",", ":"))
        except RecursionError as error:
            raise parser.too_deep_error() from error
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"is not a JSON value: {error}.",
                where=name,
                advice="Pass what json.loads returns: dicts, lists, strings and numbers.",
            ) from error
        parsed = parser.parse(text)
        digest = None if parser.skipped else _compute_digest(text.encode())
        return cls(name, "json", parsed, tuple(parser.skipped), digest)


def _compute_digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _too_large_error(size: int, limits: Limits, name: str) -> InvalidInput:
    return limit_error(f"has {size:,} bytes, more than the limit of {limits.bytes:,}.", name)
