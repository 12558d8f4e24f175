"""Measure `audit` on labelled cases with a model, or with a careful reader in its place.

    python -m scripts.audit_quality select train CASES.jsonl [--followed N] [--flawed N]
    planproof run CASES.jsonl --judge audit --model M -o VERDICTS.jsonl --no-cache ...
    python -m scripts.audit_quality score train CASES.jsonl VERDICTS.jsonl [--answers FOLDER]

`select` writes cases without their labels: followed plans, one a trace and in alternating wordings;
flawed plans of the same traces in the same wording, at most two a trace and spread over the kinds
of flaws; and runs with their own plans, which two people annotated. `score` prints the figures with
bootstrap intervals over traces. `--answers` is a folder with questions and answers as a server
recorded them (`q/NAME.json`, `a/NAME.json`): with it, `score` also counts how often the program
overruled the first answer on a step, by cause, and how often that answer was right by the label.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from planproof.core.content import Content
from planproof.core.judge import ModelOptions
from planproof.core.vocabulary import Vocabulary
from planproof.errors import PlanproofError
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.open_judge import UnopenedModel
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from scripts import bench

Record = dict[str, Any]
_WORDINGS = ("faithful", "paraphrase")
_FLAWS = ("missing", "extra", "order", "altered", "partial", "shuffled")
_MAX_FLAWED_A_TRACE = 2
_FIELDS = ("id", "user_task", "agent_plan", "execution_trace")
_SAMPLES = 2_000
_NOT_DONE = frozenset({"missing", "ambiguous", "partial"})


def select_cases(cases: Sequence[Record], followed: int, flawed: int) -> Iterator[Record]:
    """Yield the cases to ask: followed plans, then flawed ones of the same traces and wordings."""
    by_trace: dict[str, dict[tuple[str, str], Record]] = defaultdict(dict)
    for case in cases:
        by_trace[case["base"]][case["label"]["kind"], case["label"]["wording"]] = case
    names = sorted(by_trace, key=_hash)[:followed]
    wordings = {name: _WORDINGS[index % 2] for index, name in enumerate(names)}
    for name in names:
        yield by_trace[name][wordings[name], wordings[name]]
    chosen: dict[str, list[Record]] = {name: [] for name in names}
    counts: Counter[str] = Counter()
    for _ in range(_MAX_FLAWED_A_TRACE):
        for name in names:
            taken = {case["label"]["kind"] for case in chosen[name]}
            kinds = [
                kind
                for kind in _FLAWS
                if kind not in taken and (kind, wordings[name]) in by_trace[name]
            ]
            if kinds and counts.total() < flawed:
                kind = min(kinds, key=lambda one: (counts[one], _hash(f"{name} {one}")))
                counts[kind] += 1
                chosen[name].append(by_trace[name][kind, wordings[name]])
    yield from (case for name in names for case in chosen[name])


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _load_natural() -> list[Record]:
    records = bench.read_records("natural-dev.jsonl")
    return sorted(records, key=lambda record: _hash(record["id"]))


def write_cases(path: Path, cases: Iterable[Record]) -> int:
    """Write cases without labels for `planproof run`; return how many."""
    lines = [json.dumps({name: case[name] for name in _FIELDS}) + "\n" for case in cases]
    path.write_text("".join(lines), "utf-8")
    return len(lines)


def measure(
    cases: Sequence[Record], compute: Callable[[Sequence[Record]], dict[str, float]]
) -> dict[str, tuple[float, float, float]]:
    """Return figures with their 95 % intervals, by resampling traces."""
    by_trace: dict[str, list[Record]] = defaultdict(list)
    for case in cases:
        by_trace[case.get("base", case["id"])].append(case)
    names, rng = sorted(by_trace), random.Random(0)
    samples: dict[str, list[float]] = defaultdict(list)
    for _ in range(_SAMPLES):
        drawn = [
            {**case, "base": f"{name}#{copy}"}
            for copy, name in enumerate(rng.choices(names, k=len(names)))
            for case in by_trace[name]
        ]
        for figure, value in compute(drawn).items():
            if not isnan(value):  # a sample may have no flawed plan
                samples[figure].append(value)
    figures: dict[str, tuple[float, float, float]] = {}
    for figure, value in compute(cases).items():
        ordered = sorted(samples[figure]) or [float("nan")]
        low, high = int(0.025 * len(ordered)), int(0.975 * len(ordered))
        figures[figure] = (value, ordered[low], ordered[min(high, len(ordered) - 1)])
    return figures


def print_figures(
    constructed: Sequence[Record], natural: Sequence[Record], verdicts: Mapping[str, Record]
) -> None:
    """Print the figures on the cases that have a verdict."""
    scorer = bench.load_scorer()

    def compute_constructed(cases: Sequence[Record]) -> dict[str, float]:
        found = scorer.constructed(cases, verdicts)
        return {name: found[name] for name in ("pass_clean", "catch_flawed", "told_apart")}

    def compute_natural(cases: Sequence[Record]) -> dict[str, float]:
        return {"as one annotator": scorer.natural(cases, verdicts)["exact_either_rater"]}

    counts = Counter(case["label"]["kind"] for case in constructed)
    print(f"{len(constructed)} constructed cases: {dict(counts)}; {len(natural)} natural ones")
    for cases, compute in ((constructed, compute_constructed), (natural, compute_natural)):
        for name, (value, low, high) in (measure(cases, compute) if cases else {}).items():
            print(f"  {name:<18} {value:.2f}  [{low:.2f}, {high:.2f}]")
    hits: dict[str, list[bool]] = defaultdict(list)
    for case in constructed:
        kind, score = case["label"]["kind"], verdicts[case["id"]]["score"]
        good = score is not None and (score >= 0.75 if kind in _WORDINGS else score <= 0.5)
        hits[kind].append(good)
    for kind, good in hits.items():
        print(f"  {kind:<18} {sum(good)} of {len(good)}")
    outcomes = Counter(
        verdicts[case["id"]].get("cause") or verdicts[case["id"]]["outcome"]
        for case in (*constructed, *natural)
    )
    print("outcomes:", dict(outcomes))


class _Overruled(NamedTuple):
    """A step whose status in the verdict is not what the model first said."""

    case: str
    step: str
    said: str
    found: str
    cause: str
    was_right: bool | None
    was_asked: bool


def print_overruled(cases: Sequence[Record], verdicts: Mapping[str, Record], folder: Path) -> None:
    """Print how often the program overruled the first answer, and whether it had been right."""
    answers = _read_answers(folder)
    steps, right, asked_again = 0, 0, 0
    overruled: list[_Overruled] = []
    answered = 0
    for case in cases:
        first = _find_first_answer(case, answers)
        if first is None:
            continue
        answered += 1
        question, answer = first
        was_asked = any(text != question and text.startswith(question) for text in answers)
        asked_again += was_asked
        expected = _list_expected(case)
        for said in answer.get("steps", []):
            number, status = str(said["step"]), said["status"]
            is_right = expected.get(number, frozenset()) and status in expected[number]
            steps += 1
            right += bool(is_right)
            found = _find_step(verdicts[case["id"]], number)
            if found is not None and _differs(status, found["status"]):
                was_right = bool(is_right) if number in expected else None
                cause = _find_cause(verdicts[case["id"]], found)
                change = (number, status, found["status"], cause, was_right, was_asked)
                overruled.append(_Overruled(case["id"], *change))
    wrongly = [each for each in overruled if each.was_right]
    print(f"\nfirst answers: {answered} cases, {steps} steps, {right} right by the label")
    print(f"asked again: {asked_again} of {answered} cases")
    unasked = sum(not each.was_asked for each in wrongly)
    print(f"overruled: {len(overruled)} steps, of which {len(wrongly)} had been right")
    print(f"of these, {unasked} in cases that were not asked again: the score was the same anyway")
    for (cause, was_right), count in Counter((e.cause, e.was_right) for e in overruled).items():
        print(f"  {count:>4}  {'right' if was_right else 'not right':<10} {cause}")
    for each in wrongly:
        print(f"  {each.case} step {each.step}: {each.said} -> {each.found}, {each.cause}")


def _read_answers(folder: Path) -> dict[str, Record]:
    """Return the recorded answers by the text of their question."""
    answers: dict[str, Record] = {}
    for path in sorted((folder / "q").glob("*.json")):
        answer = folder / "a" / path.name
        if answer.is_file():
            body = json.loads(path.read_text("utf-8"))
            answers[_join_text(body)] = json.loads(answer.read_text("utf-8"))
    return answers


def _join_text(body: Record) -> str:
    contents = [m["content"] for m in body["messages"] if m["role"] == "user"]
    return "\n".join(
        content if isinstance(content, str) else "\n".join(part["text"] for part in content)
        for content in contents
    )


def _find_first_answer(case: Record, answers: Mapping[str, Record]) -> tuple[str, Record] | None:
    """Return the first question about a case's trace and its answer, if there is only one."""
    try:
        trace = read_trace(Source.from_value(case["execution_trace"]))
    except PlanproofError:
        return None
    judge = Audit(Vocabulary(), UnopenedModel("x"), ModelOptions())
    task, plan = Content(case["user_task"] or ""), parse_plan(case["agent_plan"])
    _, *windows = judge.questions(task, plan, trace)
    text = "\n".join(part for part in windows[0].parts if isinstance(part, str))
    return (text, answers[text]) if len(windows) == 1 and text in answers else None


