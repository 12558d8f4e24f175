from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.toolkit.span import build_span_tree


def span(name: str, start: Any = None, parent: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "span_id": name, "parent_id": parent, "start_time": start, **more}


def names(*spans: dict[str, Any]) -> list[str]:
    skipped: list[str] = []
    found = build_span_tree(
        ((f"/{i}", value) for i, value in enumerate(spans)), lambda place, _: skipped.append(place)
    )
    return [span.name for span in found]


@pytest.mark.parametrize(
    "starts",
    [
        (30, 10, 20),
        ("30", "4", "20"),
        ("2025-01-03", "2025-01-01", "2025-01-02"),
        # Fractions of a second, time zones, and none.
        ("2025-01-01T00:00:01.5Z", "2025-01-01T02:00:01+02:00", "2025-01-01T00:00:01.25"),
        # Nanoseconds as OTLP writes them, milliseconds, a float of seconds.
        ("1758026600000000000", 1758026598000, 1758026599.5),
        (1758026600206847001, 1758026600206846999, 1758026600206847000),
    ],
)
def test_spans_are_in_the_order_in_which_they_began(starts: tuple[Any, ...]) -> None:
    assert names(*(span(n, s) for n, s in zip("cab", starts, strict=True))) == ["a", "b", "c"]


@pytest.mark.parametrize("start", [None, True, 10**40, "yesterday", "9" * 40, [], float(10**30)])
def test_a_span_without_a_time_begins_with_the_one_before_it(start: Any) -> None:
    assert names(span("c", 9), span("a", 1), span("b", start)) == ["a", "b", "c"]


def test_a_parent_comes_before_what_is_inside_it() -> None:
    assert names(span("child", 5, "parent"), span("parent", 5)) == ["parent", "child"]
    # Another machine, another clock.
    assert names(span("child", 1, "parent"), span("x", 2), span("parent", 3)) == [
        "x",
        "parent",
        "child",
    ]


def test_parents_in_a_circle_are_cut() -> None:
    circle = [span("a", 1, "b"), span("b", 2, "a"), span("c", 3, "c"), span("d", 4, "gone")]
    assert sorted(names(*circle)) == ["a", "b", "c", "d"]


def test_ids_are_unique_in_their_trace_only() -> None:
    one = [span("a", 1, trace_id="t"), span("a", 2, trace_id="u"), span("a", 3, trace_id="t")]
    assert names(*one) == ["a", "a"]
    wide = {"name": "w", "context": {"span_id": 2**63 + 1, "trace_id": 2**127}, "start_time": 1}
    inner = {**wide, "name": "i", "context": {"span_id": 7, "trace_id": 2**127}, "start_time": 1}
    inner["parent"] = {"span_id": 2**63 + 1}
    assert names(inner, wide) == ["w", "i"]


def test_a_long_chain_takes_no_time() -> None:
    chain = [span(str(n), n, str(n - 1)) for n in range(20_000)]
    assert names(*reversed(chain))[:2] == ["0", "1"]
