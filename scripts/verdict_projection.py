"""Record what `rules` decides on fixed cases, and check that a change of code decides the same.

Cases: `goldens` (tests/goldens, examples and docs/examples, with plans of their own, declared ones
and derived ones), and where the bench is ($PLANPROOF_BENCH, by default ../shared/bench) `bench`
(its first files) and `train` (that split of its second part; no other split is ever read).

tests/projection has one line per case: a digest of outcome, score, statuses, evidence, covered
events, extras and confidence, and the id. The text behind the digests stays in .projection, which
is not committed; `check` keeps it up to date for every case that is still as recorded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from scripts import bench
from scripts.doc_blocks import ROOT
from scripts.golden_cases import generate_golden_cases
from scripts.parallel_verdicts import Projection, Record, judge_all

_EXAMPLES = """examples:
  python -m scripts.verdict_projection check                 compare all cases that are there
  python -m scripts.verdict_projection check --set goldens   only those of this repository
  python -m scripts.verdict_projection check --diff          also show how changed verdicts differ
  python -m scripts.verdict_projection check --diff ID ...   of these cases only
  python -m scripts.verdict_projection record                accept the verdicts as they are now

exit code: 0 as recorded, 1 verdicts changed, 2 bad usage"""
_MAX_SHOWN = 20
_DIGEST_DIGITS = 12


class CaseSet(NamedTuple):
    """A set of cases: whether it is on this machine, and how to read it for a checkout."""

    is_here: Callable[[], bool]
    read: Callable[[Path], Iterable[Record]]


def _read_first_bench(_: Path) -> Iterable[Record]:
    return (line for name in bench.FILES for line in bench.read_records(name))


def _read_train(_: Path) -> Iterable[Record]:
    return bench.load_v2_cases("train")


SETS = {
    "goldens": CaseSet(lambda: True, generate_golden_cases),
    "bench": CaseSet(bench.has_first_bench, _read_first_bench),
    "train": CaseSet(bench.has_second_bench, _read_train),
}


class ProjectionStore(NamedTuple):
    """The digests of a checkout (committed) and the texts behind them (not committed)."""

    root: Path

    def load_digests(self, name: str) -> dict[str, str]:
        """Return the recorded digest of every case of a set by its id."""
        file = self._digests_file(name)
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        return {id_: digest for digest, id_ in (line.split(" ", 1) for line in lines)}

    def save(self, name: str, texts: dict[str, str]) -> None:
        """Write the digests of a set, and its texts."""
        lines = [f"{compute_digest(text)} {id_}\n" for id_, text in sorted(texts.items())]
        _write_atomically(self._digests_file(name), lines)
        self.save_texts(name, texts)

    def load_texts(self, name: str) -> dict[str, str]:
        """Return the stored texts of a set, by id."""
        file = self._texts_file(name)
        if not file.is_file():
            return {}
        with file.open(encoding="utf-8") as lines:
            return dict(json.loads(line) for line in lines)

    def save_texts(self, name: str, texts: dict[str, str]) -> None:
        """Write the texts of a set."""
        _write_atomically(
            self._texts_file(name), (json.dumps(pair) + "\n" for pair in sorted(texts.items()))
        )

    def _digests_file(self, name: str) -> Path:
        return self.root / "tests" / "projection" / f"{name}.txt"

    def _texts_file(self, name: str) -> Path:
        return self.root / ".projection" / f"{name}.jsonl"


class ProjectionComparison(NamedTuple):
    """The current verdicts on a set compared with the recorded ones, ids in order."""

    texts: dict[str, str]
    recorded_texts: dict[str, str]
    """The recorded texts that are on this machine."""
    changed: list[str]
    new: list[str]
    gone: list[str]

    @property
    def differing(self) -> list[str]:
        """Return the ids of all cases that differ from the record."""
        return [*self.changed, *self.new, *self.gone]


def main(arguments: list[str] | None = None, *, root: Path = ROOT) -> int:
    """Record or check the verdicts for a checkout; return the exit code."""
    options = _make_parser().parse_args(arguments)
    store, failed = ProjectionStore(root), False
    for name in options.set or SETS:
        if not SETS[name].is_here():
            print(f"{name}: skipped, not on this machine (PLANPROOF_BENCH names its folder)")
            continue
        verdicts = judge_all(SETS[name].read(root), jobs=options.jobs)
        texts = {id_: serialize_projection(verdict) for id_, verdict in verdicts.items()}
        if options.command == "record":
            store.save(name, texts)
            print(f"{name}: {len(texts):,} cases recorded")
            continue
        comparison = compare_projections(name, texts, store)
        failed |= bool(comparison.differing)
        _print_comparison(name, comparison)
        if options.diff is not None:
            _print_differences(comparison, options.diff)
    if failed:
        print(_describe_next_step(diff=options.diff is not None))
    return int(failed)


def serialize_projection(projection: Projection) -> str:
    """Return a projection as text: the same on every machine, Python and hash seed."""
    return json.dumps(projection, sort_keys=True, separators=(",", ":"))


def compute_digest(text: str) -> str:
    """Return the short digest that is recorded."""
    return sha256(text.encode()).hexdigest()[:_DIGEST_DIGITS]


def compare_projections(
    name: str, texts: dict[str, str], store: ProjectionStore
) -> ProjectionComparison:
    """Compare the texts of a set with the recorded digests, and store the texts that are equal."""
    recorded = store.load_digests(name)
    same = {id_: text for id_, text in texts.items() if compute_digest(text) == recorded.get(id_)}
    earlier = store.load_texts(name)
    known = {
        id_: text for id_, text in earlier.items() if compute_digest(text) == recorded.get(id_)
    }
    known |= same
    if known != earlier:
        store.save_texts(name, known)
    return ProjectionComparison(
        texts,
        known,
        changed=sorted(texts.keys() & recorded.keys() - same.keys()),
        new=sorted(texts.keys() - recorded.keys()),
        gone=sorted(recorded.keys() - texts.keys()),
    )


def diff_texts(id_: str, before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff between two texts of a case."""
    old, new = (json.dumps(json.loads(text), indent=1).split("\n") for text in (before, after))
    return unified_diff(old, new, f"{id_} (recorded)", f"{id_} (now)", lineterm="")


