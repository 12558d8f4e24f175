"""What is wrong with a contract: errors, doubts, and the highest score that a run can reach."""
# ruff: noqa: E501 - one problem a line

from __future__ import annotations

from pathlib import Path

import pytest

from planproof.contracts.catalogues import Catalogue, Tool
from planproof.contracts.contract_file import parse_contract, steps_digest
from planproof.contracts.contract_validation import (
    Problem,
    check_contract,
    expand_globs,
    highest_score,
    read_valid_contract,
    require_valid,
)
from planproof.core.contract import Contract, StepContract
from planproof.errors import InvalidInput

LOOK = "{number: '1', text: Look up order 7, call: get_order, where: {id: '7'}}"


def _parse(*steps: str, rest: str = "") -> Contract:
    lines = "".join(f"- {step}\n" for step in steps)
    return parse_contract(f"planproof: contract/1\nsteps:\n{lines}{rest}", "c")


def _check_step(
    fields: str, text: str = "Pay 49.90 for order 7 with the company card"
) -> list[str]:
    """Return the problems of the second of two steps."""
    contract = _parse(LOOK, f"{{number: '2', text: {text}, {fields}}}", rest="vars: {card: {}}\n")
    problems = [problem for problem in check_contract(contract) if problem.path != "vars"]
    return [_describe(problem) for problem in problems]


def _describe(problem: Problem) -> str:
    return f"{'error' if problem.is_error else 'doubt'} {problem.path}: {problem.what}"


def _make_catalogue(*, is_complete: bool, **tools: tuple[str, ...]) -> Catalogue:
    return Catalogue(
        tools=tuple(Tool(name=name, arguments=names) for name, names in tools.items()),
        is_complete=is_complete,
    )


