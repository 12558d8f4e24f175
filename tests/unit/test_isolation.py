"""Unit tests can neither start a process nor reach another machine."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.isolation import NotIsolated

# An address that RFC 5737 keeps for documentation: nobody is there.
_DISTANT = ("192.0.2.1", 80)


def _send() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        plug.sendto(b"hello", _DISTANT)


@pytest.mark.parametrize(
    "start",
    [
        lambda: subprocess.run([sys.executable, "--version"], check=False),
        lambda: os.posix_spawn(sys.executable, [sys.executable, "--version"], {}),
        lambda: multiprocessing.get_context("spawn").Process(target=print).start(),
    ],
    ids=["subprocess", "spawn", "multiprocessing"],
)
def test_no_process_is_started(start: Callable[[], object]) -> None:
    with pytest.raises(NotIsolated, match="tests/system"):
        start()


@pytest.mark.parametrize(
    "send",
    [
        lambda: socket.create_connection(_DISTANT, timeout=1),
        lambda: socket.create_connection(("planproof.invalid", 80), timeout=1),
        _send,
    ],
    ids=["address", "name", "datagram"],
)
def test_no_other_machine_is_reached(send: Callable[[], object]) -> None:
    with pytest.raises(NotIsolated, match="reaches for"):
        send()


def test_this_machine_is() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as plug,
    ):
        server.accept()[0].close()
        assert plug.recv(1) == b""
