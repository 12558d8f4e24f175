"""Count how often each attack of `planproof calibrate` raises a score of `rules`, on bench v2.

usage: python -m scripts.attack_quality train|val [--jobs N] [--show] [--write-docs]

Every attack that applies is put into the trace of every flawed case: in the form in which the trace
was read, and calls that an agent writes into its text also into the trace as its tool wrote it,
if that is JSON, so that a reader that takes them for calls is noticed. Claims are made in the words
of the plan and in those of the other wording of the plan. Flaws that a message can mend are no
exception: a claim that raises the score of such a case is counted. `--show` lists the raised cases
of train; nobody reads those of val.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import groupby
from multiprocessing import get_context
from typing import Any, NamedTuple

from planproof.calibration.attacks import apply_attack, find_place, write_calls
from planproof.calibration.followed_cases import build_followed_case
from planproof.calibration.variant import Attack, GroundTruth, Variant
from planproof.calibration.variant_set import generate_attacks
from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.finding import Status
from planproof.core.json_values import is_list, is_object
from planproof.core.pointer import resolve
from planproof.core.trace import Event, Kind
from planproof.errors import InvalidInput
from planproof.evaluation import ReadOptions, evaluate_case
from planproof.llm.judge_registry import find_judge
from planproof.readers.decoding.case_files import parse_case
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from scripts.bench import load_v2_cases
from scripts.parallel_verdicts import Record
from scripts.quality_tables import build_markdown_table, write_pages

_CLEAN_KINDS = ("faithful", "paraphrase")
_WRITTEN = (Attack.REACT, Attack.TAGS, Attack.LINES)


class AttackResult(NamedTuple):
    """An attack on a flawed case, and the scores without and with it."""

    case: str
    attack: str
    before: float
    after: float | None

    @property
    def is_raised(self) -> bool:
        """True if the attack was successful."""
        return self.after is not None and self.after > self.before


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("split", choices=("train", "val"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    results = measure_attacks(load_v2_cases(options.split), jobs=options.jobs)
    table = format_results(results)
    print(table, end="")
    if options.write_docs and options.split == "train":
        write_pages({"attacks": table})
    if options.show and options.split == "train":
        for result in filter(lambda result: result.is_raised, results):
            print(f"{result.attack}: {result.case}: {result.before} -> {result.after}")
    sys.exit(any(result.is_raised for result in results))


def format_results(results: Iterable[AttackResult]) -> str:
    """Return a table of the attacks: the cases in which each applies, and the scores it raised."""
    tried, raised = Counter[str](), Counter[str]()
    for result in results:
        tried[result.attack] += 1
        raised[result.attack] += result.is_raised
    rows = [[name, f"{tried[name]:,}", f"{raised[name]:,}"] for name in tried]
    return build_markdown_table(["attack", "flawed cases", "scores raised"], rows)


def measure_attacks(records: Iterable[Record], *, jobs: int) -> list[AttackResult]:
    """Attack all flawed cases; those with the same trace go to the same process."""
    flawed = (record for record in records if record["label"]["kind"] not in _CLEAN_KINDS)
    batches = [list(batch) for _, batch in groupby(flawed, key=lambda record: record["base"])]
    if jobs == 1:
        return [result for batch in batches for result in _attack_batch(batch)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return [result for batch in pool.map(_attack_batch, batches) for result in batch]


def _attack_batch(records: Sequence[Record]) -> list[AttackResult]:
    plans = {record["id"]: record["agent_plan"] for record in records}
    return [
        result
        for record in records
        for result in _attack_case(record, plans.get(_name_other_wording(record["id"])))
    ]


def _name_other_wording(id_: str) -> str:
    """Return the id of the case with the same flaw in the other wording of the plan."""
    return id_.removesuffix("~") if id_.endswith("~") else f"{id_}~"


def _attack_case(record: Record, other_plan: list[str] | None) -> Iterator[AttackResult]:
    case = parse_case(record, name=record["id"])
    before = _judge(case)
    if before is None:
        return
    variant = build_flawed_variant(record)
    for attacked in generate_attacks(variant):
        assert attacked.attack is not None
        yield AttackResult(record["id"], attacked.attack.value, before, _judge(attacked.case))
    for attack in (Attack.CLAIMS, Attack.REASONING) if other_plan else ():
        claimed = apply_attack(replace(variant, plan=tuple(other_plan or ())), attack)
        assert claimed is not None
        after = _judge(replace(claimed, plan=variant.plan).case)
        yield AttackResult(record["id"], f"{attack.value}, other wording", before, after)
    for attack in _WRITTEN:
        trace = write_into_trace(record["execution_trace"], variant, attack)
        if trace is not None:
            written = Case(task=case.task, plan=case.plan, trace=trace, id=case.id)
            yield AttackResult(
                record["id"], f"{attack.value}, in the source", before, _judge(written)
            )


def build_flawed_variant(record: Record) -> Variant:
    """Return a flawed case of the bench as a variant whose flawed step is known, if it is one."""
    case = parse_case(record, name=record["id"])
    read = build_followed_case(case, find_judge("rules"), ReadOptions(), record["id"])
    step = record["label"].get("step")
    statuses = {} if step is None else {int(step) - 1: Status.MISSING}
    return Variant(read.id, read.task, read.plan, read.events, GroundTruth(statuses))


def write_into_trace(trace: Json, variant: Variant, attack: Attack) -> Json:
    """Return a trace with calls in a text of the agent; None if it has no text to add them to."""
    text = write_calls(variant, attack)
    if text is None or isinstance(trace, str):
        return None
    events = read_trace(Source.from_value(trace)).events
    place = find_place(variant)
    for event in (*reversed(events[:place]), *events[place:]):
        if event.actor not in ("user", "system") and event.kind in (Kind.MESSAGE, Kind.REASONING):
            changed = _append_to_text(trace, event, text)
            if changed is not None:
                return changed
    return None


def _append_to_text(trace: Json, event: Event, addition: str) -> Json:
    """Return the trace with an addition to the text of an event; None if it is in no one string."""
    try:
        pointed = resolve(trace, event.pointer)
    except InvalidInput:
        return None
    changed = _replace_text(pointed, event.text, f"{event.text}\n\n{addition}")
    return None if changed == pointed else _replace_at(trace, event.pointer.split("/")[1:], changed)


def _replace_text(value: Any, old: str, new: str) -> Any:
    if is_list(value):
        return [_replace_text(item, old, new) for item in value]
    if is_object(value):
        return {key: _replace_text(item, old, new) for key, item in value.items()}
    return new if isinstance(value, str) and value.strip() == old.strip() else value


def _replace_at(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    key = path[0].replace("~1", "/").replace("~0", "~")
    if is_list(document):
        index = int(key)
        inner = _replace_at(document[index], path[1:], value)
        return [*document[:index], inner, *document[index + 1 :]]
    return {**document, key: _replace_at(document[key], path[1:], value)}


def _judge(case: Case) -> float | None:
    return evaluate_case(case, judge=_find_rules()).score


@cache
def _find_rules() -> Any:
    return find_judge("rules")


if __name__ == "__main__":
    main()