def _list_expected(case: Record) -> dict[str, frozenset[str]]:
    """Return the right statuses of each step, as far as the label says."""
    label = case["label"]
    if "scores" in label:
        annotated: dict[str, list[str]] = label.get("steps") or {}
        return {
            number: frozenset("executed" if s == "out_of_order" else s for s in statuses)
            for number, statuses in annotated.items()
        }
    done = frozenset({"executed"})
    expected = {str(number): done for number in range(1, len(case["agent_plan"]) + 1)}
    if label["kind"] in ("missing", "altered", "partial"):
        expected[str(label["step"])] = _NOT_DONE
    return expected


def _find_step(verdict: Record, number: str) -> Record | None:
    return next((step for step in verdict.get("steps", []) if step["number"] == number), None)


def _differs(said: str, found: str) -> bool:
    """Return whether a status was changed; the order is not what a model is asked for."""
    if found == "out_of_order":
        return said not in ("executed", "partial")
    return found != ("executed" if said == "condition_failed" else said)


def _find_cause(verdict: Record, step: Record) -> str:
    """Return why a status was changed: the first rejection, a value, or the model itself."""
    why = [each["why"] for each in verdict.get("rejected", []) if each["step"] == step["number"]]
    values = [c for c in step.get("checks", []) if c["path"] == "value"]
    return why[0] if why else "a value was not found" if values else "by the model itself"


