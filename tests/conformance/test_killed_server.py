"""A server that is killed while spans come in: what it had accepted is judged later, once."""

from __future__ import annotations

import threading
import urllib.request
from collections import Counter
from contextlib import closing
from http.client import HTTPException
from random import Random
from time import sleep

from sqlalchemy import func, select

from planproof.runs.store.open_store import open_sql_store
from planproof.runs.store.schema import spans, traces
from tests.otlp_traces import JSON, PROTOBUF, TOOLS, encode_protobuf, make_export, make_spans, post
from tests.server_processes import ServerProcess, run_server
from tests.timeouts import TIMEOUT_SECONDS, wait_until

AT_ONCE = 4
QUIET = ("--quiet-seconds", "0.2")


class _Load:
    """Clients that send traces, in two requests each, and remember which were accepted whole."""

    def __init__(self) -> None:
        self.url = ""
        self.accepted: set[str] = set()
        self._next = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._clients = [threading.Thread(target=self._send) for _ in range(AT_ONCE)]

    def begin(self, url: str) -> None:
        self.url = url
        for client in self._clients:
            client.start()

    def end(self) -> None:
        self._ended.set()
        for client in self._clients:
            client.join(TIMEOUT_SECONDS)

    def _send(self) -> None:
        while not self._ended.is_set():
            with self._lock:
                self._next += 1
                number = self._next
            if self._sent(number):
                self.accepted.add(f"{number:032x}")

    def _sent(self, number: int) -> bool:
        chance = Random(number)
        made = make_spans(number, TOOLS[: chance.randint(1, 3)])
        chance.shuffle(made)
        cut = chance.randint(0, len(made))
        form = chance.choice((JSON, PROTOBUF))
        for some in (made[:cut], made[cut:]):
            body = make_export(some)
            try:
                if (
                    post(self.url, body if form == JSON else encode_protobuf(body), form).status
                    != 200
                ):
                    return False
            except (OSError, HTTPException):
                sleep(0.05)
                return False
        return True


def _count_results(store: str) -> Counter[str]:
    with closing(open_sql_store(store)) as opened:
        return Counter(
            result.id or "" for run in opened.list_runs() for result in opened.iter_results(run.id)
        )


def _left(store: str) -> tuple[int, int]:
    """Spans that are kept, and traces that are to be judged."""
    with closing(open_sql_store(store)) as opened, opened.database.begin_read() as connection:
        kept = connection.scalar(select(func.count()).select_from(spans))
        due = connection.scalar(select(func.count()).where(traces.c.due.is_not(None)))
    return kept or 0, due or 0


def test_what_was_accepted_is_judged_once_though_servers_are_killed(store_url: str) -> None:
    load = _Load()
    for life in range(2):
        with run_server(store_url, *QUIET) as server:
            if life == 0:
                load.begin(server.url)
            load.url = server.url
            before = len(load.accepted)
            wait_until(lambda before=before: len(load.accepted) >= before + 40)
            if life:
                # While verdicts are being kept, too.
                wait_until(lambda: bool(_count_results(store_url)))
            server.kill()
    load.end()
    with run_server(store_url, *QUIET, "--oldest-seconds", "0.2") as server:
        wait_until(lambda: load.accepted <= _count_results(store_url).keys())
        judged = _count_results(store_url)
        assert set(judged.values()) == {1}
        # Of what was cut off in the middle, some came: that is judged as well, when it is too old.
        assert server.end() == 0
    kept, due = _left(store_url)
    assert (kept == 0) == (due == 0)


def test_two_servers_on_one_database_judge_each_trace_once(store_url: str) -> None:
    with run_server(store_url, *QUIET) as one, run_server(store_url, *QUIET) as other:
        for number in range(1, 31):
            *tools, root = make_spans(number)
            assert post(one.url, make_export(tools)).status == 200
            assert post(other.url, make_export([root])).status == 200
        wait_until(lambda: len(_count_results(store_url)) == 30)
        figures = [_read_judged_metric(server) for server in (one, other)]
    assert sum(figures) == 30
    assert set(_count_results(store_url).values()) == {1}


def _read_judged_metric(server: ServerProcess) -> float:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=TIMEOUT_SECONDS) as answer:
        lines = answer.read().decode().splitlines()
    (figure,) = (line for line in lines if line.startswith("planproof_traces_judged "))
    return float(figure.split()[1])
