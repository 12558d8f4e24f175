from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from planproof.readers.decoding.source import gc_paused


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


def _failing() -> None:
    with gc_paused():
        assert not gc.isenabled()
        raise ValueError("it stops")


def test_it_rests_and_works_again_whatever_happens() -> None:
    gc.enable()
    with pytest.raises(ValueError, match="it stops"):
        _failing()
    assert gc.isenabled()


def test_who_has_switched_it_off_finds_it_off() -> None:
    gc.disable()
    with gc_paused():
        assert not gc.isenabled()
    assert not gc.isenabled()
