"""How often a client may ask, how long wrong keys wait, and how long a session holds."""

from __future__ import annotations

import pytest

from planproof.server.guard import access, sign_in
from planproof.server.guard.access import ClientRateLimiter, WrongKeyBackoff
from planproof.server.guard.sign_in import Sessions


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(access, "monotonic", made)
    monkeypatch.setattr(sign_in, "monotonic", made)
    return made


def test_who_waits_may_ask_again(clock: Clock) -> None:
    limited = ClientRateLimiter(2)
    assert [limited.acquire("a") for _ in range(3)] == [None, None, 1]
    assert limited.acquire("b") is None
    clock.now += 0.5
    assert [limited.acquire("a") for _ in range(2)] == [None, 1]
    clock.now += 60
    assert [limited.acquire("a") for _ in range(3)] == [None, None, 1]


def test_a_rate_below_one_per_second_is_enforced(clock: Clock) -> None:
    limited = ClientRateLimiter(0.1)
    assert [limited.acquire("a") for _ in range(2)] == [None, 10]
    clock.now += 10
    assert limited.acquire("a") is None


def test_many_clients_take_no_more_memory_than_some(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_MAX_CLIENTS", 3)
    limited, wrong = ClientRateLimiter(1), WrongKeyBackoff()
    for number in range(10):
        assert limited.acquire(str(number)) is None
        assert wrong.next_delay(str(number)) == 0.25
    assert limited.acquire("9") == 1
    assert limited.acquire("0") is None  # forgotten, at the time of
    assert clock.now == 1000.0


def test_wrong_keys_wait_longer_each_time_and_are_forgotten(clock: Clock) -> None:
    wrong = WrongKeyBackoff()
    assert [wrong.next_delay("a") for _ in range(7)] == [0.25, 0.5, 1, 2, 4, 8, 8]
    assert wrong.next_delay("b") == 0.25
    clock.now += 601
    assert wrong.next_delay("a") == 0.25


def test_a_session_expires_or_is_ended(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "_MAX_SESSIONS", 2)
    held = Sessions()
    first = held.begin("digest")
    assert held.find_key_digest(first) == "digest"
    assert held.find_key_digest("digest") is None
    second, third = held.begin("other"), held.begin("another")
    assert held.find_key_digest(first) is None
    held.end(second)
    assert held.find_key_digest(second) is None
    assert held.find_key_digest(third) == "another"
    clock.now += 12 * 60 * 60
    assert held.find_key_digest(third) is None
