"""Contract files: short forms, positions of errors, limits, and edits that keep comments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from planproof.contracts.contract_file import (
    contract_digest,
    format_contract,
    parse_contract,
    parse_contract_file,
    read_contract,
    steps_digest,
    to_json,
    update_contract_text,
)
from planproof.core.contract import (
    Condition,
    Contract,
    ContractOrigin,
    MessageCondition,
    Precedence,
    Requirement,
    Review,
    SqlCondition,
    StepContract,
    Times,
    ToolMarks,
    Variable,
    When,
)
from planproof.core.plan import Step
from planproof.errors import InvalidInput

TEXT = """\
planproof: contract/1
plan: sha256:00
origin:
  catalogue: complete
  compiler: model openai:NAME
  reviewed: {by: Ann, date: "2026-11-16"}
vars: {traveller: metadata.traveller_id}
tools: {scroll: supporting, pay: {also: pay_v2}}
steps:
  - number: "1"
    text: See what flights there are from Lisbon on 12 March
    call: search_flights
    where:
      origin: {any_of: [LIS, Lisbon], for: Lisbon}
      traveller: $traveller
      depart: {date: "--03-12", for: 12 March}
  - number: "2"
    text: Take a snapshot of the payments database
    call: shell
    is: {cmd: {program: pg_dump}}
    where: {cmd: {argument: payments}}
  - number: "3"
    text: Read two statements by e-bike makers
    call: read_page
    where: {url: {any: true}}
    times: {min: 2}
    with: [web_search, scroll]
  - number: "4"
    text: If it is sold out, tell the customer
    when: {step: "1", result: {available: {max: 0}}}
    message: {to: user, says: [[sold out, unavailable]]}
  - number: "5"
    text: Be polite throughout
    uncheckable: tone
