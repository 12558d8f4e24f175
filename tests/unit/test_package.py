"""The package itself: the names that it offers."""

from __future__ import annotations

import pytest

import planproof


def test_the_package_offers_few_names_and_loads_them_when_used() -> None:
    assert len(planproof.__all__) <= 14
    for name in planproof.__all__:
        assert getattr(planproof, name).__name__ == name
    assert set(planproof.__all__) <= set(dir(planproof))
    assert planproof.__version__
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = planproof.evaluat
