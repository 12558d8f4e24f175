"""`make beside`: DeepEval's PlanAdherenceMetric and planproof on the same cases and the same model.

50 generated cases of 10 steps and 50 events, all asked about at once; a third of them did one step
with another thing than planned. The model is a script that takes 200 ms an answer and knows the
right one, then one that misbehaves. Every tool runs in a process of its own, with the settings that
it comes with. The table is printed as `docs/beside-deepeval.md` shows it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product, starmap
from pathlib import Path
from typing import Any

from benchmarks.asking import LATENCY, book_of
from benchmarks.asking_peers import Asking, python_of, said, written
from benchmarks.cases import generate
from tests.scripted_model import Asked, HttpError, Reply, ScriptedModel
from tests.scripted_model.book import answers_of
from tests.scripted_model.faults import MODES, SCORES, Good

CASES = 50
LONGEST = 300
ROUNDS = 3
AT_ONCE = 4
"""Faults that are tried at the same time; nearly all of it is waiting."""
TOOLS = {
    "DeepEval": Asking("deepeval", python_of("deepeval"), seconds=LONGEST),
    **{
        f"planproof `{judge}`": Asking(
            "planproof", Path(sys.executable), {"PLANPROOF_JUDGE": judge}, LONGEST
        )
        for judge in ("prompt", "audit", "rules")
    },
}
Fault = Callable[[Good], Callable[[Asked], Reply | str]]


def one_in_three(reply: Reply) -> Fault:
    """A fault that hits every third question, and goes away when it is asked again."""
    return lambda good: lambda asked: good(asked) if asked.number % 3 else reply


FAULTS: dict[str, Fault] = {
    "429 to one question in three": one_in_three(
        HttpError(429, "slow down", "rate_limit_exceeded", {"retry-after": "1"})
    ),
    "429 for ever": MODES["429 for ever, retry-after"],
    "500 to one question in three": one_in_three(HttpError(500, "it broke")),
    "500 for ever": MODES["500 for ever"],
    "no answer, the line stays open": MODES["hang"],
    "an answer cut off in the middle": MODES["truncated, length"],
    "an answer that is no JSON": MODES["malformed"],
    "a refusal": MODES["refusal, text"],
    "a score of 7.5": SCORES["score 7.5"],
    "a score of -3": SCORES["score -3"],
    "a score of NaN": SCORES["score NaN"],
    "a score of true": SCORES["score true"],
}


def main() -> int:
    """Print the table."""
    cases = [generate(steps=10, events=50, seed=seed) for seed in range(CASES)]
    good = answers_of(book_of(cases))
    with written(cases) as file:
        rows = asked_well(file, good)
        pairs = list(product(FAULTS, TOOLS))
        with ThreadPoolExecutor(AT_ONCE) as threads:
            cells = list(threads.map(partial(came_to, file, good), *zip(*pairs, strict=True)))
    for (fault, _), cell in zip(pairs, cells, strict=True):
        rows.setdefault(fault, []).append(cell)
    print("| |", " | ".join(TOOLS), "|")
    print("|---|", "|".join("---" for _ in TOOLS), "|", sep="")
    for what, found in rows.items():
        print(f"| {what} |", " | ".join(found), "|")
    return 0


def asked_well(file: Path, good: Good) -> dict[str, list[str]]:
    """What is asked, and how long it takes, where nothing goes wrong."""
    rows: dict[str, list[str]] = {"calls": [], "characters sent": [], "scores": [], "wall time": []}
    for tool in TOOLS.values():
        with ScriptedModel(good) as server:
            found = said(tool, file, server.root, warm=False)
            asked = list(server.calls)
        sent = sum(len(text) for call in asked for text in (call.instructions, call.text))
        rows["calls"].append(f"{len(asked):,}")
        rows["characters sent"].append(f"{sent:,}")
        rows["scores"].append(told(found))
    with ScriptedModel(good, latency=LATENCY) as server:
        for tool in TOOLS.values():
            times = [said(tool, file, server.root, warm=True)["seconds"] for _ in range(ROUNDS)]
            rows["wall time"].append(f"{min(times):.1f} s")
    return rows


def came_to(file: Path, good: Good, fault: str, name: str) -> str:
    """What a tool makes of a model that misbehaves."""
    tool = TOOLS[name]
    if tool.settings.get("PLANPROOF_JUDGE") == "rules":
        return "asks nobody"
    with ScriptedModel(FAULTS[fault](good), latency=LATENCY) as server:
        found = said(tool, file, server.root, warm=False)
    return f"{told(found)}; {found['seconds']:.0f} s"


def told(found: dict[str, Any]) -> str:
    """How many cases ended in which way."""
    each: list[float | str | None] = found["found"]
    ways = Counter(starmap(_way, enumerate(each)))
    return ", ".join(f"{count} {way}" for way, count in ways.most_common())


def _way(seed: int, found: float | str | None) -> str:
    if found is None:
        return "unfinished"
    if isinstance(found, str):
        return f"errors (`{found}`)"
    # Of every third case a step was done with another thing than planned, which is worth 0.5.
    right = 0.5 if seed % 3 == 2 else 1.0
    return "right" if found == right else f"**wrong scores ({json.dumps(found)})**"


if __name__ == "__main__":
    sys.exit(main())