never: [delete_account]
before: [{first: check_policy, then: refund_order}]
"""
_HEAD = "planproof: contract/1\nsteps:\n"
CONTRACT = Contract(
    plan="sha256:00",
    origin=ContractOrigin(
        catalogue="complete",
        compiler="model openai:NAME",
        reviewed=Review(by="Ann", date="2026-11-16"),
    ),
    variables={"traveller": Variable(from_="metadata.traveller_id")},
    tools={"scroll": ToolMarks(mark="supporting"), "pay": ToolMarks(also=("pay_v2",))},
    steps=(
        StepContract(
            number="1",
            text="See what flights there are from Lisbon on 12 March",
            all_of=(
                Requirement(
                    call=("search_flights",),
                    where={
                        "origin": Condition(any_of=("LIS", "Lisbon"), for_="Lisbon"),
                        "traveller": Condition(var="traveller"),
                        "depart": Condition(date="--03-12", for_="12 March"),
                    },
                ),
            ),
        ),
        StepContract(
            number="2",
            text="Take a snapshot of the payments database",
            all_of=(
                Requirement(
                    call=("shell",),
                    is_={"cmd": Condition(program=("pg_dump",))},
                    where={"cmd": Condition(argument=("payments",))},
                ),
            ),
        ),
        StepContract(
            number="3",
            text="Read two statements by e-bike makers",
            all_of=(
                Requirement(
                    call=("read_page",),
                    where={"url": Condition(any_value=True)},
                    times=Times(min=2, max=None),
                    with_=("web_search", "scroll"),
                ),
            ),
        ),
        StepContract(
            number="4",
            text="If it is sold out, tell the customer",
            when=When(step="1", result={"available": Condition(max=0.0)}),
            all_of=(
                Requirement(
                    message=MessageCondition(to="user", says=(("sold out", "unavailable"),))
                ),
            ),
        ),
        StepContract(number="5", text="Be polite throughout", uncheckable="tone"),
    ),
    never=(Requirement(call=("delete_account",)),),
    before=(
        Precedence(
            first=Requirement(call=("check_policy",)), then=Requirement(call=("refund_order",))
        ),
    ),
)


def _parse_step(fields: str) -> StepContract:
    text = f"planproof: contract/1\nsteps:\n- number: '1'\n  text: x\n  {fields}\n"
    return parse_contract(text, "c").steps[0]


def _parse_condition(value: str) -> Condition:
    return _parse_step(f"where: {{a: {value}}}").all_of[0].where["a"]


def test_a_contract_is_read_and_written_in_short_forms() -> None:
    assert parse_contract(TEXT, "c") == CONTRACT
    assert format_contract(CONTRACT) == TEXT


def test_json_is_read_as_well(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(to_json(CONTRACT), encoding="utf-8-sig")
    assert read_contract(file) == CONTRACT
    nulls: dict[str, Any] = {**json.loads(to_json(CONTRACT)), "name": None}
    assert parse_contract(json.dumps(nulls, indent="\t"), "c") == CONTRACT


@pytest.mark.parametrize("text", ["naïve 😀", "a\\ud83d\\ude00", '"\\', "a\u2028b", "\x7f", "null"])
def test_json_may_escape_any_character(text: str) -> None:
    step = {"number": "1", "text": text, "uncheckable": "x"}
    value = {"planproof": "contract/1", "steps": [step]}
    assert parse_contract(json.dumps(value), "c").steps[0].text == text


@pytest.mark.parametrize(
    ("short", "condition"),
    [
        ("LIS", Condition(any_of=("LIS",))),
        ("no", Condition(any_of=("no",))),
        ("007", Condition(any_of=("007",))),
        ("'null'", Condition(any_of=("null",))),
        ("[LIS, 2.10]", Condition(any_of=("LIS", "2.10"))),
        ("$traveller", Condition(var="traveller")),
        ("$each", Condition(is_each=True)),
        ("$49.90", Condition(any_of=("$49.90",))),
        ("[$HOME]", Condition(any_of=("$HOME",))),
        ("{any_of: $HOME}", Condition(any_of=("$HOME",))),
        ("{any: true}", Condition(any_value=True)),
        ("{number: 3, tolerance: 0.5}", Condition(number=3.0, tolerance=0.5)),
        (
            "{program: [git, hub], argument: push}",
            Condition(program=("git", "hub"), argument=("push",)),
        ),
        ("{sql: select}", Condition(sql=SqlCondition(verb="select"))),
        (
            "{sql: {verb: select, tables: t}}",
            Condition(sql=SqlCondition(verb="select", tables=("t",))),
        ),
    ],
)
def test_a_condition_has_short_forms(short: str, condition: Condition) -> None:
    assert _parse_condition(short) == condition


@pytest.mark.parametrize(
    ("fields", "requirement"),
    [
        ("call: [a, b]", Requirement(call=("a", "b"))),
        ("all_of: a", Requirement(call=("a",))),
        ("all_of: [{call: a}]", Requirement(call=("a",))),
        ("any_of: [a, {message: b}]", Requirement(any_of=(
            Requirement(call=("a",)), Requirement(message=MessageCondition(says=(("b",),))),
        ))),
        ("message: refund", Requirement(message=MessageCondition(says=(("refund",),)))),
        ("message: [refund, [a, b]]", Requirement(
            message=MessageCondition(says=(("refund",), ("a", "b"))),
        )),
        ("reasoning: {says: refund}", Requirement(
            reasoning=MessageCondition(says=(("refund",),)),
        )),
        ("message: {values: [3, {number: 4}]}", Requirement(message=MessageCondition(
            values=(Condition(any_of=("3",)), Condition(number=4.0)),
        ))),
        ("{call: a, times: 2}", Requirement(call=("a",), times=Times(min=2, max=2))),
        ("{call: a, times: {max: 3}}", Requirement(call=("a",), times=Times(min=1, max=3))),
        ("{call: a, times: {min: 0}}", Requirement(call=("a",), times=Times(min=0, max=None))),
    ],
)  # fmt: skip
def test_a_requirement_has_short_forms(fields: str, requirement: Requirement) -> None:
    if fields.startswith("{"):
        fields = f"all_of: [{fields}]"
    assert _parse_step(fields).all_of == (requirement,)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("planproof: contract/2\n", "1, column 1", "expected one of contract/1, got `contract/2`"),
        ("steps: [planproof]\n", "1, column 1", "`planproof: contract/1` is missing."),
        ("- planproof\n", "1, column 1", "is not a contract"),
        ("planproof\n", "1, column 1", "is not a contract"),
        ("planproof: contract/1\nstep: []\n", "2, column 1", "unknown field `step`"),
        ("planproof: contract/1\nsteps: x\n", "2, column 1", "expected a step"),
        ("planproof: contract/1\nsteps:\n- number: 1\n", "3, column 3", "`text` is missing"),
        (f"{_HEAD}- {{number: ' ', text: x}}\n", "3, column 4", "`number` is empty"),
        ("planproof: contract/1\nname: [a]\n", "2, column 1", "expected one value, got a list"),
        ("planproof: contract/1\ntools: {a: best}\n", "2, column 9", "expected one of bookkeeping"),
        ("planproof: contract/1\ntools: {'': closing}\n", "2, column 9", "1 to 200 printable"),
        ("planproof: contract/1\norigin: {plan: x}\n", "2, column 10", "one of given, declared"),
        ("planproof: contract/1\na: &x 1\n", "2, column 4", "anchors, aliases and tags"),
    ],
)  # fmt: skip
def test_errors_say_where(text: str, where: str, what: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_contract(text, "c")
    assert caught.value.where == f"c, line {where}"
    assert what in caught.value.what


@pytest.mark.parametrize("text", ["steps: []", "[]", "1. Pay\n2. Tell them\n", '{"tools": []}'])
def test_another_file_is_not_a_contract(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a contract: `planproof: contract/1` is missing"):
        parse_contract(text, "c")


@pytest.mark.parametrize(
    ("fields", "column", "what"),
    [
        ("calls: a", 3, "unknown field `calls`"),
        ("where: {a: {minimum: 3}}", 15, "unknown field `minimum`"),
        ("where: {a: {min: three}}", 15, "expected a number, got `three`"),
        ("where: {a: {min: nan}}", 15, "expected a number, got `nan`"),
        ("where: {a: {any: yes}}", 15, "expected true or false, got `yes`"),
        ("where: {a: }", 11, "`a` has no condition"),
        ("where: {a: null}", 11, "`a` has no condition"),
        ("where: {a: ['']}", 15, "an item of a list is empty"),
        ("where: {a: [[x]]}", 15, "expected one value, got a list"),
        ("where: a", 3, "expected a mapping, got `a`"),
        ('where: {"a\\u202eb": x}', 11, "1 to 200 printable"),
        ("where: {a.b: {c: {d: x}}}", 17, "unknown field `c`"),
        ("times: often", 3, "expected a whole number, got `often`"),
        ("times: 0", 3, "`times` allows no call"),
        ("times: {min: 3, max: 2}", 3, "`times` allows no call"),
        ("times: {most: 3}", 11, "unknown field `most`"),
        ("{all_of: [a], call: b}", 17, "a step has `all_of` or `call`, not both"),
    ],
)
def test_errors_in_a_step_name_the_column(fields: str, column: int, what: str) -> None:
    if fields.startswith("{"):
        text = f"planproof: contract/1\nsteps:\n- {fields[:-1]}, number: 1, text: x}}\n"
        line = 3
    else:
        text = f"planproof: contract/1\nsteps:\n- number: '1'\n  text: x\n  {fields}\n"
        line = 5
    with pytest.raises(InvalidInput) as caught:
        parse_contract(text, "c")
    assert (caught.value.where, what in caught.value.what) == (
        f"c, line {line}, column {column}",
        True,
    )


@pytest.mark.parametrize(
    ("line", "what", "advice"),
    [
        ("name: [a]", "`name`: expected one value, got a list.", "Write `name: VALUE`."),
        ("tools: a", "`tools`: expected a mapping, got `a`.", "Write `tools: {NAME: VALUE}`."),
        (
            "steps: [x]",
            "`steps`: expected a step with `number` and `text`, got `x`.",
            "Every item of `steps` must be a step with `number` and `text`.",
        ),
        ("origin: {plan: x}", "`plan`: expected one of given, declared, inferred, got `x`.", None),
    ],
)
def test_a_wrong_type_names_the_field_and_what_to_write(
    line: str, what: str, advice: str | None
) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_contract(f"planproof: contract/1\n{line}\n", "c")
    assert (caught.value.what, caught.value.advice) == (what, advice)


def test_an_unknown_field_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match="Did you mean `where`") as caught:
        _parse_step("wheree: {}")
    with pytest.raises(InvalidInput, match=r"written `outer\.inner`"):
        _parse_step("where: {passenger: {name: Ann}}")
    assert "Traceback" not in str(caught.value)


def test_a_number_belongs_to_one_step() -> None:
    steps = "- {number: '1', text: a}\n- {number: 1, text: b}\n"
    with pytest.raises(InvalidInput, match="two steps have the number `1`") as caught:
        parse_contract(f"planproof: contract/1\nsteps:\n{steps}", "c")
    assert caught.value.where == "c, line 4, column 4"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a" * 8_000_001, "8,000,001 characters"),
        (_HEAD + "- {number: 1, text: x, call: [" + "a," * 1_001 + "]}", "1,001 items"),
        (_HEAD + "- {number: 1, text: x, call: [" + "a," * 1_000_000 + "]}", "500,000 values"),
        (_HEAD + "- {number: 1, text: x}\n" * 10_001, "10,001 items; at most 10,000"),
        (_HEAD + "- {number: 1, text: " + "x" * 50_001 + "}", "50,001 characters"),
        (_HEAD + "- any_of: " + "[{any_of: " * 60, "more than 50 levels"),
        (_HEAD + "- where: {" + ",".join(f"a{n}: b" for n in range(1_001)) + "}", "`number` is"),
        (_HEAD + "tools: {" + ",".join(f"a{n}: ignored" for n in range(1_001)) + "}", "1,001 keys"),
        ("vars: {a: &a [b], c: [*a, *a]}", "anchors, aliases and tags"),
        ("vars: !!python/object:os.system {}", "anchors, aliases and tags"),
    ],
    ids=["size", "list", "million", "steps", "text", "depth", "where", "tools", "bomb", "tag"],
)  # fmt: skip
def test_work_is_bounded(text: str, what: str) -> None:
    with pytest.raises(InvalidInput, match=what):
        parse_contract(text, "c")


def test_a_long_key_is_not_stored_once_per_value() -> None:
    # As text, the paths of these values would take gigabytes.
    text = f"planproof: contract/1\n? {'k' * 400_000}\n: [{'a,' * 90_000}]\n"
    with pytest.raises(InvalidInput, match="unknown field `kkkk") as caught:
        parse_contract(text, "c")
    assert len(str(caught.value)) < 1_000


def test_ten_thousand_steps_are_read() -> None:
    steps = "".join(f"- {{number: {n}, text: Look, call: look}}\n" for n in range(10_000))
    contract = parse_contract(_HEAD + steps, "c")
    assert len(contract.steps) == 10_000
    assert parse_contract(format_contract(contract), "c") == contract


def test_half_a_surrogate_pair_is_not_written() -> None:
    broken = Contract(steps=(StepContract(number="1", text="\ud800"),))
    with pytest.raises(InvalidInput, match="half of a surrogate pair"):
        format_contract(broken)
    assert contract_digest(broken).startswith("sha256:")


def test_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="can't be read"):
        read_contract(tmp_path / "missing.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(InvalidInput, match="byte 9 is not valid UTF-8"):
        read_contract(tmp_path / "latin.yaml")


def test_parts_are_located_by_the_keys_of_the_long_form() -> None:
    document = parse_contract_file(TEXT, "c").document
    keys = ("steps", 0, "all_of", 0, "where", "depart", "for")
    assert document.locate(keys) == "c, line 16, column 33"
    assert document.locate(("steps", 1, "all_of", 0, "is")) == "c, line 20, column 5"


def test_the_digest_is_of_the_content() -> None:
    other = parse_contract(f"# a comment\n{to_json(CONTRACT)}", "d")
    assert contract_digest(other) == contract_digest(CONTRACT)
    changed = parse_contract(TEXT.replace("Lisbon]", "Porto]"), "c")
    assert contract_digest(changed) != contract_digest(CONTRACT)


def test_the_digest_of_steps_ignores_case_and_space() -> None:
    steps = [Step(number="1", text="See  the\nOrder"), Step(number="2", text="Pay")]
    same = [StepContract(number="1", text="see the order"), StepContract(number="2", text="pay")]
    assert steps_digest(steps) == steps_digest(same)
    assert steps_digest(steps) != steps_digest(steps[:1])
    assert steps_digest(steps) != steps_digest(steps[::-1])


def test_comments_are_one_line_each() -> None:
    text = format_contract(CONTRACT, comments={"2": ["a\nsteps: []", "\x1b[2J\u202e"], "9": ["x"]})
    assert '  # a steps: []\n  # \\u001b[2J\\u202e\n  - number: "2"\n' in text
    assert parse_contract(text, "c") == CONTRACT


EDITED = """\
# Reviewed by Ann.
planproof: contract/1
steps:
  # The first step.
  - number: 1   # as printed
    text: Look up order 7
    all_of:
      - call: get_order   # not list_orders
        where: {id: '7'}
  # The second step.
  - number: "2"
    text: Refund it
    call: refund   # in full
    where:
      # The reason does not matter.
      reason: {any: true}
      amount: {number: 2.10}
