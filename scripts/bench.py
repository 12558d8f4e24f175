"""The labelled cases that the judge is measured on: where they are, and how they are read.

They are third-party data beside the checkout (`../shared/bench`, or $PLANPROOF_BENCH), never
part of it.
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

from planproof.checking.candidates import Unit, units_of
from planproof.checking.requirements import Demand, demands_of
from planproof.contracts.terms import words_of
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace

FILES = ("constructed-dev.jsonl", "natural-dev.jsonl")
V2_SPLITS = ("val", "train")
_NUMBERED = re.compile(r"^A\d+\s+")
_SAID = re.compile(r"(?:message|tells?|asks?|says?|.*(?:expert|assistant):)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled case, read."""

    line: dict[str, Any]
    plan: Plan
    trace: Trace
    units: list[Unit]
    demands: Sequence[Demand]
    gold: dict[int, int] | None
    """Where the label says it: unit -> step."""

    @property
    def group(self) -> str:
        """Cases of one group share a trace or a task: folds go by group."""
        return self.line["group"]

    @property
    def kind(self) -> str | None:
        """What a constructed case is (`faithful`, `missing` ...); None for a natural one."""
        return self.line["label"].get("kind")


def folder() -> Path:
    """Where the bench is; ends the program with advice if it is nowhere."""
    if not has_first_bench():
        sys.exit(f"No bench in {_configured()}. Set PLANPROOF_BENCH to the folder with {FILES[0]}.")
    return _configured()


def has_first_bench() -> bool:
    """Return whether the files of the first bench are there."""
    return all((_configured() / name).is_file() for name in FILES)


def _configured() -> Path:
    return Path(os.environ.get("PLANPROOF_BENCH", "../shared/bench"))


def scorer() -> ModuleType:
    """The bench's own scoring program."""
    return _program(_configured() / "score.py")


def has_v2() -> bool:
    """Return whether the second bench is there: its expander and its data files."""
    v2 = _configured() / "v2"
    return all((v2 / name).is_file() for name in ("expand.py", "traces.jsonl", "plans.jsonl"))


def v2_cases(split: str) -> list[dict[str, Any]]:
    """Return the labelled cases of one split of the second bench, in the order of its files.

    The split `hand` is for judges that ask a model, and is scored once: it can't be asked for here.
    """
    if split not in V2_SPLITS:
        raise ValueError(f"only {' and '.join(V2_SPLITS)} are scored here, not {split!r}")
    return list(_program(_configured() / "v2" / "expand.py").cases(split))


def _program(path: Path) -> ModuleType:
    """Return a program of the bench as a module; end this program with advice if there is none."""
    if not path.is_file():
        sys.exit(f"No {path}. Set PLANPROOF_BENCH to the folder of the bench.")
    spec = importlib.util.spec_from_file_location(f"bench_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(name: str) -> Iterator[dict[str, Any]]:
    """The cases of one file as they stand."""
    with (folder() / name).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def labelled() -> list[Labelled]:
    """All labelled cases; a trace that several share is read once."""
    vocabulary = Vocabulary()
    read: dict[tuple[str, str], tuple[Trace, list[Unit]]] = {}
    places: dict[str, dict[int, int]] = {}
    cases: list[Labelled] = []
    for name in FILES:
        for line in lines(name):
            key = (name, line.get("base", line["id"]))
            if key not in read:
                source = Source.of_value(line["execution_trace"], name=line["id"])
                trace = read_trace(source, vocabulary=vocabulary)
                read[key] = (trace, units_of(trace, vocabulary))
            trace, units = read[key]
            label = line["label"]
            if "actions" in label and "map" in label and line["base"] not in places:
                places[line["base"]] = _places(label["actions"], units)
            plan = parse_plan(line["agent_plan"])
            gold = None
            if "map" in label:
                at = places[line["base"]]
                gold = {
                    at[action]: step
                    for step, actions in enumerate(label["map"])
                    for action in actions
                    if action in at
                }
            cases.append(Labelled(line, plan, trace, units, demands_of(plan, vocabulary), gold))
    return cases


def removed_units(case: Labelled, cases: dict[str, Labelled]) -> frozenset[int]:
    """For an `extra` case the units whose step was taken out of the plan."""
    actions = case.line["label"].get("actions", ())
    faithful = cases.get(f"{case.line.get('base')}::faithful")
    if case.kind != "extra" or faithful is None:
        return frozenset()
    at = _places(faithful.line["label"]["actions"], case.units)
    return frozenset(at[action] for action in actions if action in at)


def _places(actions: list[str], units: list[Unit]) -> dict[int, int]:
    """Action number -> unit: the best match in order of the label's words with the events."""
    said = [_SAID.match(_NUMBERED.sub("", action)) is not None for action in actions]
    texts = [_NUMBERED.sub("", action).lower() for action in actions]
    wanted = [frozenset(s for word in words_of(text) for s in word.stems) for text in texts]
    rows, columns = len(actions), len(units)
    worth = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            match = _likeness(wanted[i - 1], texts[i - 1], units[j - 1], said=said[i - 1])
            worth[i][j] = max(worth[i - 1][j], worth[i][j - 1], worth[i - 1][j - 1] + match)
    found: dict[int, int] = {}
    i, j = rows, columns
    while i and j:
        if worth[i][j] == worth[i - 1][j]:
            i -= 1
        elif worth[i][j] == worth[i][j - 1]:
            j -= 1
        else:
            found[i] = j - 1
            i, j = i - 1, j - 1
    return found


def _likeness(wanted: frozenset[str], text: str, unit: Unit, *, said: bool) -> float:
    if not wanted:
        return 0.0
    likeness = len(wanted & unit.terms) / len(wanted)
    likeness += 0.3 * len(wanted & unit.output_terms) / len(wanted)
    likeness += {
        Kind.ACTION: -0.1 if said else 0.15,
        Kind.MESSAGE: 0.15 if said else -0.05,
        Kind.REASONING: -0.15,
    }.get(unit.event.kind, 0.0)
    name = (unit.event.name or "").lower()
    return likeness + (0.5 if name and name in text else 0.0)
