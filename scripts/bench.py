"""Locate and read the labelled cases that the judge is measured on.

They are third-party data outside the checkout (`../shared/bench`, or $PLANPROOF_BENCH).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from planproof.checking.candidates import Candidate, build_candidates
from planproof.checking.requirements import Requirement, compile_steps
from planproof.contracts.terms import extract_words
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace

FILES = ("constructed-dev.jsonl", "natural-dev.jsonl")
V2_SPLITS = ("val", "train")
_ACTION_NUMBER = re.compile(r"^A\d+\s+")
_SPEECH_ACTION = re.compile(
    r"(?:message|tells?|asks?|says?|.*(?:expert|assistant):)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """A labelled case with its plan and trace."""

    record: dict[str, Any]
    plan: Plan
    trace: Trace
    candidates: list[Candidate]
    requirements: Sequence[Requirement]
    step_by_candidate: dict[int, int] | None
    """Candidate -> step, where the label says it."""

    @property
    def group(self) -> str:
        """Return the group: its cases share a trace or a task, so folds are made by group."""
        return self.record["group"]

    @property
    def kind(self) -> str | None:
        """Return the kind of a constructed case (`faithful` ...); None for a natural one."""
        return self.record["label"].get("kind")


def require_folder() -> Path:
    """Return the folder of the bench; exit with advice if it does not exist."""
    if not has_first_bench():
        sys.exit(
            f"No bench in {_bench_folder()}. Set PLANPROOF_BENCH to the folder with {FILES[0]}."
        )
    return _bench_folder()


def has_first_bench() -> bool:
    """Return whether the files of the first bench exist."""
    return all((_bench_folder() / name).is_file() for name in FILES)


def _bench_folder() -> Path:
    return Path(os.environ.get("PLANPROOF_BENCH", "../shared/bench"))


def load_scorer() -> ModuleType:
    """Return the scoring program of the bench."""
    return _load_module(_bench_folder() / "score.py")


def has_second_bench() -> bool:
    """Return whether the expander and the data files of the second bench exist."""
    v2 = _bench_folder() / "v2"
    return all((v2 / name).is_file() for name in ("expand.py", "traces.jsonl", "plans.jsonl"))


def load_v2_cases(split: str) -> list[dict[str, Any]]:
    """Return the labelled cases of one split of the second bench, in the order of its files.

    The split `hand` is for judges that ask a model, and is scored once: it can't be loaded here.
    """
    if split not in V2_SPLITS:
        raise ValueError(f"only {' and '.join(V2_SPLITS)} are scored here, not {split!r}")
    return expand_v2(split)


def expand_v2(split: str) -> list[dict[str, Any]]:
    """Return the labelled cases of any split of the second bench."""
    return list(_load_module(_bench_folder() / "v2" / "expand.py").cases(split))


def load_v2_traces(split: str) -> Iterator[dict[str, Any]]:
    """Yield the traces of one split of the second bench, each with its actions and anchors."""
    if split not in V2_SPLITS:
        raise ValueError(f"only {' and '.join(V2_SPLITS)} are measured here, not {split!r}")
    return (trace for trace in read_v2_traces() if trace["split"] == split)


def read_v2_traces() -> Iterator[dict[str, Any]]:
    """Yield all traces of the second bench, each with its actions and anchors."""
    folder = _bench_folder() / "v2"
    with (folder / "plans.jsonl").open(encoding="utf-8") as lines:
        plans = {plan["id"]: plan for plan in map(json.loads, lines)}
    with (folder / "traces.jsonl").open(encoding="utf-8") as lines:
        for trace in map(json.loads, lines):
            plan = plans[trace["id"]]
            yield {**trace, "actions": plan["actions"], "anchors": plan["anchors"]}


def _load_module(path: Path) -> ModuleType:
    """Return a program of the bench as a module; exit with advice if it does not exist."""
    if not path.is_file():
        sys.exit(f"No {path}. Set PLANPROOF_BENCH to the folder of the bench.")
    spec = importlib.util.spec_from_file_location(f"bench_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_records(name: str) -> Iterator[dict[str, Any]]:
    """Return the raw cases of one file."""
    with (require_folder() / name).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def load_labelled_cases() -> list[LabelledCase]:
    """Return all labelled cases; a shared trace is read once."""
    vocabulary = Vocabulary()
    read_traces: dict[tuple[str, str], tuple[Trace, list[Candidate]]] = {}
    candidate_by_action: dict[str, dict[int, int]] = {}
    cases: list[LabelledCase] = []
    for name in FILES:
        for line in read_records(name):
            key = (name, line.get("base", line["id"]))
            if key not in read_traces:
                source = Source.from_value(line["execution_trace"], name=line["id"])
                trace = read_trace(source, vocabulary=vocabulary)
                read_traces[key] = (trace, build_candidates(trace, vocabulary))
            trace, candidates = read_traces[key]
            label = line["label"]
            if "actions" in label and "map" in label and line["base"] not in candidate_by_action:
                candidate_by_action[line["base"]] = _match_actions(label["actions"], candidates)
            plan = parse_plan(line["agent_plan"])
            step_by_candidate = None
            if "map" in label:
                at = candidate_by_action[line["base"]]
                step_by_candidate = {
                    at[action]: step
                    for step, actions in enumerate(label["map"])
                    for action in actions
                    if action in at
                }
            cases.append(
                LabelledCase(
                    line,
                    plan,
                    trace,
                    candidates,
                    compile_steps(plan, vocabulary),
                    step_by_candidate,
                )
            )
    return cases


def find_removed_candidates(case: LabelledCase, cases: dict[str, LabelledCase]) -> frozenset[int]:
    """Return the candidates of an `extra` case whose step was removed from the plan."""
    actions = case.record["label"].get("actions", ())
    faithful = cases.get(f"{case.record.get('base')}::faithful")
    if case.kind != "extra" or faithful is None:
        return frozenset()
    at = _match_actions(faithful.record["label"]["actions"], case.candidates)
    return frozenset(at[action] for action in actions if action in at)


def _match_actions(actions: list[str], candidates: list[Candidate]) -> dict[int, int]:
    """Return the candidate by action number: the best in-order match of label words and events."""
    is_speech = [
        _SPEECH_ACTION.match(_ACTION_NUMBER.sub("", action)) is not None for action in actions
    ]
    texts = [_ACTION_NUMBER.sub("", action).lower() for action in actions]
    action_stems = [
        frozenset(s for word in extract_words(text) for s in word.stems) for text in texts
    ]
    rows, columns = len(actions), len(candidates)
    best_scores = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            match = _score_match(
                action_stems[i - 1], texts[i - 1], candidates[j - 1], is_speech=is_speech[i - 1]
            )
            best_scores[i][j] = max(
                best_scores[i - 1][j], best_scores[i][j - 1], best_scores[i - 1][j - 1] + match
            )
    candidate_by_action: dict[int, int] = {}
    i, j = rows, columns
    while i and j:
        if best_scores[i][j] == best_scores[i - 1][j]:
            i -= 1
        elif best_scores[i][j] == best_scores[i][j - 1]:
            j -= 1
        else:
            candidate_by_action[i] = j - 1
            i, j = i - 1, j - 1
    return candidate_by_action


def _score_match(
    stems: frozenset[str], text: str, candidate: Candidate, *, is_speech: bool
) -> float:
    if not stems:
        return 0.0
    match_score = len(stems & candidate.terms) / len(stems)
    match_score += 0.3 * len(stems & candidate.output_terms) / len(stems)
    match_score += {
        Kind.ACTION: -0.1 if is_speech else 0.15,
        Kind.MESSAGE: 0.15 if is_speech else -0.05,
        Kind.REASONING: -0.15,
    }.get(candidate.event.kind, 0.0)
    name = (candidate.event.name or "").lower()
    return match_score + (0.5 if name and name in text else 0.0)
