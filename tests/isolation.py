"""No processes and no network but loopback, for as long as a block runs."""

from __future__ import annotations

import ipaddress
import multiprocessing.process
import os
import platform
import socket
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import inf
from typing import Any

import pytest

from planproof.runs.engines import process_pool as processes

_ADVICE = "Tests that need it belong to tests/system or tests/docs (see CONTRIBUTING.md)."
_STARTING = ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system")

# Clients of models name the processor in a header, and Python asks `uname -p` for it, once.
platform.processor()


class NotIsolated(BaseException):
    """A unit test did what a unit test must not do; no `except Exception` hides it."""


@contextmanager
def isolate() -> Generator[None, None, None]:
    """Raise an error wherever a process is started or a distant address is connected to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", _refuse_process)
        patch.setattr(multiprocessing.process.BaseProcess, "start", _refuse_process)
        for name in _STARTING:
            patch.setattr(os, name, _refuse_process, raising=False)
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, _guard_connect(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", _guard_lookup(socket.getaddrinfo))
        # Runs start processes once they have taken a while: on a busy machine that is soon.
        patch.setattr(processes, "_POOL_START_SECONDS", inf)
        yield


def _refuse_process(*_: object, **__: object) -> None:
    raise NotIsolated(f"A unit test starts a process. {_ADVICE}")


def _guard_connect(send: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of sockets whose last argument is an address."""

    def guarded(plug: socket.socket, *given: Any) -> Any:
        if plug.family in (socket.AF_INET, socket.AF_INET6):
            _check_host(given[-1][0])
        return send(plug, *given)

    return guarded


def _guard_lookup(look_up: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(host: str | None, *given: Any, **named: Any) -> Any:
        _check_host(host)
        return look_up(host, *given, **named)

    return guarded


def _check_host(host: str | None) -> None:
    if host in (None, "", "localhost"):
        return
    try:
        nearby = ipaddress.ip_address(host).is_loopback
    except ValueError:
        nearby = False
    if not nearby:
        raise NotIsolated(f"A unit test reaches for {host}. {_ADVICE}")
