"""Whatever is asked of the API, allowed by its description or not, is answered as it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.server_processes import get, post, run_limited_server
from tests.small_cases import FOLLOWED, IDLE, PLANLESS

# Not among them: that a case of another form than the description's is refused. Many are read.
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)


def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    # More runs than it starts: on a busy machine a full server is not a fault.
    with run_limited_server(tmp_path / "runs.db", runs=1_000) as server:
        lines = "\n".join(map(json.dumps, (FOLLOWED, IDLE, PLANLESS)))
        for _ in range(2):
            begun = post(f"{server.url}/v1/runs?name=demo", content=lines).json()
            get(f"{server.url}{begun['events']}")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"),
                *("--checks", ",".join(CHECKS), "--max-examples", "5", "--seed", "1"),
                # It is told of traces for as long as somebody listens.
                *("--exclude-path", "/live/events"),
                *("--no-color", "--generation-database", "none"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert server.end() == 0
    assert done.returncode == 0, done.stdout
    assert "test cases" in done.stdout.lower()
    assert not [line for line in server.told if '"internal error"' in line]
