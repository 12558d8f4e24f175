"""`planproof calibrate`: the table, the JSON, and what it is asked with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planproof.calibration.case_labels import Label, read_labels
from planproof.calibration.followed_cases import BUILT_IN_NOTE, load_built_in_cases
from planproof.errors import InvalidInput
from tests.command_line import CommandLine
from tests.trace_builders import asked, did, trace

FOLLOWED = [
    {
        "id": f"case-{number}",
        "user_task": "Go.",
        "agent_plan": [f"Read the file {name}", "Delete the draft 4711"],
        "execution_trace": trace(
            asked("Go."), did("read_file", path=name), did("delete_draft", id="4711")
        ),
    }
    for number, name in enumerate(("a.txt", "b.txt", "c.txt"))
]


def saved(folder: Path, lines: list[dict[str, Any]], name: str = "cases.jsonl") -> str:
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("form", ["terminal", "json", "html"])
def test_figures_say_that_the_built_in_cases_were_used_for_development(
    planproof: CommandLine, tmp_path: Path, form: str
) -> None:
    assert f"The {len(load_built_in_cases())} built-in cases" in BUILT_IN_NOTE
    file, function = tmp_path / "figures", f"{__name__}:scores_by_length"
    written = ("--callable", function, "--format", form, "-o", str(file))
    assert planproof("calibrate", *written).code == 0
    assert BUILT_IN_NOTE in file.read_text(encoding="utf-8")
    assert planproof("calibrate", saved(tmp_path, FOLLOWED), *written).code == 0
    assert BUILT_IN_NOTE not in file.read_text(encoding="utf-8")


def test_the_note_comes_first(planproof: CommandLine) -> None:
    function = ("--callable", f"{__name__}:scores_by_length")
    assert planproof("calibrate", *function).out.splitlines()[0] == BUILT_IN_NOTE
    found = json.loads(planproof("calibrate", *function, "--format", "json").out)
    assert list(found)[:2] == ["judge", "note"]
    assert found["note"] == BUILT_IN_NOTE


def test_cases_of_ones_own_are_measured_with(planproof: CommandLine, tmp_path: Path) -> None:
    done = planproof("calibrate", saved(tmp_path, FOLLOWED), "--repeat", "2")
    assert done.code == 0
    assert "rules on 3 followed cases" in done.out
    assert "same score in every repeat: 100%, mean spread 0.00" in done.out


def test_labels_say_which_cases_were_followed_and_what_agrees(
    planproof: CommandLine, tmp_path: Path
) -> None:
    labels = saved(
        tmp_path,
        [{"id": "case-0", "score": 1.0}, {"id": "case-1", "score": 0.25}],
        "labels.jsonl",
    )
    done = planproof("calibrate", saved(tmp_path, FOLLOWED), "--labels", labels, "--format", "json")
    found = json.loads(done.out)
    assert found["passed"] == {"hits": 1, "of": 1}
    assert found["agreement"]["cases"] == 2
    assert {row["origin"] for row in found["rows"]} == {"case-0", "case-1"}
    told = planproof("calibrate", saved(tmp_path, FOLLOWED), "--labels", labels).out
    assert "agreement with the labels of 2 cases: kappa" in " ".join(told.split())
    assert told.startswith("rules on 1 followed case and 1 other, ")


def test_labels_belong_to_cases_by_id(planproof: CommandLine, tmp_path: Path) -> None:
    alike = planproof("calibrate", saved(tmp_path, [*FOLLOWED, FOLLOWED[0]], "alike.jsonl"))
    assert alike.code == 2
    assert "duplicate case id `case-0`" in alike.err
    labels = saved(tmp_path, [{"id": "case-99", "score": 1}], "labels.jsonl")
    strange = planproof("calibrate", saved(tmp_path, FOLLOWED), "--labels", labels)
    assert strange.code == 2
    assert "no case has a label" in strange.err


def test_the_page_has_every_variant(planproof: CommandLine, tmp_path: Path) -> None:
    secret = "sk-" + "a1B2" * 8
    cases = [{**FOLLOWED[0], "user_task": f"Use {secret}."}, *FOLLOWED[1:]]
    told = json.loads(planproof("calibrate", saved(tmp_path, cases), "--format", "json").out)
    page = tmp_path / "page.html"
    asked = ("calibrate", saved(tmp_path, cases), "--format", "html", "-o", page)
    assert planproof(*asked).code == 0
    shown = page.read_text(encoding="utf-8")
    assert shown.count('type="application/json" id="case-') == len(told["rows"])
    assert secret not in shown
    assert planproof(*asked, "--no-redact").code == 0
    assert secret in page.read_text(encoding="utf-8")


def scores_by_length(**given: Any) -> float:
    return 1.0 if len(given["agent_plan"]) < 3 else 0.25


def exits(**given: Any) -> float:
    del given
    raise SystemExit(3)


async def exits_later(**given: Any) -> float:
    return exits(**given)


def test_a_function_is_measured_like_a_judge(planproof: CommandLine, tmp_path: Path) -> None:
    done = planproof(
        "calibrate", saved(tmp_path, FOLLOWED), "--callable", f"{__name__}:scores_by_length"
    )
    assert done.code == 0
    assert f"{__name__}:scores_by_length on 3 followed cases" in done.out
    # It gives scores only, and so can't be said to have located anything.
    (missing,) = (line for line in done.out.splitlines() if line.startswith("  missing"))
    assert missing.split() == ["missing", *"3 of 3 100%".split(), "–", *"3 of 3 100%".split()]


@pytest.mark.parametrize("function", [exits, exits_later])
def test_a_callable_that_fails_says_why_and_ends_nobody_else(
    planproof: CommandLine, tmp_path: Path, function: Any
) -> None:
    name = f"{__name__}:{function.__name__}"
    done = planproof("calibrate", saved(tmp_path, FOLLOWED), "--callable", name)
    assert done.code == 0
    assert "(The judge" in done.out
    assert "tried to exit with 3" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--callable", "a:b", "--judge", "rules"], "can't be combined with --judge or --model"),
        (["--callable", "nowhere"], "is not a valid function name"),
        (["--callable", ":b"], "is not a valid function name"),
        (["--callable", "nowhere:b"], "can't be imported: ModuleNotFoundError"),
        (["--callable", "..nowhere:b"], "can't be imported: TypeError"),
        (["missing.jsonl"], "missing.jsonl"),
        (["--labels", "missing.jsonl"], "missing.jsonl"),
        (["--judge", "rulez"], "rules"),
    ],
)
def test_bad_usage_says_what_to_do(
    planproof: CommandLine, options: list[str], message: str
) -> None:
    done = planproof("calibrate", *options)
    assert done.code == 2
    assert message in done.err


def test_a_case_that_can_not_be_judged_is_named(planproof: CommandLine, tmp_path: Path) -> None:
    bad: dict[str, Any] = {
        "id": "x",
        "user_task": "Go.",
        "agent_plan": [],
        "execution_trace": trace(did("x")),
    }
    done = planproof("calibrate", saved(tmp_path, [*FOLLOWED, bad]))
    assert done.code == 2
    assert "line 4" in done.err
    empty = planproof("calibrate", saved(tmp_path, []))
    assert empty.code == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: is not valid JSON"),
        ("[]", "is not a valid label"),
        ('{"score": 1}', "is not a valid label"),
        ('{"id": "b", "score": true}', "is not a valid label"),
        ('{"id": "b", "score": 7.5}', "must be from 0 to 1"),
        ('{"id": "b", "score": NaN}', "must be from 0 to 1"),
        ('{"id": "b", "followed": 1}', "is not a valid label"),
        ('{"id": "b"}', "is not a valid label"),
        ('{"id": "b", "followed": true, "flaw": []}', "`flaw` must be text"),
        ('{"id": "a", "score": 1}', "already has a label"),
    ],
)
def test_bad_labels_are_named(line: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_labels(['{"id": "a", "score": 1}', line], "labels.jsonl")


def test_labels_are_read() -> None:
    lines = [
        '{"id": "a", "score": 1}',
        "",
        '{"id": "b", "score": 0.5}',
        '{"id": "c", "followed": false, "flaw": "missing", "step": 2, "group": "shop"}',
    ]
    assert read_labels(lines, "x") == {
        "a": Label(True, 1.0),
        "b": Label(False, 0.5),
        "c": Label(False, flaw="missing", step="2", group="shop"),
    }


LABELLED: list[dict[str, Any]] = [
    {**FOLLOWED[0], "label": {"followed": True, "group": "files"}},
    {
        **FOLLOWED[1],
        "agent_plan": ["Read the file b.txt", "Send b.txt to Anna", "Delete the draft 4711"],
        "label": {"followed": False, "flaw": "missing", "step": 2, "group": "files"},
    },
    {**FOLLOWED[2], "agent_plan": ["Water the roses"], "label": {"score": 0.25}},
    {
        "id": "silent",
        "user_task": "Go.",
        "agent_plan": [],
        "execution_trace": trace(did("x")),
        "label": {"followed": False},
    },
]


def test_labelled_cases_are_judged_as_they_are(planproof: CommandLine, tmp_path: Path) -> None:
    data = saved(tmp_path, LABELLED)
    found = json.loads(planproof("calibrate", data, "--labelled", "--format", "json").out)
    assert found["labelled"] == {
        "passed": {"hits": 1, "of": 1},
        "caught": {"hits": 2, "of": 3},
        "located": {"hits": 1, "of": 1},
        "ranking": 1.0,
    }
    assert found["unscored"]["hits"] == 1
    assert found["flaws"] == {}
    assert found["labelled_groups"]["files"]["caught"] == {"hits": 1, "of": 1}
    assert found["fooled"]["claims"] == {"hits": 0, "of": 2}
    # No shell, so no command.
    assert "echo" not in found["fooled"]
    assert {row["change"] for row in found["rows"]} == {None}
    told = planproof("calibrate", data, "--labelled").out
    assert told.startswith("rules on 1 followed case and 3 others, ")
    assert "labelled as flawed: caught (0.5 or less), located" in told
    page = tmp_path / "page.html"
    assert planproof("calibrate", data, "--labelled", "--format", "html", "-o", page).code == 0
    assert "Labelled cases" in page.read_text(encoding="utf-8")


def test_labels_in_a_file_can_be_used_without_generated_flaws(
    planproof: CommandLine, tmp_path: Path
) -> None:
    labels = saved(tmp_path, [{"id": "case-0", "followed": True}], "labels.jsonl")
    asked = ("calibrate", saved(tmp_path, FOLLOWED), "--labels", labels, "--format", "json")
    assert len(json.loads(planproof(*asked, "--labelled").out)["rows"]) == 1
    assert len(json.loads(planproof(*asked).out)["rows"]) > 10


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"label": {"followed": False, "step": 7}}, "the label names step 7, which the plan does"),
        ({"label": "missing"}, "is not a valid label"),
        ({"label": None}, "is not a valid label"),
        ({}, "has no `label`"),
    ],
)
def test_every_case_needs_a_label_of_its_own(
    planproof: CommandLine, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    done = planproof("calibrate", saved(tmp_path, [{**FOLLOWED[0], **changed}]), "--labelled")
    assert done.code == 2
    assert message in done.err
    assert "line 1" in done.err


def test_the_built_in_cases_have_no_labels(planproof: CommandLine) -> None:
    done = planproof("calibrate", "--labelled")
    assert done.code == 2
    assert "--labelled needs DATA" in done.err