"""


def test_an_edit_keeps_comments_and_layout() -> None:
    contract = parse_contract(EDITED, "c")
    assert update_contract_text(EDITED, contract) == EDITED
    refund = contract.steps[1].all_of[0]
    changed = replace(contract.steps[1], all_of=(replace(refund, only=True),))
    reviewed = replace(
        contract,
        steps=(contract.steps[0], changed),
        origin=ContractOrigin(reviewed=Review(by="Ann", date="today")),
    )
    text = update_contract_text(EDITED, reviewed)
    assert parse_contract(text, "c") == reviewed
    assert text == EDITED + "    only: true\norigin: {reviewed: {by: Ann, date: today}}\n"


def test_steps_are_added_removed_and_moved() -> None:
    contract = parse_contract(EDITED, "c")
    first, second = contract.steps
    third = StepContract(number="3", text="Tell them", all_of=(Requirement(call=("send",)),))
    for steps in [(second, first), (first,), (second,), (third, first, second), (first, third), ()]:
        other = replace(contract, steps=steps)
        text = update_contract_text(EDITED, other)
        assert parse_contract(text, "c") == other
        assert ("# in full" in text) is (second in steps)


def test_an_edit_of_json_is_json() -> None:
    assert json.loads(update_contract_text(to_json(CONTRACT), Contract(name="x"))) == {
        "planproof": "contract/1",
        "name": "x",
    }
