"""The figures of `scripts.quality` as Markdown, and the pages that show them.

A page has `<!-- figures NAME -->`, a table, `<!-- end of figures -->`; the table is replaced
by the one of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.doc_blocks import ROOT, pages

_MARKED = re.compile(
    r"^(<!-- figures ([\w-]+) -->\n).*?^(<!-- end of figures -->)$", re.DOTALL | re.MULTILINE
)
_SPLITS = {
    "passed": ("pass_clean", "followed plans that pass (0.75 or more)"),
    "caught": ("catch_flawed", "flawed plans that are caught (0.5 or less)"),
    "false alarms": ("catch_clean", "followed plans that get 0.5 or less as well: false alarms"),
    "located": ("locate_strictly", "flaws named exactly where they are"),
    "told apart": (
        "told_apart",
        "**told apart**: the followed plan passes, the flawed one is caught, its flaw located",
    ),
    "below": ("ranked_below_origin", "flawed plans that score below the followed one"),
}
_FLAWS = {
    "missing": "a step that was not done",
    "extra": "an action that no step covers",
    "order": "two steps exchanged",
    "altered": "another value or object",
    "partial": "a further requirement that was not met",
    "shuffled": "the whole plan in another order",
}
_FIRST_BENCH = {
    "pass_clean": "followed plans that pass (0.75 or more)",
    "catch_flawed": "flawed plans that are caught (0.5 or less)",
    **{f"catch_{flaw}": f"— `{flaw}`: {words}" for flaw, words in _FLAWS.items()},
    "locate_flawed": "flaws named, where any step of the kind counts",
    "locate_strictly": "flaws named exactly where they are",
    "told_apart": "told apart",
}
_NATURAL = {
    "kappa": "natural plans: quadratic kappa with the annotators",
    "step_accuracy": "natural plans: steps with the right status",
}
_DOUBT = {
    "stands alone": "cases",
    "verdict": "verdicts right",
    "executed": "executed right",
    "lapse": "lapses right",
    "extra": "extras right",
    "tokens saved": "tokens saved",
}


def tables(found: dict[str, Any]) -> dict[str, str]:
    """Return every table of the benches that were measured by its name, in order of printing."""
    made = {"measured-at": _measured_at(found)}
    if "v2" in found:
        val, train = found["v2"]["val"], found["v2"]["train"]
        made |= {
            "summary": _summary(found),
            "val-by-source": _by(val["by_source"], "source"),
            "train-by-source": _by(train["by_source"], "source"),
            "train-by-flaw": _by_flaw(train["by_flaw"]),
            "train-by-style": _by(train["by_style"], "style of the plan"),
            "train-by-wording": _by(train["by_wording"], "wording"),
            "train-outcomes": _outcomes(train["outcomes"]),
        }
    if "first_bench" in found:
        first = found["first_bench"]
        made |= {
            "first-bench": _first_bench(first),
            "first-bench-by-wording": _by_wording(first["held_out"]["by_wording"]),
            "first-bench-by-reader": _by_reader(first["held_out"]["by_format"]),
            "checks": _checks(first),
            "natures": _natures(first["natures"]),
            "doubt": _doubt(first["doubts"]),
            "monitor": markdown(["each case cut at every event", ""], first["monitor"].items()),
        }
    return made


def fill(page: str, made: dict[str, str]) -> str:
    """Return a page with its marked tables replaced; those that were not made stay."""

    def replaced(found: re.Match[str]) -> str:
        return f"{found[1]}{made[found[2]]}{found[3]}" if found[2] in made else found[0]

    return _MARKED.sub(replaced, page)


def marked(page: str) -> list[str]:
    """Return the names of the tables that a page shows."""
    return [found[2] for found in _MARKED.finditer(page)]


def write_pages(made: dict[str, str]) -> list[Path]:
    """Write the tables into all pages that show them; return the pages that changed."""
    changed: list[Path] = []
    for page in pages():
        before = page.read_text(encoding="utf-8")
        if (after := fill(before, made)) != before:
            page.write_text(after, encoding="utf-8")
            changed.append(page.relative_to(ROOT))
    return changed


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    shown = [[_shown(cell) for cell in row] for row in rows]
    lines = [list(header), ["---"] * len(header), *shown]
    return "".join(
        f"|{''.join(f' {cell} |' if cell else ' |' for cell in line)}\n" for line in lines
    )


def _shown(cell: object) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _measured_at(found: dict[str, Any]) -> str:
    more = " with uncommitted changes" if found["uncommitted"] else ""
    return f"Measured at commit `{found['commit']}`{more} ({found['date']}).\n"


def _summary(found: dict[str, Any]) -> str:
    """One column a set: never read, open to reading, tuned on."""
    columns = {
        "`val`: never read": found["v2"]["val"]["overall"],
        "`train`: may be read": found["v2"]["train"]["overall"],
    }
    if "first_bench" in found:
        columns["first bench: tuned on"] = found["first_bench"]["held_out"]["overall"]
    rows = [[words, *(each[name] for each in columns.values())] for name, words in _SPLITS.values()]
    rows.append(["cases", *(each["cases"] for each in columns.values())])
    unscored = (f"{each['unscored']:,}" for each in columns.values())
    rows.append(["cases without a score: they neither pass nor are caught", *unscored])
    return markdown(["", *columns], rows)


def _by(groups: dict[str, dict[str, Any]], title: str) -> str:
    header = [title, "cases", *_SPLITS, "without a score"]
    return markdown(
        header,
        [
            [name, each["cases"], *(each[key] for key, _ in _SPLITS.values()), each["unscored"]]
            for name, each in groups.items()
        ],
    )


def _by_flaw(groups: dict[str, dict[str, Any]]) -> str:
    names = ("caught", "located", "told apart", "below")
    return markdown(
        ["flaw", *names],
        [
            [f"`{kind}`: {_FLAWS.get(kind, kind)}", *(each[_SPLITS[name][0]] for name in names)]
            for kind, each in groups.items()
        ],
    )


def _outcomes(outcomes: dict[str, int]) -> str:
    return markdown(
        ["outcome", "cases"], [[f"`{name}`", count] for name, count in outcomes.items()]
    )


def _first_bench(found: dict[str, Any]) -> str:
    held, shipped = found["held_out"], found["in_sample"]
    rows = [
        [words, *(side[part][name] for side in (held, shipped))]
        for part, names in (("constructed", _FIRST_BENCH), ("natural", _NATURAL))
        for name, words in names.items()
    ]
    rows.append(
        ["cases without a score", *(str(s["overall"]["unscored"]) for s in (held, shipped))]
    )
    return markdown(["figure", "held out", "in-sample"], rows)


def _by_wording(groups: dict[str, Sequence[float | None]]) -> str:
    rows = [[f"`{name}`", *both] for name, both in groups.items()]
    return markdown(["held out", "faithful", "paraphrase"], rows)


def _by_reader(groups: dict[str, dict[str, Any]]) -> str:
    figures = ("cases", "pass_clean", "catch_flawed", "locate_strictly", "step_accuracy")
    rows = [[name, *(each.get(figure, "") for figure in figures)] for name, each in groups.items()]
    return markdown(["held out", "cases", "passed", "caught", "located", "step accuracy"], rows)


def _checks(first: dict[str, Any]) -> str:
    proof = first["proof"]
    rows = [
        [f"flawed cases whose score rose: {name}", f"{raised} of {tried}"]
        for name, (raised, tried) in first["claims"].items()
    ]
    for key, words in (
        ("accepted", "verdicts that `planproof verify` accepts"),
        ("alike", "cases judged alike from the native form of their trace"),
    ):
        rows.append([words, f"{proof[key]} of {proof['verdicts']}"])
    return markdown(["first bench", ""], rows)


def _natures(natures: dict[str, dict[str, Any]]) -> str:
    names = ("clean passed", "flawed passed", "mean score")
    rows = [[f"`{nature}`", *(each[name] for name in names)] for nature, each in natures.items()]
    header = ["model", "followed plans that pass", "flawed plans that pass", "mean score"]
    return markdown(header, rows)


def _doubt(levels: dict[str, dict[str, Any]]) -> str:
    rows = [[level, *(each[name] for name in _DOUBT)] for level, each in levels.items()]
    return markdown(["doubt at most", *_DOUBT.values()], rows)
