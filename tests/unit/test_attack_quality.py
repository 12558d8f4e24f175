"""The attacks on labelled cases of the second bench: what is tried, and what counts as raised."""

from __future__ import annotations

from collections import Counter
from typing import Any

from planproof.calibration.variant import Attack
from planproof.core.content import Json
from scripts.attack_quality import (
    AttackResult,
    build_flawed_variant,
    format_results,
    measure_attacks,
    write_into_trace,
)
from tests.small_bench import v2_case
from tests.small_cases import called

CHAT: list[Json] = [
    {"role": "user", "content": "Refund order A-1042."},
    {"role": "assistant", "content": "I look it up."},
    *called(1, "get_order", order="A-1042"),
    *called(2, "refund_order", order="A-1042"),
]


def test_every_flawed_case_is_attacked_and_followed_ones_are_not() -> None:
    cases = [v2_case("a", "faithful"), v2_case("a", "missing"), v2_case("b", "missing")]
    results = measure_attacks(cases, jobs=1)
    assert {result.case for result in results} == {"a::missing", "b::missing"}
    tried = Counter(result.attack for result in results)
    # No shell; the trace is of planproof's own, in which the agent says nothing.
    assert set(tried.values()) == {2}
    assert {"claims", "react", "results", "empty"} <= tried.keys()
    assert not any("in the source" in name or name == "echo" for name in tried)


def test_calls_are_written_into_a_text_of_the_agent() -> None:
    case: dict[str, Any] = {**v2_case("a", "missing"), "execution_trace": CHAT}
    variant = build_flawed_variant(case)
    changed: Any = write_into_trace(CHAT, variant, Attack.LINES)
    assert changed[1]["content"].startswith(
        "I look it up.\n\nTool call: archive_the_quarterly_inventory("
    )
    assert [*changed[:1], *changed[2:]] == [*CHAT[:1], *CHAT[2:]]
    # Without a text of the agent there is nothing to add to, and a log is not changed.
    assert write_into_trace([*CHAT[:1], *CHAT[2:]], variant, Attack.LINES) is None
    assert write_into_trace("a log", variant, Attack.LINES) is None


def test_a_lost_score_is_not_raised() -> None:
    results = [
        AttackResult("a", "claims", 0.25, 0.5),
        AttackResult("b", "claims", 0.25, 0.25),
        AttackResult("c", "claims", 0.25, None),
    ]
    assert [result.is_raised for result in results] == [True, False, False]
    assert format_results(results).endswith("| claims | 3 | 1 |\n")