def test_a_careful_contract_has_no_problems() -> None:
    contract = _parse(
        LOOK,
        "{number: '2', text: Dump the payments database, call: bash, "
        "is: {command: {program: pg_dump}}, where: {command: {argument: payments}}}",
        "{number: '3', text: Tell Ann about the three files, message: {says: [[file, document]], "
        "values: [{number: 3}, Ann]}}",
        "{number: '4', text: If it is empty then delete it, when: {step: '1', for: If it is empty, "
        "result: {count: {max: 0}}}, call: delete, where: {id: {from_step: '1'}, by: $who}}",
        "{number: '5', text: Otherwise keep it, else_of: '4', call: keep}",
        "{number: '6', text: 'Mail Ann and Bob, if you like', optional: if you like, call: mail, "
        "where: {to: $each}, each: [Ann, Bob]}",
        "{number: '7', text: Think about it, reasoning: {says: [about]}}",
        "{number: '8', text: Clean up}",
        "{number: '8.1', text: Look up order 7, parent: '8', call: get_order, where: {id: '7'}}",
        rest="vars: {who: {}}\nnever: [drop_table]\nbefore: [{first: get_order, then: delete}]\n",
    )
    assert check_contract(contract) == ()
    require_valid(contract)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("free_order: true", "error step 2: no requirement."),
        ("call: pay, uncheckable: tone", "error step 2: a step with requirements is not `uncheckable`."),
        ("call: pay, counted: false", "doubt step 2: counted: the step does not count."),
        ("call: pay, optional: if needed", "error step 2: optional: the plan does not contain “if needed”."),
        ("call: pay, optional: ' '", "error step 2: optional: the plan does not contain “ ”."),
        ("call: pay, parent: '9'", "error step 2: parent: there is no step `9`."),
        ("call: pay, parent: '2'", "error step 2: parent: refers to its own step."),
        ("call: pay, else_of: '1'", "error step 2: else_of: step 1 has no `when`."),
        ("call: pay, when: {}", "error step 2: when: states no condition."),
        ("call: pay, when: sold out", "error step 2: when.for: the plan does not contain “sold out”."),
        ("call: pay, when: with the", "doubt step 2: when: a program can't decide this condition."),
        ("call: pay, when: {step: '1'}", "error step 2: when: `step` needs `result`: keys of its result, with conditions."),
        ("call: pay, when: {result: {a: b}}", "error step 2: when: `result` needs `step`: the step whose result it is."),
        ("call: pay, when: {step: '9', result: {a: b}}", "error step 2: when.step: there is no step `9`."),
        ("all_of: [{}]", "error step 2: the requirement names no action."),
        ("where: {a: '7'}", "error step 2: the requirement names no action."),
        ("call: pay, message: paid", "error step 2: the requirement has call and message."),
        ("message: paid, where: {a: '7'}", "error step 2: `where`, `absent` and `only` belong to a `call`."),
        ("any_of: [{any_of: [a]}, b]", "error step 2: any_of[0]: an alternative can't have alternatives."),
        ("any_of: [a], call: b", "error step 2: the requirement has call and any_of."),
        ("all_of: [a, {call: b, where: {c: {}}}]", "error step 2: all_of[1].where.c: states no condition."),
        ("message: {}", "error step 2: message: any message satisfies it."),
        ("message: {to: user}", "doubt step 2: message: no word is required."),
        ("reasoning: {}", "doubt step 2: reasoning: no word is required."),
        ("message: {says: [[]]}", "error step 2: message.says: a group has no alternatives."),
        ("message: {values: [{for: order 8}]}", "error step 2: message.values[0]: states no condition."),
        ("call: bash", "error step 2: call: `bash` can do anything."),
        ("call: bash, where: {command: order 7}", "error step 2: call: `bash` can do anything."),
        ("call: bash, is: {command: {any: true}}", "error step 2: is: any call satisfies it."),
        ("any_of: [pay, bash]", "error step 2: any_of[1].call: `bash` can do anything."),
        ("call: '*'", "error step 2: call: any call satisfies it."),
        ('call: "p\\u202eay"', "error step 2: call: the name of a tool has at most 200 printable characters."),
        ("call: pay, where: {a: {for: order 8, any_of: ['8']}}", "error step 2: where.a.for: the step does not contain “order 8”."),
        ("call: pay, where: {a: [corporate, firm]}", "doubt step 2: where.a: the step does not contain corporate or firm."),
        ("call: pay, where: {a: [WIT, ORD]}", "doubt step 2: where.a: the step does not contain WIT or ORD."),
        ("call: pay, where: {a: {number: 5}}", "doubt step 2: where.a: the step does not contain 5 or five."),
        ("call: pay, where: {a: {date: --03-12}}", "doubt step 2: where.a: the step does not contain 12."),
        ("call: pay, where: {a: {date: tomorrow, for: order}}", "error step 2: where.a.date: `tomorrow` is not a date."),
        ("call: pay, where: {a: {min: 3, max: 2, for: order}}", "error step 2: where.a: `min` is above `max`."),
        ("call: pay, where: {a: {any: true, tolerance: 2}}", "error step 2: where.a.tolerance: `tolerance` must be positive, with a `number`."),
        ("call: pay, times: {min: 0}", "error step 2: a run that does nothing satisfies it."),
        ("call: pay, where: {a: {from_step: '9'}}", "error step 2: where.a.from_step: there is no step `9`."),
        ("call: pay, where: {a: $nobody}", "error step 2: where.a: there is no variable `nobody`."),
        ("call: pay, where: {a: [$card, order]}", "doubt step 2: where.a: `$card` in a list is a text, not the variable."),
        ("call: pay, where: {a: $each}", "error step 2: `$each` needs `each` or `each_from`."),
        ("call: pay, each: [a, b]", "error step 2: each: no condition uses the value, so any call counts for each."),
        ("call: pay, where: {a: $each}, each: [a], each_from: '1'", "error step 2: a requirement has `each` or `each_from`, not both."),
        ("call: pay, where: {a: $each}, each_from: '9'", "error step 2: each_from: there is no step `9`."),
        ("any_of: [{call: pay, where: {a: $each}}], each: [a, b]", "error step 2: each: `each` has no effect beside `any_of`."),
        ("any_of: [{call: pay, where: {a: $each}}]", "error step 2: any_of[0]: `$each` needs `each` or `each_from`."),
        ("any_of: [pay, charge], times: 2", "error step 2: times: `times` has no effect beside `any_of`."),
        ("any_of: [pay, charge], with: [scroll]", "error step 2: with: `with` has no effect beside `any_of`."),
        ("any_of: [pay, charge], by: clerk", "error step 2: by: `by` has no effect beside `any_of`."),
        ("call: pay, where: {a: '7'}, absent: a", "error step 2: absent: `a` is both absent and required."),
        ("call: python, is: {code: {program: ls}}", "error step 2: is.code.program: `program` is for shell; the argument holds python."),
        ("call: bash, is: {command: {sql: select}}", "error step 2: is.command.sql: `sql` is for sql; the argument holds shell."),
        ("call: get_order, where: {id: {any_of: ['7'], for: '7'}}", "error step 2: no run could tell it from step 1: their requirements are equal."),
    ],
)  # fmt: skip
def test_a_problem_of_a_step(fields: str, problem: str) -> None:
    assert problem in _check_step(fields)


@pytest.mark.parametrize(
    "fields",
    [
        "call: pay, where: {a: order 7}",
        "call: pay, where: {a: [paying, cards]}",
        "call: pay, where: {a: {number: 49.9}, b: {any: true}, c: {equals: card}}",
        "call: pay, where: {a: $card}",
        "call: bash, is: {command: {program: pay}}, where: {command: {argument: order}}",
        "is: {command: {program: pay}}",
        "any_of: [pay, {message: paid}]",
        "any_of: [{call: pay, where: {a: $each}, each: [a, b]}]",
        "call: pay, where: {a: $each}, each_from: '1'",
        "reasoning: {asks: true}",
        "message: {asks: true}",
    ],
)
def test_the_most_similar_step_without_one(fields: str) -> None:
    assert _check_step(fields) == []


