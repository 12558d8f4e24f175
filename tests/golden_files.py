"""The goldens: traces with what a person counted in them, in examples/ and tests/goldens/."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import split_traces
from planproof.readers.detect import read_trace

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Golden:
    """A folder with a trace and an expected.json."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def expected(self) -> dict[str, Any]:
        return json.loads(self.folder.joinpath("expected.json").read_bytes())

    @property
    def file(self) -> Path:
        (file,) = self.folder.glob("trace.*")
        return file

    @property
    def source(self) -> Source:
        """The trace; `pick` in expected.json names the one that was counted, of several."""
        source = Source.from_path(self.file)
        pick = self.expected.get("pick")
        return (
            source if pick is None else {one.id: one for one in split_traces(source)}[pick].source
        )

    @property
    def is_one_text(self) -> bool:
        """Whether the file is text, and holds one trace."""
        return self.file.suffix != ".eval" and "pick" not in self.expected

    @property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @property
    def trace(self) -> Trace:
        return _read(self)


@cache
def _read(golden: Golden) -> Trace:
    return read_trace(golden.source)


GOLDENS = [
    Golden(file.parent)
    for pattern in ("examples/*/expected.json", "tests/goldens/*/expected.json")
    for file in sorted(ROOT.glob(pattern))
]
EXAMPLES = [golden for golden in GOLDENS if golden.folder.parent.name == "examples"]
