"""Logs: a line of JSON for everything that happens. No text of a case and no key is among it."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from planproof.core.content import Json

_log = logging.getLogger("planproof.server")


def log_event(event: str, *, level: int = logging.INFO, **fields: Json) -> None:
    """Write down that something happened; the fields are figures, names and ids, never content."""
    _log.log(level, event, extra={"fields": fields})


def log_error(event: str, error: BaseException, **fields: Json) -> None:
    """Write down a fault by its type and its place; its words may be those of a case."""
    _log.error(event, extra={"fields": {**fields, **_describe_error(error)}})


def configure_logging(stream: TextIO) -> None:
    """Let the logs of this process be lines of JSON."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_JsonLinesFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _log.setLevel(logging.INFO)


class _JsonLinesFormatter(logging.Formatter):
    """A record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Json] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            # Only the words that stand in the source: what others put into them may be anything.
            "event": str(record.msg),
        }
        if record.name != _log.name:
            line["logger"] = record.name
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            line |= _describe_error(record.exc_info[1])
        return json.dumps(line)


def _describe_error(error: BaseException) -> dict[str, Json]:
    frames = traceback.extract_tb(error.__traceback__)
    location = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else None
    return {"error": type(error).__name__, "place": location}
