"""Other tools that ask a model whether a plan was kept to, each in an environment of its own.

DeepEval's PlanAdherenceMetric (three questions a case) and agentevals' trajectory judge (one),
with the versions that stand here; their scripts are in `peers_asking/`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cases import GeneratedCase
from scripts.environments import python_with

SCRIPTS = Path(__file__).parent / "peers_asking"
PINS: dict[str, Sequence[str]] = {
    "deepeval": ("deepeval==4.3.1",),
    "agentevals": ("agentevals==0.0.9", "langchain-openai==1.7.3"),
}


def measured(cases: list[GeneratedCase], address: str) -> dict[str, float]:
    """Wall seconds of each; what can't be installed or run is said and left out."""
    times: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        file.write_text(json.dumps([asdict(case) for case in cases]), encoding="utf-8")
        for name, pins in PINS.items():
            try:
                times[name] = _seconds(name, pins, file, address)
            except subprocess.CalledProcessError as error:
                print(f"{name}: left out, {error}", file=sys.stderr)
    return times


def _seconds(name: str, pins: Sequence[str], file: Path, address: str) -> float:
    python = python_with(f"asking-{name}", pins)
    script = SCRIPTS / f"ask_{name}.py"
    # Keys and settings of whoever runs this stay out of it.
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "OPENAI_API_KEY": "none"}
    done = subprocess.run(
        [python, script, str(file), f"{address}/v1"],
        env=kept | quiet,
        cwd=file.parent,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return float(done.stdout.split()[-1])
