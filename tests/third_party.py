"""Traces that nobody here wrote: beside the checkout, or nowhere; tried, never copied."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(os.environ.get("PLANPROOF_BENCH", "../shared/bench"))
TRACES = BENCH.parent / "traces"
V2_TRACES = BENCH.parent / "traces-v2"

with_bench = pytest.mark.skipif(not BENCH.is_dir(), reason="the bench is not here")
with_v2_traces = pytest.mark.skipif(not V2_TRACES.is_dir(), reason="these traces are not here")
FILES = sorted(TRACES.glob("*/*"))


def one_case_a_trace() -> Iterator[dict[str, Any]]:
    """The cases of the bench; of those that share a trace only the first."""
    seen: set[str] = set()
    for file in sorted(BENCH.glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                case: dict[str, Any] = json.loads(line)
                base = case.get("base", case["id"])
                if base not in seen:
                    seen.add(base)
                    yield case
