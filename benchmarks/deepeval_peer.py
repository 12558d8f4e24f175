"""`make bench-deepeval`: DeepEval's PlanAdherenceMetric and planproof, same cases, same model.

50 generated cases of 10 steps and 50 events are judged concurrently; in a third of them one step
was done with another value than planned. The model is a script: first it gives the right answer
after 200 ms, then it fails in one way after the other. Every tool runs in a separate process with
its default settings. The printed table is the one in `docs/beside-deepeval.md`.
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

from benchmarks.cases import generate_case
from benchmarks.models import LATENCY, build_answer_book
from benchmarks.peer_judges import PeerTool, find_python, run_peer, write_cases_file
from tests.scripted_model import HttpError, ModelRequest, Reply, ScriptedModel
from tests.scripted_model.answer_book import answer_from_book
from tests.scripted_model.faults import MODES, SCORES, Good

CASES = 50
TIMEOUT_SECONDS = 300
ROUNDS = 3
CONCURRENT_FAULTS = 4
"""The number of faults that are measured concurrently; nearly all of the time is waiting."""
TOOLS = {
    "DeepEval": PeerTool("deepeval", find_python("deepeval"), timeout_seconds=TIMEOUT_SECONDS),
    **{
        f"planproof `{judge}`": PeerTool(
            "planproof", Path(sys.executable), {"PLANPROOF_JUDGE": judge}, TIMEOUT_SECONDS
        )
        for judge in ("prompt", "audit", "rules")
    },
}
Fault = Callable[[Good], Callable[[ModelRequest], Reply | str]]


def fail_every_third(reply: Reply) -> Fault:
    """Return a fault that affects every third request; a retry succeeds."""
    return lambda good: lambda asked: good(asked) if asked.number % 3 else reply


FAULTS: dict[str, Fault] = {
    "429 to one request in three": fail_every_third(
        HttpError(429, "slow down", "rate_limit_exceeded", {"retry-after": "1"})
    ),
    "429 to every request": MODES["429 for ever, retry-after"],
    "500 to one request in three": fail_every_third(HttpError(500, "it broke")),
    "500 to every request": MODES["500 for ever"],
    "no answer, the connection stays open": MODES["hang"],
    "a truncated answer": MODES["truncated, length"],
    "an answer that is not JSON": MODES["malformed"],
    "a refusal": MODES["refusal, text"],
    "a score of 7.5": SCORES["score 7.5"],
    "a score of -3": SCORES["score -3"],
    "a score of NaN": SCORES["score NaN"],
    "a score of true": SCORES["score true"],
}


def main() -> int:
    """Print the table."""
    cases = [generate_case(steps=10, events=50, seed=seed) for seed in range(CASES)]
    good = answer_from_book(build_answer_book(cases))
    with write_cases_file(cases) as file:
        rows = measure_without_faults(file, good)
        pairs = list(product(FAULTS, TOOLS))
        with ThreadPoolExecutor(CONCURRENT_FAULTS) as threads:
            cells = list(
                threads.map(partial(measure_with_fault, file, good), *zip(*pairs, strict=True))
            )
    for (fault, _), cell in zip(pairs, cells, strict=True):
        rows.setdefault(fault, []).append(cell)
    print("| |", " | ".join(TOOLS), "|")
    print("|---|", "|".join("---" for _ in TOOLS), "|", sep="")
    for what, row_cells in rows.items():
        print(f"| {what} |", " | ".join(row_cells), "|")
    return 0


def measure_without_faults(file: Path, good: Good) -> dict[str, list[str]]:
    """Return calls, characters, scores and wall time with a model that works."""
    rows: dict[str, list[str]] = {"calls": [], "characters sent": [], "scores": [], "wall time": []}
    for tool in TOOLS.values():
        with ScriptedModel(good) as server:
            peer_output = run_peer(tool, file, server.root, warm=False)
            calls = list(server.calls)
        sent = sum(len(text) for call in calls for text in (call.instructions, call.text))
        rows["calls"].append(f"{len(calls):,}")
        rows["characters sent"].append(f"{sent:,}")
        rows["scores"].append(format_outcomes(peer_output))
    with ScriptedModel(good, latency=LATENCY) as server:
        for tool in TOOLS.values():
            times = [run_peer(tool, file, server.root, warm=True)["seconds"] for _ in range(ROUNDS)]
            rows["wall time"].append(f"{min(times):.1f} s")
    return rows


def measure_with_fault(file: Path, good: Good, fault: str, name: str) -> str:
    """Return the outcomes of a tool with a model that fails."""
    tool = TOOLS[name]
    if tool.environment_variables.get("PLANPROOF_JUDGE") == "rules":
        return "no model calls"
    with ScriptedModel(FAULTS[fault](good), latency=LATENCY) as server:
        peer_output = run_peer(tool, file, server.root, warm=False)
    return f"{format_outcomes(peer_output)}; {peer_output['seconds']:.0f} s"


def format_outcomes(peer_output: dict[str, Any]) -> str:
    """Return the number of cases by outcome, as text."""
    scores: list[float | str | None] = peer_output["found"]
    outcome_counts = Counter(starmap(_classify_outcome, enumerate(scores)))
    return ", ".join(f"{count} {outcome}" for outcome, count in outcome_counts.most_common())


def _classify_outcome(seed: int, score_or_error: float | str | None) -> str:
    if score_or_error is None:
        return "unfinished"
    if isinstance(score_or_error, str):
        return f"errors (`{score_or_error}`)"
    # In every third case a step was done with another value than planned: 0.5.
    right = 0.5 if seed % 3 == 2 else 1.0
    return (
        "right" if score_or_error == right else f"**wrong scores ({json.dumps(score_or_error)})**"
    )


if __name__ == "__main__":
    sys.exit(main())
