"""`planproof contract`: show, check and diff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planproof.contracts.contract_file import parse_contract
from planproof.core.catalogue import Catalogue, Tool
from tests.command_line import CommandLine
from tests.trace_builders import did, trace

CONTRACT = """\
planproof: contract/1
origin: {catalogue: complete, reviewed: {by: Ann, date: today}}
steps:
  - number: "1"
    text: Look up order 7 in the shop of Lisbon, which opened on 12 March
    call: [get_order, get_order_details, get_order_with_items, find_order_by_number]
    where: {shop: {any_of: [Lisbon, LIS], for: Lisbon}, since: {date: "--03-12", for: 12 March}}
  - number: "2"
    text: Be polite
    uncheckable: tone
never: [delete_account]
"""


@pytest.fixture
def file(folder: Path) -> Path:
    path = folder / "c.yaml"
    path.write_text(CONTRACT, encoding="utf-8")
    return path


def test_show_prints_what_each_step_requires(planproof: CommandLine, file: Path) -> None:
    done = planproof("contract", "show", file.name)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "c.yaml",
        "  2 steps; uncheckable: 2; highest score 0.5",
        "  plan given; catalogue complete; written by hand; reviewed by Ann on today",
        "",
        "  1  Look up order 7 in the shop of Lisbon, which opened on 12 March",
        "     call:",
        "       - get_order",
        "       - get_order_details",
        "       - get_order_with_items",
        "       - find_order_by_number",
        "     where:",
        "       shop: {any_of: [Lisbon, LIS], for: Lisbon}",
        '       since: {date: "--03-12", for: 12 March}',
        "",
        "  2  Be polite",
        "     uncheckable: tone",
        "",
        "never: [delete_account]",
    ]


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_show_writes_contract_files(planproof: CommandLine, file: Path, form: str) -> None:
    done = planproof("contract", "show", file.name, "--format", form, "-o", "out")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert parse_contract(Path("out").read_text("utf-8"), "out") == parse_contract(CONTRACT, "c")


def test_check_passes_and_prints_the_highest_score(planproof: CommandLine, file: Path) -> None:
    done = planproof("contract", "check", file.name)
    assert (done.code, done.out) == (0, "2 steps: 0 errors, 0 doubts; highest score 0.5\n")


def test_check_names_lines_and_fails(planproof: CommandLine, file: Path) -> None:
    text = CONTRACT.replace("for: Lisbon", "for: Porto").replace("uncheckable: tone", "call: bash")
    file.write_text(text, encoding="utf-8")
    done = planproof("contract", "check", file.name)
    assert done.code == 1
    assert done.out.splitlines() == [
        "✗ step 1: where.shop.for: the step does not contain “Porto”.",
        "    c.yaml, line 7, column 43. Quote the words of the step that the value stands",
        "      for.",
        "✗ step 2: call: `bash` can do anything.",
        "    c.yaml, line 10, column 5. Say which action it is with `is`, for example",
        "      {command: {program: pg_dump}}.",
        "2 steps: 2 errors, 0 doubts; highest score 1.0",
    ]
    as_json = planproof("contract", "check", file.name, "--format", "json")
    assert as_json.code == 1
    assert json.loads(as_json.out)["problems"][1] == {
        "path": "step 2: call",
        "where": "c.yaml, line 10, column 5",
        "what": "`bash` can do anything.",
        "advice": "Say which action it is with `is`, for example {command: {program: pg_dump}}.",
        "is_error": True,
    }


def test_doubts_fail_only_if_asked(planproof: CommandLine, file: Path) -> None:
    file.write_text(CONTRACT.replace(", for: Lisbon", "").replace("Lisbon, LIS", "LX"), "utf-8")
    done = planproof("contract", "check", file.name)
    assert (done.code, done.out.splitlines()[0]) == (
        0,
        "? step 1: where.shop: the step does not contain LX.",
    )
    assert planproof("contract", "check", file.name, "--strict").code == 1


def test_check_compares_with_the_tools_of_the_agent(planproof: CommandLine, file: Path) -> None:
    tools = {"tools": [{"name": "get_order", "arguments": ["shop", "since"]}]}
    Path("tools.json").write_text(json.dumps(tools), encoding="utf-8")
    text = CONTRACT.replace("get_order_details, get_order_with_items, find_order_by_number", "'g*'")
    file.write_text(text, encoding="utf-8")
    done = planproof("contract", "check", file.name, "--tools", "tools.json")
    assert done.code == 1
    assert done.out.splitlines() == [
        "✗ never[0]: call: there is no tool `delete_account` in the catalogue.",
        "    c.yaml, line 11, column 9. Known: get_order.",
        "g* stands for get_order",
        "2 steps: 1 error, 0 doubts; highest score 0.5",
    ]


def test_diff_prints_changes_and_fails(planproof: CommandLine, file: Path) -> None:
    text = CONTRACT.replace("Lisbon, LIS", "LIS").replace("[delete_account]", "[drop]")
    Path("new.yaml").write_text(text + "name: x\n", encoding="utf-8")
    done = planproof("contract", "diff", file.name, "new.yaml")
    assert done.code == 1
    assert done.out.splitlines() == [
        "- never: [delete_account]",
        "+ never: [drop]",
        "+ name: x",
        "~ step 1 changed: Look up order 7 in the shop of Lisbon, which opened on 12",
        "    March",
        "    - where.shop: {any_of: [Lisbon, LIS], for: Lisbon}",
        "    + where.shop: {any_of: [LIS], for: Lisbon}",
    ]
    as_json = planproof("contract", "diff", file.name, "new.yaml", "--format", "json")
    assert [change["kind"] for change in json.loads(as_json.out)["steps"]] == ["changed"]
    assert as_json.code == 1


def test_diff_of_equal_contracts(planproof: CommandLine, file: Path) -> None:
    Path("new.yaml").write_text(f"# reviewed\n{CONTRACT}", encoding="utf-8")
    done = planproof("contract", "diff", file.name, "new.yaml")
    assert (done.code, done.out) == (0, "The contracts are equal.\n")


@pytest.mark.parametrize("command", ["show", "check"])
def test_bad_files_are_bad_input(planproof: CommandLine, file: Path, command: str) -> None:
    file.write_text(CONTRACT.replace("uncheckable", "unchecked"), encoding="utf-8")
    done = planproof("contract", command, file.name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("planproof: error: c.yaml, line 10, column 5: unknown field")
    assert planproof("contract", command, "missing.yaml").code == 2


def test_hostile_text_is_escaped_and_secrets_are_masked(planproof: CommandLine, file: Path) -> None:
    text = CONTRACT.replace("Be polite", '"\\e[2J\\u202e sk-ant-abcdefghijklmnopqrst"')
    file.write_text(text, encoding="utf-8")
    for done in (
        planproof("contract", "show", file.name),
        planproof("contract", "diff", file.name, file.name),
        planproof("contract", "check", file.name),
    ):
        assert "\x1b" not in done.out
        assert "\u202e" not in done.out
        assert "abcdefghijklmnopqrst" not in done.out
    assert "abcdefghijklmnopqrst" in planproof("contract", "show", file.name, "--no-redact").out


JUDGED = """\
planproof: contract/1
origin: {catalogue: complete, catalogue_digest: "DIGEST"}
vars: {order: {}}
steps:
  - {number: "1", text: Look up order 7, call: get_order, where: {id: $order}}
