"""Format the figures of `scripts.quality` as Markdown, and write them into the docs.

The table between `<!-- figures NAME -->` and `<!-- end of figures -->` is replaced by the table of
that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.doc_blocks import ROOT, list_pages

_MARKED_TABLE = re.compile(
    r"^(<!-- figures ([\w-]+) -->\n).*?^(<!-- end of figures -->)$", re.DOTALL | re.MULTILINE
)
_SPLIT_FIGURES = {
    "passed": ("pass_clean", "followed plans that pass (0.75 or more)"),
    "caught": ("catch_flawed", "flawed plans that are caught (0.5 or less)"),
    "false alarms": ("catch_clean", "false alarms: followed plans that score 0.5 or less"),
    "located": ("locate_strictly", "flaws located exactly"),
    "told apart": (
        "told_apart",
        (
            "**pairs told apart**: the followed plan passes, and the flawed one is caught "
            "and its flaw located"
        ),
    ),
    "below": ("ranked_below_origin", "flawed plans that score below the followed one"),
}
_FLAWS = {
    "missing": "a step that was not done",
    "extra": "an action that no step covers",
    "order": "two steps swapped",
    "altered": "a different value or object",
    "partial": "an added requirement that was not met",
    "shuffled": "the whole plan in a different order",
}
_FIRST_BENCH_FIGURES = {
    "pass_clean": "followed plans that pass (0.75 or more)",
    "catch_flawed": "flawed plans that are caught (0.5 or less)",
    **{f"catch_{flaw}": f"— `{flaw}`: {words}" for flaw, words in _FLAWS.items()},
    "locate_flawed": "flaws named, counting any step of the right kind",
    "locate_strictly": "flaws located exactly",
    "told_apart": "pairs told apart",
}
_NATURAL_FIGURES = {
    "kappa": "natural plans: quadratic kappa with the annotators",
    "step_accuracy": "natural plans: steps with the right status",
}
_DOUBT_COLUMNS = {
    "stands alone": "cases",
    "verdict": "verdicts right",
    "executed": "executed right",
    "deviation": "deviations right",
    "extra": "extras right",
    "tokens saved": "tokens saved",
}


def build_tables(figures: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the measured benches by name, in printing order."""
    table_by_name = {"measured-at": _format_commit(figures)}
    if "v2" in figures:
        val, train = figures["v2"]["val"], figures["v2"]["train"]
        table_by_name |= {
            "summary": _build_summary(figures),
            "val-by-source": _build_group_table(val["by_source"], "source"),
            "train-by-source": _build_group_table(train["by_source"], "source"),
            "train-by-flaw": _build_flaw_table(train["by_flaw"]),
            "train-by-style": _build_group_table(train["by_style"], "plan style"),
            "train-by-wording": _build_group_table(train["by_wording"], "wording"),
            "confidence": _build_confidence_table(figures["v2"]),
            "train-outcomes": _build_outcome_table(train["outcomes"]),
        }
    if "reading" in figures:
        table_by_name |= build_reading_tables(figures["reading"])
    if "first_bench" in figures:
        first = figures["first_bench"]
        table_by_name |= {
            "first-bench": _build_first_bench_table(first["figures"]),
            "first-bench-by-wording": _build_wording_table(first["figures"]["by_wording"]),
            "first-bench-by-reader": _build_reader_table(first["figures"]["by_format"]),
            "checks": _build_checks_table(first),
            "natures": _build_behaviour_table(first["natures"]),
            "doubt": _build_doubt_table(first["doubts"]),
            "monitor": build_markdown_table(
                ["each case cut at every event", ""], first["monitor"].items()
            ),
        }
    return table_by_name


def fill_page(page: str, table_by_name: dict[str, str]) -> str:
    """Return a page with its marked tables replaced, as far as they were measured."""

    def replace_table(match: re.Match[str]) -> str:
        return (
            f"{match[1]}{table_by_name[match[2]]}{match[3]}"
            if match[2] in table_by_name
            else match[0]
        )

    return _MARKED_TABLE.sub(replace_table, page)


def find_table_names(page: str) -> list[str]:
    """Return the names of the tables that a page shows."""
    return [match[2] for match in _MARKED_TABLE.finditer(page)]


def write_pages(table_by_name: dict[str, str]) -> list[Path]:
    """Write the tables into all pages that show them; return the pages that changed."""
    changed: list[Path] = []
    for page in list_pages():
        before = page.read_text(encoding="utf-8")
        if (after := fill_page(before, table_by_name)) != before:
            page.write_text(after, encoding="utf-8")
            changed.append(page.relative_to(ROOT))
    return changed


def build_markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    shown = [[_format_cell(cell) for cell in row] for row in rows]
    lines = [list(header), ["---"] * len(header), *shown]
    return "".join(
        f"|{''.join(f' {cell} |' if cell else ' |' for cell in line)}\n" for line in lines
    )


def _format_cell(cell: object) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def build_reading_tables(by_split: dict[str, dict[str, dict[str, int]]]) -> dict[str, str]:
    """Return the tables about reading, by their names in the docs."""
    return {f"reading-{split}": _build_reading_table(found) for split, found in by_split.items()}