def test_a_step_refers_to_earlier_ones() -> None:
    later = "{number: '1', text: Pay, call: pay, where: {id: {from_step: '2'}}}"
    problems = check_contract(_parse(later, "{number: '2', text: Look, call: look}"))
    assert [_describe(problem) for problem in problems] == [
        "error step 1: where.id.from_step: step 2 comes later."
    ]
    assert problems[0].keys == ("steps", 0, "all_of", 0, "where", "id", "from_step")


def test_a_parent_states_nothing() -> None:
    child = "{number: '1.1', text: Look at it, parent: '1', call: look}"
    (problem,) = check_contract(_parse("{number: '1', text: Pay, call: pay}", child))
    assert problem.what == "a step with sub-steps has no requirements of its own."


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Check the balance", "Check the balance"), []),
        (("Check the balance", "check  the Balance"), []),
        (("Check the balance", "Check the balance again"), ["doubt"]),
        (("Compute 500 times 8", "Run the computation a second time"), ["doubt"]),
        (("Read a.txt", "Read b.txt"), ["error"]),
        (("Fly to Lisbon", "Fly to Porto"), ["error"]),
    ],
)
def test_equal_steps_are_told_apart_or_repeated(
    texts: tuple[str, str], expected: list[str]
) -> None:
    first, second = texts
    contract = _parse(
        f"{{number: '1', text: {first}, call: do}}", f"{{number: '2', text: {second}, call: do}}"
    )
    assert [_describe(problem).split()[0] for problem in check_contract(contract)] == expected


@pytest.mark.parametrize(
    ("steps", "rest", "problem"),
    [
        ((), "", "error contract: has no steps."),
        (
            ("{number: '1', text: Be nice, uncheckable: tone}",),
            "",
            "error contract: no step counts: all are optional, uncheckable or not counted.",
        ),
        (
            ("{number: '1', text: Pay if needed, call: pay, optional: if needed}",),
            "",
            "error contract: no step counts: all are optional, uncheckable or not counted.",
        ),
        (
            (LOOK, "{number: '2', text: Pay, like: {kind: act}}"),
            "",
            "error contract: `like` can't be mixed with exact requirements.",
        ),
        (
            (LOOK,),
            "plan: sha256:00\n",
            "doubt plan: the digest is not that of the steps: they were changed after it was compiled.",
        ),
        ((LOOK,), "vars: {who: {}}\n", "doubt vars: variable `who` is not used."),
        (
            (LOOK,),
            "tools: {get_order: ignored}\n",
            "error tools: `get_order` is ignored, but a requirement names it.",
        ),
        ((LOOK,), "never: [get_order]\n", "error never[0]: step 1 requires it."),
        ((LOOK,), "never: [{message: {}}]\n", "error never[0]: message: any message satisfies it."),
        (
            (LOOK,),
            "before: [{first: bash, then: get_order}]\n",
            "error before[0]: first.call: `bash` can do anything.",
        ),
    ],
)
def test_a_problem_of_the_whole(steps: tuple[str, ...], rest: str, problem: str) -> None:
    lines = "".join(f"- {step}\n" for step in steps) or " []\n"
    contract = parse_contract(f"planproof: contract/1\nsteps:\n{lines}{rest}", "c")
    assert problem in [_describe(found) for found in check_contract(contract)]


def test_the_digest_of_the_steps_may_be_given() -> None:
    digest = steps_digest(_parse(LOOK).steps)
    assert check_contract(_parse(LOOK, rest=f"plan: {digest}\n")) == ()


def test_an_error_is_raised_with_its_place() -> None:
    with pytest.raises(InvalidInput, match="step 1: no requirement") as caught:
        require_valid(Contract(steps=(StepContract(number="1", text="Pay"),)), name="c.yaml")
    assert caught.value.where == "c.yaml"


