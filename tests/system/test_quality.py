"""`make quality`: figures of the second bench, and the pages that show them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts import bench, quality, quality_tables, reading_quality
from scripts.doc_blocks import ROOT, list_pages
from scripts.labelled_calls import find_labelled_call
from scripts.parallel_verdicts import judge_all
from scripts.quality_tables import build_tables, fill_page, find_table_names
from scripts.reliability import Rated, measure_reliability
from scripts.v2_quality import compute_split_figures, measure_split
from tests.small_bench import v2_case, write_bench

UNREADABLE: dict[str, Any] = {**v2_case("t2", "missing", source="c/d"), "execution_trace": []}


@pytest.fixture
def small_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cases = [
        v2_case("t1", "faithful"),
        v2_case("t1", "missing"),
        v2_case("t2", "faithful", source="c/d"),
        UNREADABLE,
        v2_case("secret", "faithful", "val"),
        v2_case("secret", "missing", "val"),
        v2_case("kept", "faithful", "hand"),
    ]
    monkeypatch.setenv("PLANPROOF_BENCH", str(write_bench(tmp_path, cases)))
    return tmp_path


def test_a_split_has_totals_and_figures_by_source(small_bench: Path) -> None:
    found = measure_split("train", jobs=1)
    assert found["overall"] == {
        "cases": 4,
        "followed": 2,
        "unscored": 1,
        "pass_clean": 1.0,
        "catch_flawed": 0.5,
        "locate_strictly": 0.5,
        "told_apart": 0.0,
        "ranked_below_origin": 0.0,
        "catch_clean": 0.0,
    }
    assert {name: each["unscored"] for name, each in found["by_source"].items()} == {
        "a/b": 0,
        "c/d": 1,
    }
    assert found["outcomes"] == {"scored": 3, "no_events": 1}
    assert found["by_flaw"].keys() == {"missing"}
    assert found["by_style"].keys() == {"terse"}


def test_a_case_without_a_score_improves_no_figure(small_bench: Path) -> None:
    cases = [v2_case("t1", "faithful"), v2_case("t1", "missing")]
    before = judge_all(cases, jobs=1)
    after: dict[str, Any] = {
        id_: {**verdict, "score": None, "steps": []} for id_, verdict in before.items()
    }
    scored, unscored = compute_split_figures(cases, before), compute_split_figures(cases, after)
    assert unscored["unscored"] == 2
    for name in ("pass_clean", "catch_flawed", "locate_strictly", "told_apart"):
        assert unscored[name] <= scored[name]
    assert unscored["pass_clean"] == unscored["catch_flawed"] == 0


def test_of_val_nothing_but_totals_and_sources_is_kept(small_bench: Path) -> None:
    found = measure_split("val", jobs=1)
    assert found.keys() == {"overall", "by_source", "confidence"}
    assert "secret" not in json.dumps(found)


def test_confidence_is_compared_with_the_findings_that_are_right(small_bench: Path) -> None:
    found = measure_split("train", jobs=1)["confidence"]
    # Two steps of two plans that were followed and of one with a step more, which is missing.
    assert (found["executed"]["number"], found["executed"]["right"]) == (6, 1.0)
    assert (found["not executed"]["number"], found["not executed"]["right"]) == (1, 1.0)
    assert (found["extra"]["number"], found["all"]["number"]) == (0, 7)


def test_confidence_that_says_how_many_are_right_has_no_calibration_error() -> None:
    half, most = [Rated(0.5, True), Rated(0.5, False)], [Rated(0.9, k > 0) for k in range(10)]
    found = measure_reliability([*half, *most])
    assert found.calibration_error == pytest.approx(0)
    assert (found.number, found.sure, found.right_of_sure) == (12, 10, pytest.approx(0.9))
    # Of the 20 pairs of a right and a wrong one, 9 are in this order and 10 are level.
    assert found.auroc == pytest.approx((9 + 10 / 2) / 20)
    sure = measure_reliability([Rated(1.0, is_right=False), Rated(0.0, is_right=True)])
    assert (sure.calibration_error, sure.auroc) == (1, 0)
    weighted = measure_reliability([Rated(0.8, is_right=True, times=4), Rated(0.8, is_right=False)])
    assert (weighted.calibration_error, weighted.right) == (pytest.approx(0), 0.8)


def test_reading_counts_the_actions_that_have_their_event(small_bench: Path) -> None:
    found = reading_quality.summarize_by_source(reading_quality.measure_split("train"))
    assert found["a/b"] == {
        "traces": 2,
        "read_well": 2,
        "actions": 4,
        "found": 4,
        "calls": 4,
        "labelled": 4,
        "as_calls": 4,
        "named": 4,
        "right_name": 4,
        "not_understood": 0,
    }
    assert found["c/d"]["found"] == 2  # one of its traces is empty
    assert found["all"]["read_well"] == 3


def test_an_action_needs_an_event_of_its_own_in_order(small_bench: Path) -> None:
    (record, *_) = bench.load_v2_traces("train")
    for anchors, found in (
        (["refund_order", "get_order"], 1),
        (["get_order", "get_order"], 1),
        (["get_order", "missing"], 1),
    ):
        assert reading_quality.measure_trace({**record, "anchors": anchors}).found == found


@pytest.mark.parametrize(
    ("action", "anchor", "tool"),
    [
        ("Looks the order up", '"name": "get_order", "arguments"', "get_order"),
        ("get_order A-7", '{"order": "A-7"}', "get_order"),
        ("Clicks the button", "Action: Click [5]", "Click"),
        ("Lists the teams", "Action: Get Teams", "Get Teams"),
        ("Counts the rows", "SELECT COUNT(*) FROM orders", None),
        ("Runs the tests", "4 passed", None),
        ("writer writes", "write_file({'path'", "write_file"),
    ],
)
def test_labelled_actions_that_are_calls(action: str, anchor: str, tool: str | None) -> None:
    call = find_labelled_call(action, anchor)
    assert call is not None
    assert call.tool == tool


@pytest.mark.parametrize(
    ("action", "anchor"),
    [
        ("Answers the user", "The order is refunded."),
        ("Thinks about it", "Action: think[it is cheap]"),
        ("Finishes", "Action 3: Finish[yes]"),
        ("news_agent writes a summary", "Here is the summary"),
        ("The code is executed", ">>>>>>>> EXECUTING CODE BLOCK 0"),
    ],
)
def test_labelled_actions_that_are_no_calls(action: str, anchor: str) -> None:
    assert find_labelled_call(action, anchor) is None


def test_a_call_counts_only_as_a_call_and_under_its_name(small_bench: Path) -> None:
    (record, *_) = bench.load_v2_traces("train")
    labels = {
        "actions": ["get_order A-1042", "pay A-1042", "refund_order A-1042"],
        "anchors": ["A-1042", "Action: pay[A-1042]", "A-1042"],
    }
    called = reading_quality.measure_trace({**record, **labels}).called
    assert called[:4] == (3, 2, 3, 2)
    renamed = {**labels, "actions": ["find_order A-1042", *labels["actions"][1:]]}
    called = reading_quality.measure_trace({**record, **renamed}).called
    assert called[:4] == (3, 2, 3, 1)
    assert called.first_wrong.startswith("find_order as 'get_order'")


def test_hand_is_never_scored(small_bench: Path) -> None:
    with pytest.raises(ValueError, match="only val and train are scored"):
        bench.load_v2_cases("hand")
    (found,) = quality.measure_benches("v2", 1)
    assert found["v2"].keys() == {"val", "train"}
    assert set((small_bench / "v2/asked.txt").read_text().split()) == {"val", "train"}


def test_val_is_printed_first_and_figures_are_kept(
    small_bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    quality.main(["--only", "v2", "--jobs", "1", "--json", str(file)])
    printed = capsys.readouterr().out
    assert printed.index("| `val` (never inspected) | `train` (inspected) |") < printed.index("c/d")
    assert "secret" not in printed + file.read_text()
    assert "| cases without a score: they neither pass nor are caught | 0 | 1 |" in printed
    quality.main(["--from", str(file)])
    assert capsys.readouterr().out == printed


def test_docs_are_never_written_from_half_of_the_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        quality.main(["--only", "v2", "--write-docs"])
    assert "leave out --only" in capsys.readouterr().err


def _everything() -> dict[str, Any]:
    """Figures of both benches, all of them 0.25 or 4."""
    split = dict.fromkeys(
        (
            "pass_clean",
            "catch_clean",
            "catch_flawed",
            "locate_strictly",
            "told_apart",
            "ranked_below_origin",
        ),
        0.25,
    ) | {"cases": 4, "unscored": 4}
    every = dict.fromkeys(("overall", "by_source", "by_flaw", "by_style", "by_wording"))
    train = {**every, "overall": split, "outcomes": {"scored": 4}}
    train |= {name: {"missing": split} for name in every if name != "overall"}
    train["confidence"] = {"executed": measure_reliability([])._asdict()}
    names = ("missing", "extra", "order", "altered", "partial", "shuffled", "flawed")
    constructed = split | {"locate_flawed": 0.25} | {f"catch_{name}": 0.25 for name in names}
    side = {
        "overall": split,
        "constructed": constructed,
        "natural": {"kappa": 0.25, "step_accuracy": None},
        "by_wording": {"pass_clean": [0.25, None]},
        "by_format": {"natural, codex": {"cases": 4, "step_accuracy": 0.25}},
    }
    doubt = dict.fromkeys(
        ("stands alone", "verdict", "executed", "deviation", "extra", "tokens saved"), 0.25
    )
    return {
        "commit": "abc1234",
        "date": "2026-11-17",
        "uncommitted": False,
        "reading": {
            name: {
                "all": dict.fromkeys(
                    "traces read_well actions found calls labelled as_calls named right_name "
                    "not_understood".split(),
                    4,
                )
            }
            for name in ("val", "train")
        },
        "v2": {"val": train, "train": train},
        "first_bench": {
            "figures": side,
            "doubts": {"0.03": doubt},
            "natures": {
                "honest": dict.fromkeys(("clean passed", "flawed passed", "mean score"), 0.25)
            },
            "claims": {"instructions inside tool outputs": [0, 4]},
            "proof": {"accepted": 4, "alike": 4, "verdicts": 4},
            "monitor": {"cuts": "4"},
        },
    }


def test_every_table_that_a_page_shows_is_made() -> None:
    made = build_tables(_everything()) | {
        "calibration": "made by scripts.calibration_quality",
        "attacks": "made by scripts.attack_quality",
    }
    shown = {
        str(page.relative_to(ROOT)): find_table_names(page.read_text(encoding="utf-8"))
        for page in list_pages()
    }
    assert {name for names in shown.values() for name in names} <= made.keys()
    assert shown["README.md"][:1] == ["summary"]
    assert shown["docs/quality.md"][:2] == ["measured-at", "summary"]
    assert "summary" in shown["docs/embedded-judge.md"]
    for page in list_pages():
        lines = page.read_text(encoding="utf-8").split("\n")
        begun = sum(line.startswith("<!-- figures ") for line in lines)
        ended = lines.count("<!-- end of figures -->")
        assert begun == ended == len(shown[str(page.relative_to(ROOT))]), page


def test_a_marked_table_is_replaced_and_the_rest_stays() -> None:
    first = "<!-- figures a -->\nold\n<!-- end of figures -->\n"
    page = f"# Page\n{first}text\n{first.replace(' a ', ' b ')}"
    filled = fill_page(page, {"a": "| new |\n"})
    assert filled == page.replace("old", "| new |", 1)
    assert fill_page(filled, {"a": "| new |\n"}) == filled


def test_pages_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- figures measured-at -->\n<!-- end of figures -->\n")
    monkeypatch.setattr(quality_tables, "ROOT", tmp_path)
    monkeypatch.setattr(quality_tables, "list_pages", lambda: [page])
    made = build_tables(_everything())
    assert [str(path) for path in quality_tables.write_pages(made)] == ["page.md"]
    assert "Measured at commit `abc1234` (2026-11-17).\n" in page.read_text()
    assert quality_tables.write_pages(made) == []
