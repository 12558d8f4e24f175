from __future__ import annotations

import pickle

import pytest

from planproof.core.model import Cause, ModelFailed, Usage

ASKED = Usage(calls=1, tokens_in=100, tokens_out=10, cached_tokens=40, cost=0.5)


def test_usage_adds_up() -> None:
    kept = Usage(cost=0.0, from_cache=1)

    assert Usage() + ASKED == ASKED
    assert ASKED + kept + ASKED == Usage(2, 200, 20, 80, 1.0, 1)


def test_a_sum_with_an_unknown_price_has_no_price() -> None:
    assert (ASKED + Usage(calls=1, tokens_in=5)).cost is None


def test_what_was_never_asked_has_no_price() -> None:
    assert (Usage() + Usage()).cost is None


@pytest.mark.parametrize("cause", list(Cause))
def test_a_failure_says_what_where_and_what_to_do(cause: Cause) -> None:
    failed = ModelFailed(cause, "no such thing", model="openai:x", usage=ASKED)

    again = pickle.loads(pickle.dumps(failed))

    assert str(failed).startswith(f"openai:x: {cause.value}: no such thing")
    assert (again.cause, again.detail, again.usage, str(again)) == (
        cause,
        "no such thing",
        ASKED,
        str(failed),
    )