"""


@pytest.fixture
def judged(folder: Path) -> Path:
    digest = Catalogue((Tool("get_order", ("id",)),)).digest
    (folder / "c.yaml").write_text(JUDGED.replace("DIGEST", digest), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(trace(did("get_order", id="7"))), encoding="utf-8")
    for name, tool in (("same", "get_order"), ("other", "find_order")):
        tools = {"tools": [{"name": tool, "arguments": ["id"]}]}
        (folder / f"{name}.json").write_text(json.dumps(tools), encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", ["judge", "run"])
def test_a_contract_for_other_tools_is_refused(
    planproof: CommandLine, judged: Path, command: str
) -> None:
    del judged
    arguments = ("--trace", "run.json") if command == "judge" else ("run.json", "--store", "none")
    options = (command, *arguments, "--contract", "c.yaml", "--tools")
    assert planproof(*options, "same.json").code == 0
    done = planproof(*options, "other.json")
    assert done.code == 2
    assert "other.json: these are not the tools that the contract was compiled for" in done.err
    assert planproof(*options, "other.json", "--allow-drift").code == 0


def test_a_variable_that_the_contract_lacks_is_refused(
    planproof: CommandLine, judged: Path
) -> None:
    del judged
    options = ("judge", "--trace", "run.json", "--contract", "c.yaml", "--var")
    assert planproof(*options, "order=7").code == 0
    done = planproof(*options, "ordr=7")
    assert done.code == 2
    assert "no variable `ordr`" in done.err
    assert "Did you mean `order`?" in done.err
