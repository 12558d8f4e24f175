"""The page of a calibration: its figures, and the variants behind each of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from planproof.calibration.case_labels import Label
from planproof.calibration.figures import Figures, compute_figures
from planproof.calibration.followed_cases import load_built_in_cases
from planproof.calibration.measurement import measure
from planproof.calibration.variant import Flaw
from planproof.calibration.variant_set import generate_variants
from planproof.checking.rules import Rules
from planproof.evaluation import ReadOptions
from planproof.reports.html.calibration_page import CalibrationData, build_calibration_data
from planproof.reports.html.report_page import render_calibration_page
from planproof.runs.engines.case_judging import CaseEvaluator
from tests.unit.calibration_rows import ROWS, row


@pytest.fixture(scope="module")
def figures() -> Figures:
    return compute_figures(
        measure(generate_variants(load_built_in_cases()[:4]), CaseEvaluator(Rules()), concurrency=1)
    )


def count_keys(data: CalibrationData) -> Counter[str]:
    rows: Any = data.table["rows"]
    return Counter(key for row in rows for key in row[8])


def test_behind_every_figure_are_as_many_variants_as_it_says(figures: Figures) -> None:
    data = build_calibration_data("rules", figures, secrets=False)
    found = count_keys(data)
    lines = (*data.passed, *data.flaws, *data.attacks)
    for line in lines:
        for cell in line.cells:
            assert found[cell.key] == cell.failure_count
            assert found[line.key] == cell.of
    assert sum(cell.failure_count for line in lines for cell in line.cells) > 0
    assert {line.key for line in lines} == {key for key in found if " " not in key}


def test_every_variant_opens_with_what_was_made_of_it(figures: Figures) -> None:
    page = "".join(render_calibration_page("rules", figures, ReadOptions()))
    assert page.count('<script type="application/json" id="case-') == len(figures.rows)
    assert "flight-change, altered (step 3: TP762 became TP722) with claims" in page


def test_of_repeats_the_worst_is_shown() -> None:
    # What fails the first time, and the second time has a score and nothing else.
    again = [row("c", 0.5, repeat=1), row("c", 0.5, Flaw.MISSING, repeat=1)]
    label = Label(True, 1.0)
    rows = [row("a", 1.0, label=label), *ROWS[1:], row("a", 0.25, repeat=1, label=label), *again]
    data = build_calibration_data("x", compute_figures(rows), secrets=False)
    shown: Any = data.table["rows"]
    (first,) = (each for each in shown if each[1] == "a" and each[2] == "unchanged")
    assert first[3:9] == [
        "1.0 0.25",
        0.25,
        "1.0 label",
        ["failed"],
        [],
        ["followed", "labelled", "followed passed", "labelled passed"],
    ]
    (fooled,) = (each for each in shown if each[1] == "a" and each[2] == "missing with claims")
    assert fooled[3:8] == ["1.0", 1.0, "0.5 without attack", ["fooled"], []]
    (failed,) = (each for each in shown if each[1] == "c" and each[2] == "missing")
    assert failed[3:7] == [
        "– 0.5",
        None,
        "0.5 original",
        ["not caught", "not located", "not below"],
    ]
    assert "same score in every repeat: 77%, mean spread 0.06" in data.facts


def test_text_of_cases_and_names_of_judges_are_shown_as_text(figures: Figures) -> None:
    page = "".join(
        render_calibration_page("</title><script>alert(1)</script>", figures, ReadOptions())
    )
    assert "<script>alert" not in page
    hostile = compute_figures([row("<img src=x onerror=alert(1)>", 1.0)])
    assert "<img" not in "".join(render_calibration_page("x", hostile, ReadOptions()))