def main() -> None:
    """Select cases, or score verdicts on them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("select", "score"))
    parser.add_argument("split", choices=("train", "hand"))
    parser.add_argument("cases", type=Path)
    parser.add_argument("verdicts", type=Path, nargs="?")
    parser.add_argument("--followed", type=int, default=33)
    parser.add_argument("--flawed", type=int, default=66)
    parser.add_argument("--natural", type=int, default=30)
    parser.add_argument("--answers", type=Path)
    options = parser.parse_args()
    cases = bench.expand_v2(options.split)
    if options.command == "select":
        selected = [*select_cases(cases, options.followed, options.flawed)]
        selected += _load_natural()[: options.natural]
        print(f"{write_cases(options.cases, selected)} cases written to {options.cases}")
        return
    if options.verdicts is None:
        parser.error("score needs the file of verdicts")
    lines = options.verdicts.read_text("utf-8").splitlines()
    verdicts = {verdict["id"]: verdict for verdict in map(json.loads, lines)}
    asked = {json.loads(line)["id"] for line in options.cases.read_text("utf-8").splitlines()}
    constructed = [case for case in cases if case["id"] in asked and case["id"] in verdicts]
    natural = [one for one in _load_natural() if one["id"] in asked and one["id"] in verdicts]
    print_figures(constructed, natural, verdicts)
    if options.answers:
        print_overruled([*constructed, *natural], verdicts, options.answers)


if __name__ == "__main__":
    main()