def _build_reading_table(by_source: dict[str, dict[str, int]]) -> str:
    """Return how many labelled actions of each source have their event, and how it was read."""
    header = ["source", "traces", "read well", "actions", "found", "share"]
    return build_markdown_table(
        [*header, "labelled calls", "read as calls", "tools named", "right name", "calls read"],
        (
            [
                f"**{source}**" if source == "all" else source,
                row["traces"],
                row["read_well"],
                row["actions"],
                row["found"],
                row["found"] / max(row["actions"], 1),
                row["labelled"],
                row["as_calls"],
                row["named"],
                row["right_name"],
                row["calls"],
            ]
            for source, row in by_source.items()
        ),
    )


def _format_commit(figures: dict[str, Any]) -> str:
    more = " with uncommitted changes" if figures["uncommitted"] else ""
    return f"Measured at commit `{figures['commit']}`{more} ({figures['date']}).\n"


def _build_summary(figures: dict[str, Any]) -> str:
    """Return a table with a column for each set: never read, open, tuned on."""
    columns = {
        "`val` (never inspected)": figures["v2"]["val"]["overall"],
        "`train` (inspected)": figures["v2"]["train"]["overall"],
    }
    if "first_bench" in figures:
        columns["first benchmark (used for tuning)"] = figures["first_bench"]["figures"]["overall"]
    rows = [
        [words, *(column[name] for column in columns.values())]
        for name, words in _SPLIT_FIGURES.values()
    ]
    rows.append(["cases", *(column["cases"] for column in columns.values())])
    unscored = (f"{column['unscored']:,}" for column in columns.values())
    rows.append(["cases without a score: they neither pass nor are caught", *unscored])
    return build_markdown_table(["", *columns], rows)


def _build_group_table(groups: dict[str, dict[str, Any]], title: str) -> str:
    header = [title, "cases", *_SPLIT_FIGURES, "without a score"]
    return build_markdown_table(
        header,
        [
            [
                name,
                figures["cases"],
                *(figures[key] for key, _ in _SPLIT_FIGURES.values()),
                figures["unscored"],
            ]
            for name, figures in groups.items()
        ],
    )


def _build_confidence_table(splits: dict[str, Any]) -> str:
    """Return a table of how well the confidence of reported findings predicts the right ones."""
    columns = ("number", "right", "calibration_error", "sure", "right_of_sure", "auroc")
    header = ["findings", "number", "right", "calibration error", "0.9 or more", "of these right"]
    return build_markdown_table(
        [*header, "AUROC"],
        [
            [f"{name}, `{split}`", *(figures[column] for column in columns)]
            for split in ("val", "train")
            for name, figures in splits[split]["confidence"].items()
        ],
    )


def _build_flaw_table(groups: dict[str, dict[str, Any]]) -> str:
    names = ("caught", "located", "told apart", "below")
    return build_markdown_table(
        ["flaw", *names],
        [
            [
                f"`{kind}`: {_FLAWS.get(kind, kind)}",
                *(figures[_SPLIT_FIGURES[name][0]] for name in names),
            ]
            for kind, figures in groups.items()
        ],
    )


def _build_outcome_table(outcomes: dict[str, int]) -> str:
    return build_markdown_table(
        ["outcome", "cases"], [[f"`{name}`", count] for name, count in outcomes.items()]
    )


def _build_first_bench_table(figures: dict[str, Any]) -> str:
    rows = [
        [words, figures[part][name]]
        for part, names in (("constructed", _FIRST_BENCH_FIGURES), ("natural", _NATURAL_FIGURES))
        for name, words in names.items()
    ]
    rows.append(["cases without a score", str(figures["overall"]["unscored"])])
    return build_markdown_table(["figure", "first benchmark"], rows)


def _build_wording_table(groups: dict[str, Sequence[float | None]]) -> str:
    rows = [[f"`{name}`", *both] for name, both in groups.items()]
    return build_markdown_table(["", "faithful", "paraphrase"], rows)


def _build_reader_table(groups: dict[str, dict[str, Any]]) -> str:
    figures = ("cases", "pass_clean", "catch_flawed", "locate_strictly", "step_accuracy")
    rows = [
        [name, *(group.get(figure, "") for figure in figures)] for name, group in groups.items()
    ]
    return build_markdown_table(["", "cases", "passed", "caught", "located", "step accuracy"], rows)


def _build_checks_table(first: dict[str, Any]) -> str:
    proof = first["proof"]
    rows = [
        [f"flawed cases whose score rose: {name}", f"{raised} of {tried}"]
        for name, (raised, tried) in first["claims"].items()
    ]
    for key, words in (
        ("accepted", "verdicts that `planproof verify` accepts"),
        ("alike", "cases with the same verdict after converting the trace to the native format"),
    ):
        rows.append([words, f"{proof[key]} of {proof['verdicts']}"])
    return build_markdown_table(["first benchmark", ""], rows)


def _build_behaviour_table(behaviours: dict[str, dict[str, Any]]) -> str:
    names = ("clean passed", "flawed passed", "mean score")
    rows = [
        [f"`{behaviour}`", *(figures[name] for name in names)]
        for behaviour, figures in behaviours.items()
    ]
    header = ["model", "followed plans that pass", "flawed plans that pass", "mean score"]
    return build_markdown_table(header, rows)


def _build_doubt_table(levels: dict[str, dict[str, Any]]) -> str:
    rows = [
        [level, *(figures[name] for name in _DOUBT_COLUMNS)] for level, figures in levels.items()
    ]
    return build_markdown_table(["doubt at most", *_DOUBT_COLUMNS.values()], rows)