def _print_comparison(name: str, comparison: ProjectionComparison) -> None:
    if not comparison.differing:
        print(f"{name}: {len(comparison.texts):,} cases as recorded")
        return
    counts = {"changed": comparison.changed, "new": comparison.new, "gone": comparison.gone}
    summary = ", ".join(f"{len(ids):,} {what}" for what, ids in counts.items() if ids)
    print(f"{name}: {len(comparison.texts):,} cases, {summary}")
    changes = {id_: _describe_score_change(id_, comparison) for id_ in comparison.changed}
    for what, ids in counts.items():
        for id_ in ids[:_MAX_SHOWN]:
            print(f"  {what:8}{id_}  {changes.get(id_, '')}".rstrip())
        if len(ids) > _MAX_SHOWN:
            print(f"  ... and {len(ids) - _MAX_SHOWN:,} more {what}")
    if len(changes) > _MAX_SHOWN:
        for change, count in Counter(changes.values()).most_common(_MAX_SHOWN):
            print(f"  {count:5,} x {change}")


def _describe_score_change(id_: str, comparison: ProjectionComparison) -> str:
    """Return outcome and score before and after, if the recorded text is on this machine."""
    if id_ not in comparison.recorded_texts:
        return "recorded text is not here"
    before, after = (
        _describe_decision(texts[id_]) for texts in (comparison.recorded_texts, comparison.texts)
    )
    return f"{before} -> {after}" if before != after else "same score"


def _describe_decision(text: str) -> str:
    verdict: dict[str, Any] = json.loads(text)
    return verdict["outcome"] if verdict["score"] is None else str(verdict["score"])


def _print_differences(comparison: ProjectionComparison, ids: list[str]) -> None:
    for id_ in comparison.changed:
        if ids and id_ not in ids:
            continue
        if id_ in comparison.recorded_texts:
            print("\n".join(diff_texts(id_, comparison.recorded_texts[id_], comparison.texts[id_])))
        else:
            print(f"--- {id_}: the recorded text is not on this machine")


def _describe_next_step(*, diff: bool) -> str:
    look = (
        "Where a recorded text is missing, run `check` once on the commit that recorded it."
        if diff
        else "See how they differ: python -m scripts.verdict_projection check --diff"
    )
    return (
        f"Verdicts differ from those recorded in tests/projection.\n{look}\n"
        "If that is a fault, fix it. If it is meant, run `make projection-record`, commit the "
        "files\nwith the change, and say in the commit message which verdicts changed and why."
    )


def _write_atomically(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as out:
        out.writelines(lines)
    partial.replace(file)


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.verdict_projection",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="write the digests of the current verdicts")
    check = commands.add_parser("check", help="compare the verdicts with the recorded digests")
    for command in (record, check):
        command.add_argument(
            "--set", action="append", choices=list(SETS), help="only this set (may be repeated)"
        )
        command.add_argument("--jobs", type=int, metavar="N", help="processes (all cores)")
    check.add_argument(
        "--diff", nargs="*", metavar="ID", help="show the diff of changed verdicts (of these cases)"
    )
    record.set_defaults(diff=None)
    return parser


if __name__ == "__main__":
    sys.exit(main())
