"""The docs list every reader and profile, and say what it was tested with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planproof.readers.recognition import list_readers

FORMATS = Path(__file__).parents[2] / "docs" / "formats" / "index.md"
ORIGINS = re.compile(r"\b(?:real|trimmed|fixture|run here)\b|\*written\*")


def read_rows() -> dict[str, str]:
    """Return the last cell of the row of each format."""
    rows: dict[str, str] = {}
    for line in FORMATS.read_text("utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if line.startswith(("| `", "| [`")) and len(cells) > 2:
            rows.update(dict.fromkeys(re.findall(r"`([a-z-]+)`", cells[0]), cells[-1]))
    return rows


@pytest.mark.parametrize("name", list_readers())
def test_a_format_is_listed_with_what_it_was_tested_with(name: str) -> None:
    origin = read_rows().get(name)
    assert origin is not None, f"Add a row for `{name}` to {FORMATS.name} in docs/formats."
    assert ORIGINS.search(origin), f"Say what `{name}` was tested with: {origin!r} does not."


def test_only_formats_are_listed() -> None:
    known = set(list_readers())
    assert {name for name, origin in read_rows().items() if ORIGINS.search(origin)} <= known
