"""The pytest plugin, as its users meet it: in runs of pytest of their own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from unicodedata import east_asian_width
from xml.etree import ElementTree as ET

import pytest

from scripts.doc_blocks import EXAMPLES, find_blocks_for

PROJECT = """
    import json
    import pytest
    from planproof.integrations.pytest_plugin import PlanNotFollowed, assert_follows_plan

    def call(number, name, **arguments):
        made = {"id": str(number), "name": name, "input": arguments}
        return [
            {"role": "assistant", "content": [{"type": "tool_use", **made}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": str(number), "content": "ok"}]},
        ]

    PLAN = ["Look up the booking Q7WF2M", "Read the policy of fare BE", "Cancel the booking Q7WF2M"]
    FOLLOWED = [
        {"role": "user", "content": "Cancel it."},
        *call(1, "get_booking", id="Q7WF2M"),
        *call(2, "read_policy", fare="BE"),
        *call(3, "cancel_booking", id="Q7WF2M"),
    ]
    LEFT = [*FOLLOWED[:3], *FOLLOWED[5:], *call(4, "send_certificate", amount=100)]
"""


def run_tests(
    pytester: pytest.Pytester, source: str, *options: str
) -> tuple[pytest.RunResult, Path]:
    pytester.makepyfile(f"{PROJECT}\n{source}")
    # A database can't be loaded twice in one process, and reports need one.
    apart = any(option.startswith("--planproof-report") for option in options)
    runs = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
    # Plugins of others that are here take seconds to import.
    return runs("-p", "no:cacheprovider", "-p", "no:schemathesis", *options), pytester.path


def test_a_plan_that_was_followed_passes(pytester: pytest.Pytester) -> None:
    done, _ = run_tests(
        pytester,
        """
    def test_fixture(planproof):
        assert planproof.assert_follows_plan(plan=PLAN, trace=FOLLOWED).score == 1.0

    def test_function():
        assert assert_follows_plan(task="Cancel it.", plan=PLAN, trace=FOLLOWED).score == 1.0
        """,
    )
    done.assert_outcomes(passed=2)


def test_a_failure_says_within_80_columns_which_step_and_where(pytester: pytest.Pytester) -> None:
    done, _ = run_tests(
        pytester,
        """
    def test_it(planproof):
        planproof.assert_follows_plan(plan=PLAN, trace=LEFT)
        """,
    )
    done.assert_outcomes(failed=1)
    told = [line for line in done.outlines if line.startswith("E ")]
    assert max(map(len, told)) <= 80
    [shown] = [block.text for block in find_blocks_for(__file__) if block.language == "text"]
    assert [line.rstrip() for line in told] == shown.splitlines()
    # The plugin's own frames are hidden.
    assert "pytest_plugin.py" not in done.stdout.str()


def test_long_words_of_a_hostile_case_stay_within_the_columns(pytester: pytest.Pytester) -> None:
    done, _ = run_tests(
        pytester,
        """
    def test_it():
        long = [*FOLLOWED, *call(9, "x" * 300, **{"y" * 300: "z\\x1b[31m" * 300})]
        assert_follows_plan(plan=["w" * 900, *PLAN], trace=long)
        """,
    )
    done.assert_outcomes(failed=1)
    assert max(len(line) for line in done.outlines if line.startswith("E ")) <= 80
    assert "\x1b[31m" not in done.stdout.str()


def test_wide_characters_and_odd_ids_stay_within_the_columns(pytester: pytest.Pytester) -> None:
    done, _ = run_tests(
        pytester,
        """
    def test_it():
        odd = {"id": "e\\x1b[2J", "kind": "action", "name": "退款" * 90}
        assert_follows_plan(plan=["订单" * 60, "a b 退款 " * 40], trace={"events": [odd]})
        """,
    )
    done.assert_outcomes(failed=1)
    told = [line for line in done.outlines if line.startswith("E ")]
    assert max(sum(2 if east_asian_width(c) == "W" else 1 for c in line) for line in told) <= 80
    assert sum(line.count("退款") for line in told) > 90
    assert "\x1b[2J" not in done.stdout.str()


def test_a_case_without_a_score_fails(pytester: pytest.Pytester) -> None:
    done, _ = run_tests(
        pytester,
        """
    def test_it():
        with pytest.raises(PlanNotFollowed, match="there is no plan") as failed:
            assert_follows_plan(plan=[], trace=FOLLOWED)
        assert failed.value.verdict.outcome == "no_plan"
        """,
    )
    done.assert_outcomes(passed=1)


def test_the_marker_gives_the_options_and_the_test_outweighs_them(
    pytester: pytest.Pytester,
) -> None:
    done, _ = run_tests(
        pytester,
        """
    pytestmark = pytest.mark.planproof(min_score=0.1, judge="rules")

    def test_module(planproof):
        planproof.assert_follows_plan(plan=PLAN, trace=LEFT)

    @pytest.mark.planproof(min_score=0.9)
    def test_nearer_one(planproof):
        with pytest.raises(PlanNotFollowed, match="below 0.9"):
            planproof.assert_follows_plan(plan=PLAN, trace=LEFT)

    def test_given(planproof):
        with pytest.raises(PlanNotFollowed, match="below 0.5"):
            planproof.assert_follows_plan(plan=PLAN, trace=LEFT, min_score=0.5)

    @pytest.mark.planproof(judge="rule")
    def test_unknown_judge(planproof):
        with pytest.raises(Exception, match="Did you mean `rules`"):
            planproof.assert_follows_plan(plan=PLAN, trace=LEFT)

    @pytest.mark.planproof(judge="rules", model="openai:x")
    def test_model_for_nobody(planproof):
        with pytest.raises(Exception, match="uses no model"):
            planproof.assert_follows_plan(plan=PLAN, trace=LEFT)

    @pytest.mark.parametrize("least", [75, -1, float("nan")])
    def test_no_score(planproof, least):
        with pytest.raises(Exception, match="is not a valid score. Use a number from 0 to 1"):
            planproof.assert_follows_plan(plan=PLAN, trace=FOLLOWED, min_score=least)

    @pytest.mark.planproof("audit")
    def test_nobody_would_see_this(planproof):
        pass
        """,
        "--strict-markers",
    )
    done.assert_outcomes(passed=8, errors=1)
    done.stdout.fnmatch_lines(["*UsageError: @pytest.mark.planproof takes judge=*"])


def test_a_model_judges_where_one_is_named(pytester: pytest.Pytester) -> None:
    done, _ = run_tests(
        pytester,
        """
    from tests.audit_models import honest, inventing, make_model
    CASE = {"agent_plan": PLAN, "execution_trace": FOLLOWED}

    @pytest.mark.planproof(judge="audit", model=make_model(honest, CASE))
    def test_honest(planproof):
        verdict = planproof.assert_follows_plan(plan=PLAN, trace=FOLLOWED)
        assert verdict.judge.name == "audit"

    @pytest.mark.planproof(model=make_model(inventing, CASE))
    def test_inventing(planproof):
        with pytest.raises(PlanNotFollowed, match="evidence that it was executed"):
            planproof.assert_follows_plan(plan=PLAN, trace=FOLLOWED)
        """,
    )
    done.assert_outcomes(passed=2)


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_verdicts_are_properties_in_junit(pytester: pytest.Pytester, workers: list[str]) -> None:
    done, folder = run_tests(
        pytester,
        """
    def test_one(planproof):
        planproof.assert_follows_plan(plan=PLAN, trace=FOLLOWED)

    def test_two():
        assert_follows_plan(plan=PLAN, trace=LEFT)

    def test_none():
        pass

    def test_thread():
        from threading import Thread
        given = {"plan": PLAN, "trace": FOLLOWED}
        thread = Thread(target=assert_follows_plan, kwargs=given)
        thread.start()
        thread.join()

    @pytest.fixture
    def run():
        return assert_follows_plan(plan=PLAN, trace=LEFT, min_score=0)

    def test_fixture(run):
        assert run.score == 0.25
        """,
        "--junit-xml=report.xml",
        *workers,
    )
    done.assert_outcomes(passed=4, failed=1)
    tree = ET.parse(folder / "report.xml")
    scores = {
        case.get("name"): [
            item.get("value") for item in case.iter("property") if item.get("name") == wanted
        ]
        for case in tree.iter("testcase")
        for wanted in ["planproof_score"]
    }
    assert scores == {
        "test_one": ["1.0"],
        "test_two": ["0.25"],
        "test_none": [],
        "test_thread": ["1.0"],
        "test_fixture": ["0.25"],
    }


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_all_verdicts_are_drawn_as_one_page(pytester: pytest.Pytester, workers: list[str]) -> None:
    done, folder = run_tests(
        pytester,
        """
    from planproof import Plan, Step, Trace
    from planproof.core.trace import Event, Kind

    def test_one(planproof):
        planproof.assert_follows_plan(plan=PLAN, trace=FOLLOWED)

    def test_two(tmp_path):
        (tmp_path / "trace.json").write_text(json.dumps(LEFT))
        assert_follows_plan(plan=PLAN, trace=tmp_path / "trace.json")

    def test_nouns():
        events = Event(id="e1", kind=Kind.ACTION, pointer="/0", name="read_list"),
        assert_follows_plan(plan=Plan((Step(number="1", text="Read list"),)), trace=Trace(events))

    @pytest.fixture
    def run(tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        return assert_follows_plan(plan=PLAN, trace=FOLLOWED)

    def test_fixture(run):
        pass
        """,
        "--planproof-report=out/report.html",
        *workers,
    )
    done.assert_outcomes(passed=3, failed=1)
    done.stdout.fnmatch_lines(["planproof: wrote 4 verdicts to *report.html"])
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "send_certificate" in page
    for test in ("test_one", "test_two", "test_nouns", "test_fixture"):
        assert f"::{test}" in page
    assert list((folder / "out").iterdir()) == [folder / "out" / "report.html"]


def test_without_a_verdict_there_is_no_page(pytester: pytest.Pytester) -> None:
    done, folder = run_tests(pytester, "    def test_it(): pass", "--planproof-report=report.html")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["planproof: no test called assert_follows_plan"])
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize("file", ["", "test_it.py/report.html"])
def test_a_page_that_can_not_be_written_is_refused_before_the_tests_run(
    pytester: pytest.Pytester, file: str
) -> None:
    pytester.makepyfile(test_it="def test_it(): pass")
    done = pytester.runpytest_inprocess(f"--planproof-report={pytester.path / file}")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --planproof-report */*: *"])


def test_a_run_that_does_not_use_it_loads_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
    import sys

    def test_it():
        loaded = [name for name in sys.modules if name.startswith("planproof")]
        allowed = {"planproof", "planproof.integrations", "planproof.integrations.pytest_plugin"}
        assert set(loaded) == allowed
        """
    )
    pytester.runpytest_subprocess("-p", "no:schemathesis").assert_outcomes(passed=1)


def test_it_is_not_needed_to_import_the_module() -> None:
    script = (
        "import planproof.integrations.pytest_plugin as p; print(p.assert_follows_plan.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert b"assert_follows_plan" in done.stdout


def test_the_tests_in_the_docs_pass(pytester: pytest.Pytester) -> None:
    shown = {
        re.sub(r'title="(\w+)\.py"', r"\1", block.info): block.text
        for block in find_blocks_for(__file__)
        if block.language == "python"
    }
    shutil.copytree(EXAMPLES, pytester.path, dirs_exist_ok=True)
    pytester.makepyfile(**shown)
    quiet = ("-p", "no:cacheprovider", "-p", "no:schemathesis")
    done = pytester.runpytest_inprocess(*quiet, "--strict-markers")
    done.assert_outcomes(passed=len(shown))
