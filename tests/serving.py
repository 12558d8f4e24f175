"""Servers for tests: in a process of their own, or in this one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from planproof.judges.registry import find_judge
from planproof.runs.judging import Judging
from planproof.server.app import make_app
from planproof.server.settings import ServerSettings

_SERVE = "import sys; from planproof.cli import main; sys.argv[0] = 'planproof'; main()"
_ADDRESS = re.compile(r"serving on (http://\S+);")
_PATIENCE = 60


def settings(store: str | Path, **changed: Any) -> ServerSettings:
    """Settings for tests: `rules`, in one process."""
    usual: dict[str, Any] = {"judging": Judging(find_judge("rules")), "processes": 1, "port": 0}
    return ServerSettings(store=str(store), **(usual | changed))


@contextmanager
def in_process(given: ServerSettings) -> Generator[TestClient, None, None]:
    """A client of a server in this process, open for as long as it is used."""
    app = make_app(given)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client


@dataclass(slots=True)
class Served:
    """A server in a process of its own; `told` is what it wrote on standard error."""

    process: subprocess.Popen[str]
    url: str
    told: list[str] = field(default_factory=list[str])

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait(_PATIENCE)

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it as an administrator would; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(_PATIENCE)


@contextmanager
def served(
    store: str | Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> Generator[Served, None, None]:
    """`planproof serve` on a port of its own, until the block is left."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, "serve", "--port", "0", "--store", str(store), *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    server = Served(process, "")
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
        assert ready.wait(_PATIENCE)
        assert server.url, "".join(server.told)
        yield server
    finally:
        if process.poll() is None:
            server.kill()
        listener.join(_PATIENCE)
        assert process.stderr is not None
        process.stderr.close()