def test_only_a_valid_file_is_read_to_judge_by(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(f"planproof: contract/1\nsteps:\n- {LOOK}\n", encoding="utf-8")
    assert read_valid_contract(file) == _parse(LOOK)
    file.write_text("planproof: contract/1\nsteps:\n- {number: 1, text: x, call: bash}\n", "utf-8")
    with pytest.raises(InvalidInput, match="step 1: call: `bash` can do anything") as caught:
        read_valid_contract(file)
    assert caught.value.where == f"{file}, line 3, column 24"


@pytest.mark.parametrize("is_complete", [True, False])
def test_unknown_names_are_errors_against_a_complete_catalogue(is_complete: bool) -> None:
    catalogue = _make_catalogue(
        is_complete=is_complete, get_orders=("order_id", "range.from"), pay=()
    )
    contract = _parse(
        LOOK,
        "{number: '2', text: Pay order 7, call: get_orders, where: {orderid: '7', range.from: "
        "order, range: order, '*': order}, with: [scroll]}",
        "{number: '3', text: Pay it now, call: pay, where: {what: it}}",
        "{number: '4', text: Pay with the new tool, call: pay_v2}",
        rest="tools: {scroll: supporting, pay: {also: [pay_v2]}}\n",
    )
    problems = check_contract(contract, catalogue)
    kind = "error" if is_complete else "doubt"
    assert [_describe(problem) for problem in problems] == [
        "doubt tools: there is no tool `scroll` in the catalogue.",
        f"{kind} step 1: call: there is no tool `get_order` in the catalogue.",
        f"{kind} step 2: where.orderid: `get_orders` has no argument `orderid`.",
        f"{kind} step 2: with: there is no tool `scroll` in the catalogue.",
    ]
    assert (problems[1].advice or "").startswith("Did you mean `get_orders`?")
    assert (problems[2].advice or "").startswith("Did you mean `order_id`?")


def test_a_large_catalogue_is_not_listed_and_searched_seldom() -> None:
    tools = {f"tool_{n}": () for n in range(500)}
    catalogue = _make_catalogue(is_complete=True, **tools)
    contract = _parse(*(f"{{number: '{n}', text: do {n}, call: tol_{n}}}" for n in range(100)))
    advice = [problem.advice for problem in check_contract(contract, catalogue)]
    assert advice[3] == "Did you mean `tool_3`?"
    assert advice.count(None) == 80


def test_only_people_write_patterns() -> None:
    step = "{number: '1', text: Pay order 7, call: 'pay_*'}"
    catalogue = _make_catalogue(is_complete=True, pay_card=(), pay_bank=(), look=())
    assert check_contract(_parse(step), catalogue) == ()
    assert expand_globs(_parse(step), catalogue) == {"pay_*": ("pay_bank", "pay_card")}
    by_model = "origin: {compiler: model x:y}\n"
    (problem,) = check_contract(_parse(step, rest=by_model), catalogue)
    assert problem.what == "`pay_*` is a pattern."
    reviewed = "origin: {compiler: model x:y, reviewed: {by: Ann, date: today}}\n"
    assert check_contract(_parse(step, rest=reviewed), catalogue) == ()
    nothing = _parse("{number: '1', text: Pay order 7, call: 'buy_*'}")
    assert check_contract(nothing, catalogue)[0].what == "no tool is called `buy_*`."


@pytest.mark.parametrize(
    ("checkable", "uncheckable", "score"),
    [(3, 0, 1.0), (3, 1, 0.5), (1, 1, 0.5), (3, 2, 0.25), (1, 2, 0.0), (0, 1, 0.0)],
)
def test_the_highest_score(checkable: int, uncheckable: int, score: float) -> None:
    steps = [f"{{number: c{n}, text: do {n}, call: do_{n}}}" for n in range(checkable)]
    steps += [f"{{number: u{n}, text: be {n}, uncheckable: tone}}" for n in range(uncheckable)]
    assert highest_score(_parse(*steps)) == score
    uncounted = "{number: x, text: be nice, uncheckable: tone, counted: false}"
    assert highest_score(_parse(*steps, uncounted)) == score


def test_work_is_bounded() -> None:
    step = "{{number: s{0}, text: do {0}, call: [do, {0}], where: {{a: {0}}}, optional: no way}}"
    contract = _parse(*(step.format(n) for n in range(3_000)))
    problems = check_contract(contract)
    assert [problem.is_error for problem in problems] == [True] * 1_000


def test_doubts_do_not_hide_an_error() -> None:
    doubtful = "{{number: s{0}, text: do it, call: do, where: {{a: {0}}}}}"
    steps = (doubtful.format(n) for n in range(1_010))
    problems = check_contract(_parse(*steps, "{number: last, text: Pay}"))
    assert len(problems) == 1_001
    assert (problems[-1].path, problems[-1].is_error) == ("step last", True)


def test_another_catalogue_than_at_the_time_of_compiling_is_a_doubt() -> None:
    catalogue = _make_catalogue(is_complete=True, get_order=("id",))
    same = f"origin: {{catalogue: complete, catalogue_digest: '{catalogue.digest}'}}\n"
    assert check_contract(_parse(LOOK, rest=same), catalogue) == ()
    other = "origin: {catalogue: complete, catalogue_digest: 'sha256:00'}\n"
    (problem,) = check_contract(_parse(LOOK, rest=other), catalogue)
    assert _describe(problem) == "doubt origin: the contract was compiled for another catalogue."
