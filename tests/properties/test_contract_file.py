"""Contracts are written without loss, in YAML and in JSON, whatever their texts are."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planproof.contracts.contract_diff import diff_contracts
from planproof.contracts.contract_file import (
    contract_digest,
    encode_contract,
    format_contract,
    parse_contract,
    to_json,
    update_contract_text,
)
from planproof.contracts.contract_validation import check_contract, highest_score
from planproof.core.contract import (
    Condition,
    Contract,
    ContractOrigin,
    MessageCondition,
    Precedence,
    Requirement,
    Review,
    Similarity,
    SqlCondition,
    StepContract,
    Times,
    ToolMarks,
    Variable,
    When,
)
from planproof.errors import InvalidInput
from planproof.reports.terminal.contract_lines import (
    format_contract_lines,
    format_diff,
    format_problems,
)
from planproof.reports.terminal.lines import to_plain_text
from planproof.reports.wording import make_sanitizer

# Words that YAML, JSON or the short forms give a meaning.
_SPECIAL = st.sampled_from(
    "$x $each $49.90 $HOME no yes null ~ true 007 2.10 1e3 2026-01-02 --03-12 - ? : # & * ! | > "
    "@ ` % [a] {a} a:b a:_b a_#b 'x' \"x\" \\ \u2028 \u200b \ufeff \x07 \U0001f600 é".replace(
        "_", " "
    ).split(" ")
)
_TEXTS = (st.text(st.characters(exclude_categories=("Cs",)), max_size=20) | _SPECIAL).filter(
    str.strip
)
_MARKS = st.text("ab :#,-[]{}'\"\n\t$", max_size=12).filter(str.strip)


@st.composite
def _draw_text(draw: st.DrawFn) -> str:
    return draw(_TEXTS | _MARKS)


@st.composite
def _draw_step(draw: st.DrawFn) -> StepContract:
    return draw(_STEPS)


@st.composite
def contracts(draw: st.DrawFn) -> Contract:
    """Draw a contract; strategies with a name of their own have a short representation."""
    return draw(_CONTRACTS)


texts = _draw_text()
anything = texts | st.just("")
names = texts.filter(str.isprintable)


def _some(items: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[Any]:
    return st.lists(items, min_size=least, max_size=3).map(tuple)


def _maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


numbers = st.floats(allow_nan=False, allow_infinity=False)
sql = st.builds(SqlCondition, verb=_maybe(anything), tables=_some(texts), columns=_some(texts))
conditions = st.just(Condition()) | st.builds(
    Condition,
    any_of=_some(texts),
    equals=_maybe(anything),
    number=_maybe(numbers),
    tolerance=numbers | st.just(0.0),
    min=_maybe(numbers),
    date=_maybe(anything),
    program=_some(texts),
    argument=_some(texts),
    sql=_maybe(sql),
    any_value=st.booleans(),
    not_=_some(texts),
    from_step=_maybe(anything),
    var=_maybe(anything),
    is_each=st.booleans(),
    for_=_maybe(anything),
)
single_forms = st.one_of(
    texts.map(lambda text: Condition(any_of=(text,))),
    _some(texts, 1).map(lambda items: Condition(any_of=items)),
    texts.map(lambda text: Condition(var=text)),
    st.just(Condition(is_each=True)),
)
by_argument = st.dictionaries(names, conditions | single_forms, max_size=3)
messages = st.builds(
    MessageCondition,
    to=_maybe(anything),
    says=_some(_some(texts, 1)),
    values=_some(conditions | single_forms),
    asks=st.booleans(),
)
times = st.tuples(st.integers(0, 4), _maybe(st.integers(1, 9))).map(
    lambda pair: Times(min=pair[0], max=pair[1] and max(pair))
)
leaves = st.builds(
    Requirement,
    call=_some(texts),
    is_=by_argument,
    where=by_argument,
    absent=_some(texts),
    only=st.booleans(),
    message=_maybe(messages),
    reasoning=_maybe(messages),
    like=_maybe(st.builds(Similarity, kind=anything, words=_some(texts))),
    times=times,
    each=_some(texts),
    each_from=_maybe(anything),
    with_=_some(texts),
    by=_maybe(anything),
) | texts.map(lambda text: Requirement(call=(text,)))
requirements = leaves | st.builds(Requirement, any_of=_some(leaves, 1)) | st.just(Requirement())
whens = st.builds(When, step=_maybe(anything), result=by_argument, for_=_maybe(anything))
_STEPS = st.builds(
    StepContract,
    number=texts,
    text=texts,
    all_of=_some(requirements),
    when=_maybe(whens),
    else_of=_maybe(anything),
    optional=_maybe(anything),
    free_order=st.booleans(),
    uncheckable=_maybe(anything),
    counted=st.booleans(),
    parent=_maybe(anything),
)
marks = st.builds(ToolMarks, mark=_maybe(st.just("closing")), also=_some(texts))
_CONTRACTS = st.builds(
    Contract,
    name=_maybe(anything),
    plan=_maybe(anything),
    origin=st.builds(
        ContractOrigin,
        catalogue=st.sampled_from(["complete", "observed", "none"]),
        compiler=anything,
        reviewed=_maybe(st.builds(Review, by=anything, date=anything)),
    ),
    variables=st.dictionaries(names, st.builds(Variable, from_=_maybe(anything)), max_size=2),
    tools=st.dictionaries(names, marks, max_size=2),
    steps=st.lists(_draw_step(), max_size=3, unique_by=lambda step: step.number).map(tuple),
    never=_some(requirements),
    before=_some(st.builds(Precedence, first=requirements, then=requirements)),
)


@given(contracts(), st.lists(texts, max_size=2))
def test_a_contract_is_read_as_it_was_written(contract: Contract, notes: list[str]) -> None:
    comments = {step.number: notes for step in contract.steps}
    for text in (
        format_contract(contract, comments=comments),
        to_json(contract),
        json.dumps(encode_contract(contract)),
    ):
        parsed = parse_contract(text, "c")
        assert parsed == contract
        assert contract_digest(parsed) == contract_digest(contract)


@settings(max_examples=25)  # an edit parses with comments, which is slow
@given(contracts(), contracts())
def test_an_edited_file_is_the_new_contract(old: Contract, new: Contract) -> None:
    text = update_contract_text(format_contract(old), new)
    assert parse_contract(text, "c") == new


@given(contracts())
def test_any_contract_is_checked_shown_and_compared(contract: Contract) -> None:
    show = make_sanitizer(secrets=False)
    for line in (
        *format_contract_lines(contract, "c", show),
        *format_problems(check_contract(contract), lambda problem: problem.path, show),
        *format_diff(diff_contracts(contract, Contract()), show),
    ):
        assert to_plain_text(line).isprintable()
    assert not diff_contracts(contract, contract)
    assert 0 <= highest_score(contract) <= 1


# Values in the place of a contract, or of one of its parts.
_keys = st.sampled_from(
    "planproof steps number text call is where any_of all_of times each message says values when "
    "result tools vars never before first then origin for not sql a".split()
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["contract/1", "$x", "", "1", "a"]),
    lambda items: st.lists(items, max_size=3) | st.dictionaries(_keys, items, max_size=5),
    max_leaves=25,
)


@given(_values)
def test_other_values_are_invalid_input(value: Any) -> None:
    whole = {"planproof": "contract/1", "steps": [{"number": "1", "text": "a", "all_of": value}]}
    for tried in (value, {"planproof": "contract/1", "steps": value}, whole):
        try:
            contract = parse_contract(json.dumps(tried), "c")
        except InvalidInput:
            continue
        assert parse_contract(format_contract(contract), "c") == contract
