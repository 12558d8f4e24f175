"""Other tools that ask a model whether a plan was kept to, each in an environment of its own.

DeepEval's PlanAdherenceMetric (three questions a case) and agentevals' trajectory judge (one), at
the versions that the lock file has; their scripts are in `peer_scripts/`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.cases import GeneratedCase
from scripts.environments import ENVIRONMENTS

SCRIPTS_FOLDER = Path(__file__).parent / "peer_scripts"
ENVIRONMENT_BY_PEER = {"deepeval": "deepeval", "agentevals": "openevals"}
"""Each with the environment that it is installed in."""


@dataclass(frozen=True, slots=True)
class PeerTool:
    """A tool that asks: its script and interpreter, what is set for it, how long it may take."""

    script: str
    python: Path
    environment_variables: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_seconds: float = 300


def measure_peers(cases: list[GeneratedCase], address: str) -> dict[str, float]:
    """Wall seconds of each; what is not installed or can't be run is said and left out."""
    times: dict[str, float] = {}
    with write_cases_file(cases) as file:
        for name, environment in ENVIRONMENT_BY_PEER.items():
            try:
                peer_output = run_peer(
                    PeerTool(name, find_python(environment)), file, address, warm=True
                )
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"{name}: left out, {error}", file=sys.stderr)
                continue
            assert all(isinstance(score, float) for score in peer_output["found"]), peer_output
            times[name] = peer_output["seconds"]
    return times


def find_python(environment: str) -> Path:
    """The interpreter of an environment that make has made."""
    return ENVIRONMENTS / environment / "bin" / "python"


@contextmanager
def write_cases_file(cases: list[GeneratedCase]) -> Generator[Path, None, None]:
    """A file of the cases, in a folder of its own."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        file.write_text(json.dumps([asdict(case) for case in cases]), encoding="utf-8")
        yield file


def run_peer(tool: PeerTool, file: Path, address: str, *, warm: bool) -> dict[str, Any]:
    """What a tool's script prints of the cases in a file."""
    # Keys and settings of whoever runs this stay out of it.
    inherited = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "OPENAI_API_KEY": "none"}
    script = SCRIPTS_FOLDER / f"ask_{tool.script}.py"
    arguments = [str(file), f"{address}/v1", str(tool.timeout_seconds), *["warm"] * warm]
    process = subprocess.run(
        [tool.python, script, *arguments],
        env={**inherited, **quiet, **tool.environment_variables},
        cwd=file.parent,
        capture_output=True,
        check=True,
        text=True,
    )
    return json.loads(process.stdout.splitlines()[-1])
