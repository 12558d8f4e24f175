"""What the docs show of sending traces works on a server."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from planproof.runs.store.open_store import open_store
from scripts.doc_blocks import find_blocks_for
from tests.server_processes import run_server
from tests.timeouts import wait_until

SHOWN = "http://127.0.0.1:7526"


def test_what_the_sdk_sends_is_judged(tmp_path: Path) -> None:
    [block] = find_blocks_for(__file__)
    store = tmp_path / "runs.db"
    with run_server(store, "--quiet-seconds", "0.1") as server:
        exec(compile(block.text.replace(SHOWN, server.url), block.location, "exec"), {})
        with closing(open_store(str(store))) as opened:
            wait_until(lambda: any(run.cases for run in opened.list_runs()))
            (result,) = opened.iter_results(opened.list_runs()[0].id)
            (run,) = opened.list_runs(tags={"source": "opentelemetry"})
    assert result.verdict.score == 1.0, result.verdict.reason
    assert result.verdict.metadata == {"service": "refunds"}
    assert run.source == "OpenTelemetry"
