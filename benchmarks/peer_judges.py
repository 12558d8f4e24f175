"""Run other tools that ask a model about plan adherence, each in a separate environment.

DeepEval's PlanAdherenceMetric (three questions per case) and agentevals' trajectory judge (one), in
the versions of the lock file; their scripts are in `peer_scripts/`.
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
"""Peer tools and the environments they are installed in."""


@dataclass(frozen=True, slots=True)
class PeerTool:
    """A peer tool: its script, interpreter, environment variables and timeout."""

    script: str
    python: Path
    environment_variables: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_seconds: float = 300


def measure_peers(cases: list[GeneratedCase], address: str) -> dict[str, float]:
    """Return the wall time of each peer; print and skip those that can't be run."""
    times: dict[str, float] = {}
    with write_cases_file(cases) as file:
        for name, environment in ENVIRONMENT_BY_PEER.items():
            try:
                peer_output = run_peer(
                    PeerTool(name, find_python(environment)), file, address, warm=True
                )
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"{name}: skipped, {error}", file=sys.stderr)
                continue
            assert all(isinstance(score, float) for score in peer_output["found"]), peer_output
            times[name] = peer_output["seconds"]
    return times


def find_python(environment: str) -> Path:
    """Return the interpreter of an environment created by make."""
    return ENVIRONMENTS / environment / "bin" / "python"


@contextmanager
def write_cases_file(cases: list[GeneratedCase]) -> Generator[Path, None, None]:
    """Write the cases to a temporary file; yield its path."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        file.write_text(json.dumps([asdict(case) for case in cases]), encoding="utf-8")
        yield file


def run_peer(tool: PeerTool, file: Path, address: str, *, warm: bool) -> dict[str, Any]:
    """Run the script of a peer tool on a file of cases; return its output."""
    # The user's keys and settings are not passed on.
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
