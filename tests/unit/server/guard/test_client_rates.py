"""How often a client may ask, how long wrong keys wait, and how long a session holds."""

from __future__ import annotations

import pytest

from planproof.server.guard import client_rates, sessions
from planproof.server.guard.client_rates import Rates, WrongKeys
from planproof.server.guard.sessions import Sessions


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(client_rates, "monotonic", made)
    monkeypatch.setattr(sessions, "monotonic", made)
    return made


def test_who_waits_may_ask_again(clock: Clock) -> None:
    limited = Rates(2)
    assert [limited.wait_of("a") for _ in range(3)] == [None, None, 1]
    assert limited.wait_of("b") is None
    clock.now += 0.5
    assert [limited.wait_of("a") for _ in range(2)] == [None, 1]
    clock.now += 60
    assert [limited.wait_of("a") for _ in range(3)] == [None, None, 1]


def test_a_rate_below_one_a_second_holds_too(clock: Clock) -> None:
    limited = Rates(0.1)
    assert [limited.wait_of("a") for _ in range(2)] == [None, 10]
    clock.now += 10
    assert limited.wait_of("a") is None


def test_many_clients_take_no_more_memory_than_some(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_rates, "_MOST_CLIENTS", 3)
    limited, wrong = Rates(1), WrongKeys()
    for number in range(10):
        assert limited.wait_of(str(number)) is None
        assert wrong.pause_of(str(number)) == 0.25
    assert limited.wait_of("9") == 1
    assert limited.wait_of("0") is None  # forgotten, at the time of
    assert clock.now == 1000.0


def test_wrong_keys_wait_longer_each_time_and_are_forgotten(clock: Clock) -> None:
    wrong = WrongKeys()
    assert [wrong.pause_of("a") for _ in range(7)] == [0.25, 0.5, 1, 2, 4, 8, 8]
    assert wrong.pause_of("b") == 0.25
    clock.now += 601
    assert wrong.pause_of("a") == 0.25


def test_a_session_ends_by_itself_or_when_it_is_told_to(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_MOST", 2)
    held = Sessions()
    first = held.begin("digest")
    assert held.key_digest(first) == "digest"
    assert held.key_digest("digest") is None
    second, third = held.begin("other"), held.begin("another")
    assert held.key_digest(first) is None
    held.end(second)
    assert held.key_digest(second) is None
    assert held.key_digest(third) == "another"
    clock.now += 12 * 60 * 60
    assert held.key_digest(third) is None
