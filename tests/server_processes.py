"""Servers for tests: in a process of their own, or in this one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from starlette.testclient import TestClient

from planproof.llm.judge_registry import find_judge
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.server.lifecycle import make_app
from planproof.server.server_settings import ServerSettings
from tests.timeouts import TIMEOUT_SECONDS

# As httpx2's own, which give up after five seconds.
get = partial(httpx2.get, timeout=TIMEOUT_SECONDS)
post = partial(httpx2.post, timeout=TIMEOUT_SECONDS)
stream = partial(httpx2.stream, timeout=TIMEOUT_SECONDS)
_SERVE = "import sys; from planproof.cli import main; sys.argv[0] = 'planproof'; main()"
_ADDRESS = re.compile(r"serving on (http://\S+);")


def make_settings(store: str | Path, **changed: Any) -> ServerSettings:
    """Settings for tests: `rules`, in one process."""
    usual: dict[str, Any] = {
        "evaluator": CaseEvaluator(find_judge("rules")),
        "processes": 1,
        "port": 0,
    }
    return ServerSettings(store=str(store), **(usual | changed))


@contextmanager
def open_client(given: ServerSettings) -> Generator[TestClient, None, None]:
    """A client of a server in this process, open for as long as it is used."""
    app = make_app(given)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client


@dataclass(slots=True)
class ServerProcess:
    """A server in a process of its own; `told` is what it wrote on standard error."""

    process: subprocess.Popen[str]
    url: str
    told: list[str] = field(default_factory=list[str])

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait(TIMEOUT_SECONDS)

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it as an administrator would; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT_SECONDS)

    def most_memory(self) -> int:
        """The most bytes that it has had in memory so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def run_server(
    store: str | Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> AbstractContextManager[ServerProcess]:
    """`planproof serve` on a port of its own, until the block is left."""
    words = ["-c", _SERVE, "serve", "--port", "0", "--store", str(store), "--concurrency", "1"]
    return _run_process([*words, *arguments], environment or {})


def run_limited_server(
    store: str | Path, *, require_keys: bool = False, **limits: float
) -> AbstractContextManager[ServerProcess]:
    """A server that is held to these limits."""
    words = ["-m", "tests.limited_server", str(store), json.dumps(limits)]
    return _run_process([*words, "keys"] if require_keys else words, {})


@contextmanager
def _run_process(
    words: list[str], environment: Mapping[str, str]
) -> Generator[ServerProcess, None, None]:
    process = subprocess.Popen(
        [sys.executable, *words],
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, **environment},
    )
    server = ServerProcess(process, "")
    ready = threading.Event()

    def listen() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            server.told.append(line)
            if not server.url and (found := _ADDRESS.search(line)):
                server.url = found[1]
                ready.set()
        ready.set()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        assert ready.wait(TIMEOUT_SECONDS)
        assert server.url, "".join(server.told)
        yield server
    finally:
        if process.poll() is None:
            server.kill()
        listener.join(TIMEOUT_SECONDS)
        assert process.stderr is not None
        process.stderr.close()
