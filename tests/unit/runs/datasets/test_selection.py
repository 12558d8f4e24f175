"""Which cases are chosen: conditions, samples, limits, shards, and all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.datasets.selection import Selection, parse_condition, parse_shard

EVEN = parse_condition("even=true")


def _lines(count: int = 20) -> Iterator[CaseLine]:
    for n in range(count):
        yield CaseLine(str(n), record={"even": n % 2 == 0, "n": n})


def _places(selection: Selection, *, can_repeat: bool = True) -> list[int]:
    found = list(selection.select(_lines, can_repeat=can_repeat))
    assert all(line.where == str(place) for place, line in found)
    return [place for place, _ in found]


@pytest.mark.parametrize(
    ("selection", "places"),
    [
        (Selection(), list(range(20))),
        (Selection(where=(EVEN,)), list(range(0, 20, 2))),
        (Selection(where=(EVEN, parse_condition("n>14"))), [16, 18]),
        (Selection(limit=3), [0, 1, 2]),
        (Selection(limit=0), []),
        (Selection(where=(EVEN,), limit=3), [0, 2, 4]),
        (Selection(shard=(2, 3)), [1, 4, 7, 10, 13, 16, 19]),
        (Selection(limit=4, shard=(2, 3)), [1]),
        (Selection(sample=50), list(range(20))),
        (Selection(sample=0), []),
    ],
)
def test_places_are_those_of_the_whole_data_set(selection: Selection, places: list[int]) -> None:
    assert _places(selection) == places


@given(
    sample=st.none() | st.integers(0, 25),
    seed=st.integers(0, 99),
    limit=st.none() | st.integers(0, 25),
    even=st.booleans(),
    shards=st.integers(1, 5),
)
def test_shards_together_are_the_whole_and_a_pipe_gives_the_same(
    sample: int | None, seed: int, limit: int | None, even: bool, shards: int
) -> None:
    def selection(shard: tuple[int, int] | None) -> Selection:
        where = (EVEN,) if even else ()
        return Selection(where=where, sample=sample, seed=seed, limit=limit, shard=shard)

    whole = _places(selection(None))
    assert whole == sorted(whole)
    assert _places(selection(None), can_repeat=False) == whole
    parts = [_places(selection((n, shards))) for n in range(1, shards + 1)]
    assert sorted(chain(*parts)) == whole


def test_every_case_is_as_likely_to_be_drawn_as_any_other() -> None:
    drawn = Counter(chain(*(_places(Selection(sample=5, seed=seed)) for seed in range(400))))
    # 100 each are expected; the chance of any being this far off is below one in a million, and
    # the seeds are fixed.
    assert len(drawn) == 20
    assert all(55 < count < 145 for count in drawn.values())


def test_a_seed_chooses_the_sample() -> None:
    first, again, other = (_places(Selection(sample=5, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_invalid_json_is_reported_with_any_condition() -> None:
    broken = CaseLine("x", error=InvalidInput("is not valid JSON."))
    found = Selection(where=(EVEN,)).select(lambda: iter([broken]), can_repeat=True)
    assert list(found) == [(0, broken)]


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2"])
def test_an_invalid_shard_is_an_error(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not a valid shard. Write I/N"):
        parse_shard(text)


def test_a_shard_is_counted_from_one() -> None:
    assert parse_shard("2/3") == (2, 3)
