"""Check a contract for what no run could satisfy, what any run would, and what the plan lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from planproof.contracts.contract_file import (
    MAX_NAME_CHARS,
    fold_step,
    read_contract_file,
    steps_digest,
)
from planproof.contracts.date_values import parse_partial_date
from planproof.contracts.generic_tools import find_language, is_generic, runs_code
from planproof.contracts.text_values import contains_words
from planproof.contracts.value_check import is_pattern, matches_glob
from planproof.contracts.values import extract_literals, fold
from planproof.core.contract import (
    ANY_ARGUMENT,
    Condition,
    Conditions,
    Contract,
    MessageCondition,
    Requirement,
    StepContract,
)
from planproof.core.score_table import Tally, find_row
from planproof.errors import InvalidInput, did_you_mean
from planproof.readers.decoding.yaml_files import YamlPath

if TYPE_CHECKING:
    from planproof.core.catalogue import Catalogue

_WORD = re.compile(r"\w+")
_REPEATING = frozenset(
    "again same repeat repeats repeated repeatedly retry second third fourth fifth another further "
    "more once twice anew times".split()
)
"""Words by which a step asks for something that was done before."""
_NO_CONDITION = Condition()
_NO_MESSAGE = MessageCondition()
_NO_REQUIREMENT = Requirement()
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_MAX_STEP_CHARS = 4_000
_MAX_PLAN_CHARS = 200_000
_MAX_PROBLEMS = 1_000
_MAX_SUGGESTIONS = 20
_MAX_NAMES_LISTED = 20
_MAX_SHOWN_CHARS = 60
_MAX_ALTERNATIVES_SHOWN = 3


class Problem(Struct, frozen=True, kw_only=True):
    """Something wrong with a contract, or (`is_error` False) a doubt for the person who reviews it.

    `path` says where it is in words; `keys` lead to it in the long form of the file.
    """

    path: str
    what: str
    advice: str | None = None
    is_error: bool = True
    keys: YamlPath = ()


def check_contract(contract: Contract, catalogue: Catalogue | None = None) -> tuple[Problem, ...]:
    """Return the errors and doubts of a contract in the order of the file, the first 1,000 of each.

    Tools and arguments that a complete catalogue lacks are errors, otherwise doubts.
    """
    problems: list[Problem] = []
    counts = {True: 0, False: 0}
    for problem in _Checker(contract, catalogue).check():
        counts[problem.is_error] += 1
        if counts[problem.is_error] <= _MAX_PROBLEMS:
            problems.append(problem)
    return tuple(problems)


def read_valid_contract(path: Path, catalogue: Catalogue | None = None) -> Contract:
    """Read a contract to judge by; raise InvalidInput for its first error, with line and column."""
    contract, document = read_contract_file(path)
    if problem := _find_error(contract, catalogue):
        raise document.error(f"{problem.path}: {problem.what}", problem.keys, problem.advice)
    return contract


def require_valid(
    contract: Contract, catalogue: Catalogue | None = None, *, name: str = "contract"
) -> None:
    """Raise InvalidInput for the first error of a contract."""
    if problem := _find_error(contract, catalogue):
        raise InvalidInput(f"{problem.path}: {problem.what}", where=name, advice=problem.advice)


def _find_error(contract: Contract, catalogue: Catalogue | None) -> Problem | None:
    problems = _Checker(contract, catalogue).check()
    return next((problem for problem in problems if problem.is_error), None)


def highest_score(contract: Contract) -> float:
    """Return the highest score that a run can reach: uncheckable steps count as ambiguous."""
    counted = [step for step in contract.leaves if step.counted]
    unchecked = sum(step.uncheckable is not None for step in counted)
    executed = len(counted) - unchecked
    return find_row(Tally(n=len(counted), E=executed, P=0, L=unchecked, O=0, M=0, m=0)).score


def expand_globs(contract: Contract, catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """Return the tools that each glob of the contract stands for."""
    names = sorted(tool.name for tool in catalogue.tools)
    globs = {
        name: None
        for requirement in _iter_all_requirements(contract)
        for name in (*requirement.call, *requirement.with_)
        if is_pattern(name)
    }
    return {glob: tuple(name for name in names if matches_glob(glob, name)) for glob in globs}


class _Place(Struct, frozen=True):
    """A part of a contract: in words, as keys, and the folded text and number of its step."""

    words: str
    keys: YamlPath
    text: str | None = None
    step: str | None = None

    def enter(self, *keys: str | int) -> _Place:
        parts = [str(key) if isinstance(key, str) else f"[{key}]" for key in keys]
        # The only requirement of a step needs no index.
        name = "" if keys == ("all_of", 0) else ".".join(parts).replace(".[", "[")
        words = f"{self.words}{'.' if '.' in self.words or ':' in self.words else ': '}{name}"
        return replace(self, words=words if name else self.words, keys=(*self.keys, *keys))


class _Checker:
    def __init__(self, contract: Contract, catalogue: Catalogue | None) -> None:
        self._contract = contract
        self._numbers = {step.number: index for index, step in enumerate(contract.steps)}
        self._parents = {step.parent for step in contract.steps}
        self._plan_text = fold("\n".join(step.text for step in contract.steps))[:_MAX_PLAN_CHARS]
        self._used_variables: set[str] = set()
        self._suggestions = _MAX_SUGGESTIONS
        self._is_complete = catalogue is not None and catalogue.is_complete
        self._tools: dict[str, tuple[str, ...]] | None = None
        self._digest: str | None = None
        if catalogue is not None:
            self._digest = catalogue.digest
            self._tools = {tool.name: tool.arguments for tool in catalogue.tools}
            for name, marks in contract.tools.items():
                for other in marks.also:
                    self._tools.setdefault(other, self._tools.get(name, ()))

    def check(self) -> Iterator[Problem]:
        contract = self._contract
        yield from self._check_whole()
        for index, step in enumerate(contract.steps):
            place = _Place(f"step {step.number}", ("steps", index), fold(step.text), step.number)
            yield from self._check_step(step, place)
        yield from self._check_indistinguishable()
        yield from self._check_forbidden()
        for index, requirement in enumerate(contract.never):
            yield from self._check_requirement(
                requirement, _Place(f"never[{index}]", ("never", index))
            )
        for index, order in enumerate(contract.before):
            place = _Place(f"before[{index}]", ("before", index))
            yield from self._check_requirement(order.first, place.enter("first"))
            yield from self._check_requirement(order.then, place.enter("then"))
        for name in contract.variables.keys() - self._used_variables:
            yield _doubt(_Place("vars", ("vars", name)), f"variable `{name}` is not used.")

    def _check_forbidden(self) -> Iterator[Problem]:
        """Report steps that require a call which is never allowed."""
        forbidden = {
            name: index
            for index, never in enumerate(self._contract.never)
            if not (never.is_ or never.where or never.absent)
            for name in never.call
        }
        for step in self._contract.steps:
            for requirement in step.all_of:
                calls = [part.call for part in requirement.alternatives]
                if all(names and forbidden.keys() >= set(names) for names in calls):
                    index = forbidden[calls[0][0]]
                    yield _error(
                        _Place(f"never[{index}]", ("never", index)),
                        f"step {step.number} requires it.",
                    )

    def _check_whole(self) -> Iterator[Problem]:
        contract = self._contract
        whole = _Place("contract", ())
        if not contract.steps:
            yield _error(whole, "has no steps.", "State what each step of the plan must show.")
            return
        leaves = [step for step in contract.leaves if step.counted]
        if not any(step.optional is None and step.uncheckable is None for step in leaves):
            yield _error(
                whole,
                "no step counts: all are optional, uncheckable or not counted.",
                "State a requirement for at least one step, or use another judge.",
            )
        if contract.plan is not None and contract.plan != steps_digest(contract.steps):
            yield _doubt(
                _Place("plan", ("plan",)),
                "the digest is not that of the steps: they were changed after it was compiled.",
                "Compile the plan again, or remove `plan`.",
            )
        if self._is_complete and contract.origin.catalogue_digest not in (None, self._digest):
            yield _doubt(
                _Place("origin", ("origin", "catalogue_digest")),
                "the contract was compiled for another catalogue.",
                "Compile the plan again if the tools have changed.",
            )
        is_similar = [
            part.like is not None
            for step in contract.steps
            for requirement in step.all_of
            for part in requirement.alternatives
        ]
        if any(is_similar) and not all(is_similar):
            yield _error(whole, "`like` can't be mixed with exact requirements.")
        required = {name for part in _iter_all_requirements(contract) for name in part.call}
        for name, marks in contract.tools.items():
            place = _Place("tools", ("tools", name))
            yield from self._check_tool_name(name, place, is_required=False)
            if marks.mark == "ignored" and name in required:
                yield _error(place, f"`{name}` is ignored, but a requirement names it.")

    def _check_step(self, step: StepContract, place: _Place) -> Iterator[Problem]:
        if step.parent is not None:
            yield from self._check_reference(step.parent, place.enter("parent"), is_earlier=True)
        if step.else_of is not None:
            at = place.enter("else_of")
            yield from self._check_reference(step.else_of, at, is_earlier=False)
            other = self._numbers.get(step.else_of)
            if other is not None and self._contract.steps[other].when is None:
                yield _error(at, f"step {step.else_of} has no `when`.")
        if step.optional is not None and not self._is_in_plan(step.optional):
            yield _error(
                place.enter("optional"),
                f"the plan does not contain “{_cut(step.optional)}”.",
                "Quote the words of the plan that allow leaving the step out.",
            )
        yield from self._check_when(step, place)
        if step.number in self._parents:
            if step.all_of or step.uncheckable is not None:
                yield _error(place, "a step with sub-steps has no requirements of its own.")
            return
        if step.uncheckable is None and not step.all_of:
            yield _error(
                place, "no requirement.", "State one, or say why not: `uncheckable: tone`."
            )
        if step.uncheckable is not None and step.all_of:
            yield _error(place, "a step with requirements is not `uncheckable`.")
        if step.all_of and all(
            any(part.times.min < 1 for part in requirement.alternatives)
            for requirement in step.all_of
        ):
            yield _error(
                place, "a run that does nothing satisfies it.", "Require at least one call."
            )
        if not step.counted:
            yield _doubt(place.enter("counted"), "the step does not count.")
        yield from _check_ordered(step, place)
        for index, requirement in enumerate(step.all_of):
            at = place.enter("all_of", index) if len(step.all_of) > 1 else place.enter("all_of", 0)
            yield from self._check_requirement(requirement, at)

    def _check_when(self, step: StepContract, place: _Place) -> Iterator[Problem]:
        when = step.when
        if when is None:
            return
        at = place.enter("when")
        if when.for_ is not None and not self._is_in_plan(when.for_):
            yield _error(
                at.enter("for"),
                f"the plan does not contain “{_cut(when.for_)}”.",
                "Quote the words of the plan that state the condition.",
            )
        if when.step is None:
            if when.result:
                yield _error(at, "`result` needs `step`: the step whose result it is.")
            elif when.for_ is None:
                yield _error(at, "states no condition.")
            else:
                yield _doubt(at, "a program can't decide this condition.")
            return
        yield from self._check_reference(when.step, at.enter("step"), is_earlier=True)
        if not when.result:
            yield _error(at, "`step` needs `result`: keys of its result, with conditions.")
        for key, condition in when.result.items():
            yield from self._check_condition(condition, replace(at.enter("result", key), text=None))

    def _check_requirement(
        self, requirement: Requirement, place: _Place, *, is_alternative: bool = False
    ) -> Iterator[Problem]:
        forms = [
            name
            for name, is_given in (
                ("call", requirement.names_action),
                ("message", requirement.message is not None),
                ("reasoning", requirement.reasoning is not None),
                ("like", requirement.like is not None),
                ("any_of", bool(requirement.any_of)),
            )
            if is_given
        ]
        if len(forms) != 1:
            given = f"has {' and '.join(forms)}" if forms else "names no action"
            yield _error(
                place,
                f"the requirement {given}.",
                "Name one of `call` or `is`, `message`, `reasoning`, `any_of`.",
            )
            if not forms:
                return
        if requirement.any_of and is_alternative:
            yield _error(place, "an alternative can't have alternatives.")
            return
        if requirement.any_of:
            yield from _check_beside_alternatives(requirement, place)
        has_call = "call" in forms
        if not has_call and (requirement.where or requirement.absent or requirement.only):
            yield _error(place, "`where`, `absent` and `only` belong to a `call`.")
        if has_call:
            yield from self._check_call(requirement, place)
        for name in ("message", "reasoning"):
            yield from self._check_message(getattr(requirement, name), place.enter(name), name)
        for index, alternative in enumerate(requirement.any_of):
            at = place.enter("any_of", index)
            yield from self._check_requirement(alternative, at, is_alternative=True)
        yield from self._check_each(requirement, place)
        low, high = requirement.times.min, requirement.times.max
        if low < 0 or (high is not None and high < max(low, 1)):
            yield _error(place.enter("times"), "`times` allows no call.")
        for name in requirement.with_:
            yield from self._check_tool_name(name, place.enter("with"))

    def _check_call(self, requirement: Requirement, place: _Place) -> Iterator[Problem]:
        for name in requirement.call:
            yield from self._check_tool_name(name, place.enter("call"))
        if not any(_says_something(condition) for condition in requirement.is_.values()):
            generic = next(filter(is_generic, requirement.call), None)
            if requirement.is_ and (generic is None or runs_code(generic)):
                yield _error(place.enter("is"), "any call satisfies it.")
            if generic is not None:
                # What is clicked or typed can be unknown; what a shell runs must be said.
                report = _error if runs_code(generic) else _doubt
                yield report(
                    place.enter("call"),
                    f"`{_cut(generic)}` can do anything.",
                    "Say which action it is with `is`, for example {command: {program: pg_dump}}.",
                )
            if any(name.strip("*?") == "" for name in requirement.call):
                yield _error(place.enter("call"), "any call satisfies it.")
        for name, conditions in (("is", requirement.is_), ("where", requirement.where)):
            yield from self._check_conditions(conditions, requirement, place.enter(name))
        yield from self._check_argument_names(
            requirement.absent, requirement, place.enter("absent")
        )
        for argument in requirement.absent:
            if argument in requirement.where or argument in requirement.is_:
                yield _error(
                    place.enter("absent"), f"`{_cut(argument)}` is both absent and required."
                )

    def _check_conditions(
        self, conditions: Conditions, requirement: Requirement, place: _Place
    ) -> Iterator[Problem]:
        yield from self._check_argument_names(conditions, requirement, place)
        for argument, condition in conditions.items():
            at = place.enter(argument)
            yield from self._check_condition(condition, at)
            yield from _check_language(condition, argument, requirement.call, at)

    def _check_condition(self, condition: Condition, place: _Place) -> Iterator[Problem]:
        if replace(condition, for_=None) == _NO_CONDITION:
            yield _error(place, "states no condition.", "Write {any: true} if any value will do.")
            return
        if condition.var is not None:
            self._used_variables.add(condition.var)
            if condition.var not in self._contract.variables:
                yield _error(
                    place,
                    f"there is no variable `{_cut(condition.var)}`.",
                    f"Declare it in `vars`, or write [${_cut(condition.var)}] for the text.",
                )
        for text in condition.any_of:
            if text.startswith("$") and text[1:] in self._contract.variables:
                yield _doubt(place, f"`{_cut(text)}` in a list is a text, not the variable.")
        for field, number in (("from_step", condition.from_step), ("same_as", condition.same_as)):
            if number is not None:
                yield from self._check_reference(number, place.enter(field), is_earlier=True)
        if condition.date is not None and parse_partial_date(condition.date) is None:
            yield _error(
                place.enter("date"),
                f"`{_cut(condition.date)}` is not a date.",
                "Write 2026-03-12, or --03-12 without the year.",
            )
        low, high = condition.min, condition.max
        if low is not None and high is not None and low > high:
            yield _error(place, "`min` is above `max`.")
        if condition.tolerance < 0 or (condition.tolerance and condition.number is None):
            yield _error(place.enter("tolerance"), "`tolerance` must be positive, with a `number`.")
        yield from self._check_words(condition, place)
        for index, part in enumerate(condition.all_of):
            yield from self._check_condition(part, place.enter("all_of", index))

    def _check_words(self, condition: Condition, place: _Place) -> Iterator[Problem]:
        """Check that the step contains the words in `for`, or else the value itself."""
        if condition.for_ is not None:
            if place.text is not None and fold(condition.for_) not in place.text:
                yield _error(
                    place.enter("for"),
                    f"the step does not contain “{_cut(condition.for_)}”.",
                    "Quote the words of the step that the value stands for.",
                )
            return
        values = _list_values(condition)
        if place.text is None or not values:
            return
        if not any(_contains(place.text, value) for value in values):
            shown = " or ".join(map(_cut, values[:_MAX_ALTERNATIVES_SHOWN]))
            yield _doubt(
                place,
                f"the step does not contain {shown}.",
                "Say with `for` which words of the step the value stands for.",
            )

    def _check_message(
        self, message: MessageCondition | None, place: _Place, name: str
    ) -> Iterator[Problem]:
        if message is None:
            return
        if message == _NO_MESSAGE and name == "message":
            yield _error(place, "any message satisfies it.", "Say what it tells, or to whom.")
        elif not (message.says or message.values or message.asks):
            yield _doubt(place, "no word is required.", "Say what it tells with `says`.")
        if message.not_ and not (message.says or message.values or message.asks):
            yield _error(
                place.enter("not"), "nearly any text satisfies it.", "Say what it tells as well."
            )
        if any(not group for group in message.says):
            yield _error(place.enter("says"), "a group has no alternatives.")
        for index, value in enumerate(message.values):
            yield from self._check_condition(value, place.enter("values", index))

    def _check_each(self, requirement: Requirement, place: _Place) -> Iterator[Problem]:
        if requirement.each and requirement.each_from is not None:
            yield _error(place, "a requirement has `each` or `each_from`, not both.")
        if requirement.each_from is not None:
            yield from self._check_reference(
                requirement.each_from, place.enter("each_from"), is_earlier=True
            )
        has_values = bool(requirement.each) or requirement.each_from is not None
        uses_value = any(condition.is_each for condition in _iter_conditions(requirement))
        if has_values and not uses_value and not requirement.any_of:
            yield _error(
                place.enter("each"),
                "no condition uses the value, so any call counts for each.",
                "Write `$each` where the value belongs, for example `where: {id: $each}`.",
            )
        elif uses_value and not has_values:
            yield _error(place, "`$each` needs `each` or `each_from`.")

    def _check_reference(
        self, number: str, place: _Place, *, is_earlier: bool
    ) -> Iterator[Problem]:
        index = self._numbers.get(number)
        if index is None:
            yield _error(place, f"there is no step `{_cut(number)}`.")
        elif number == place.step:
            yield _error(place, "refers to its own step.")
        elif is_earlier and place.step is not None and index > self._numbers[place.step]:
            yield _error(place, f"step {number} comes later.")

    def _check_tool_name(
        self, name: str, place: _Place, *, is_required: bool = True
    ) -> Iterator[Problem]:
        if len(name) > MAX_NAME_CHARS or not name.isprintable():
            yield _error(
                place, f"the name of a tool has at most {MAX_NAME_CHARS} printable characters."
            )
        elif is_pattern(name):
            origin = self._contract.origin
            if origin.compiler and origin.reviewed is None:
                yield _error(
                    place,
                    f"`{_cut(name)}` is a pattern.",
                    "Name the tools; only people write patterns.",
                )
            elif self._tools is not None and not any(
                matches_glob(name, tool) for tool in self._tools
            ):
                yield self._report_unknown(
                    place, f"no tool is called `{_cut(name)}`.", is_required=is_required
                )
        elif self._tools is not None and name not in self._tools:
            yield self._report_unknown(
                place,
                f"there is no tool `{_cut(name)}` in the catalogue.",
                is_required=is_required,
                advice=self._suggest(name, self._tools),
            )

    def _check_argument_names(
        self, arguments: Iterable[str], requirement: Requirement, place: _Place
    ) -> Iterator[Problem]:
        tools = self._tools or {}
        known = {name for tool in requirement.call for name in tools.get(tool, ())}
        if not known or not all(tools.get(tool) for tool in requirement.call):
            return
        for argument in arguments:
            is_known = argument == ANY_ARGUMENT or any(
                argument == name
                or argument.startswith(f"{name}.")
                or name.startswith(f"{argument}.")
                for name in known
            )
            if not is_known:
                yield self._report_unknown(
                    place.enter(argument),
                    f"`{_cut(requirement.call[0])}` has no argument `{_cut(argument)}`.",
                    advice=self._suggest(argument, known),
                )

    def _report_unknown(
        self, place: _Place, what: str, *, is_required: bool = True, advice: str | None = None
    ) -> Problem:
        """Return an error only if the catalogue is complete."""
        report = _error if self._is_complete and is_required else _doubt
        return report(place, what, advice)

    def _suggest(self, name: str, known: Collection[str]) -> str | None:
        """Return the nearest known name; it takes time, so only for the first problems."""
        if self._suggestions == 0:
            return None
        self._suggestions -= 1
        if len(known) <= _MAX_NAMES_LISTED:
            return did_you_mean(name, known)
        nearest = get_close_matches(name, known, n=1)
        return f"Did you mean `{nearest[0]}`?" if nearest else None

    def _check_indistinguishable(self) -> Iterator[Problem]:
        """Find steps with equal requirements, unless the plan says the same thing twice."""
        first_by_requirements: dict[object, StepContract] = {}
        for index, step in enumerate(self._contract.steps):
            if not step.all_of:
                continue
            key = repr([_without_quotes(requirement) for requirement in step.all_of])
            other = first_by_requirements.setdefault((key, repr(step.when)), step)
            if other is step or fold_step(other.text) == fold_step(step.text):
                continue
            # Steps that name other values differ. But a plan may ask for the same thing again, and
            # a call may take none of the values, only an id that an earlier step returned.
            refers = any(
                condition.from_step is not None or condition.same_as is not None
                for requirement in step.all_of
                for part in requirement.alternatives
                for condition in _iter_conditions(part)
            )
            repeats = not _REPEATING.isdisjoint(_WORD.findall(fold(step.text)))
            is_mistake = not (refers or repeats) and _name_values(other) != _name_values(step)
            yield (_error if is_mistake else _doubt)(
                _Place(f"step {step.number}", ("steps", index)),
                f"no run could tell it from step {other.number}: their requirements are equal.",
                "Add a value by which they differ.",
            )

    def _is_in_plan(self, words: str) -> bool:
        return bool(words.strip()) and fold(words) in self._plan_text


def _error(place: _Place, what: str, advice: str | None = None) -> Problem:
    return Problem(path=place.words, what=what, advice=advice, keys=place.keys)


def _doubt(place: _Place, what: str, advice: str | None = None) -> Problem:
    return Problem(path=place.words, what=what, advice=advice, is_error=False, keys=place.keys)


def _check_language(
    condition: Condition, argument: str, tools: Iterable[str], place: _Place
) -> Iterator[Problem]:
    """Report forms for another language than the one that the argument holds."""
    forms: Mapping[str, tuple[object, str]] = {
        "program": (condition.program, "shell"),
        "argument": (condition.argument, "shell"),
        "calls": (condition.calls, "python"),
        "sql": (condition.sql, "sql"),
    }
    languages = {find_language(tool, argument) for tool in tools} - {None}
    for name, (value, language) in forms.items():
        if value and languages and language not in languages:
            held = " or ".join(sorted(map(str, languages)))
            yield _error(
                place.enter(name), f"`{name}` is for {language}; the argument holds {held}."
            )


def _check_ordered(step: StepContract, place: _Place) -> Iterator[Problem]:
    """Report an order of requirements where there is only one."""
    if step.ordered and len(step.all_of) < 2:
        yield _error(
            place.enter("ordered"),
            "one requirement has no order.",
            "State each part of the step as a requirement of its own in `all_of`.",
        )


def _check_beside_alternatives(requirement: Requirement, place: _Place) -> Iterator[Problem]:
    """Report fields beside `any_of` that only its alternatives can have."""
    for name, is_given in (
        ("times", requirement.times != _NO_REQUIREMENT.times),
        ("each", bool(requirement.each)),
        ("each_from", requirement.each_from is not None),
        ("with", bool(requirement.with_)),
        ("by", requirement.by is not None),
    ):
        if is_given:
            yield _error(
                place.enter(name),
                f"`{name}` has no effect beside `any_of`.",
                f"Put `{name}` inside each alternative.",
            )


def _contains(step: str, value: str) -> bool:
    """Return whether a folded step contains a value, or another form of its words."""
    if len(step) > _MAX_STEP_CHARS:
        return True  # nearly any value is somewhere in pages of text
    return contains_words(value, step) or (fold(value) in step and not value.isalpha())


def _says_something(condition: Condition) -> bool:
    """Return whether a condition can fail on a value that is there."""
    return replace(condition, for_=None, any_value=False) != _NO_CONDITION


def _list_values(condition: Condition) -> list[str]:
    """Return the values of a condition that a step could contain as they are written."""
    values = [*condition.any_of, *condition.argument]
    values += [value for value in (condition.equals, condition.path, condition.url) if value]
    for number in (condition.number, condition.min, condition.max):
        if number is not None:
            values.append(f"{number:g}")
            values += [_NUMBER_WORDS[int(number)]] if number in range(len(_NUMBER_WORDS)) else []
    date = parse_partial_date(condition.date) if condition.date is not None else None
    if date is not None and date.day is not None:
        values.append(str(date.day))
    return values


def _iter_conditions(requirement: Requirement) -> Iterator[Condition]:
    messages = (requirement.message, requirement.reasoning)
    conditions = [
        *requirement.is_.values(),
        *requirement.where.values(),
        *(value for message in messages if message is not None for value in message.values),
    ]
    while conditions:
        condition = conditions.pop()
        yield condition
        conditions += condition.all_of


def _iter_all_requirements(contract: Contract) -> Iterator[Requirement]:
    stated = [
        *(requirement for step in contract.steps for requirement in step.all_of),
        *contract.never,
        *(part for order in contract.before for part in (order.first, order.then)),
    ]
    for requirement in stated:
        yield from requirement.alternatives


def _without_quotes(requirement: Requirement) -> Requirement:
    """Return a requirement without the words that its values stand for."""
    return replace(
        requirement,
        is_={name: _without_quote(value) for name, value in requirement.is_.items()},
        where={name: _without_quote(value) for name, value in requirement.where.items()},
        any_of=tuple(map(_without_quotes, requirement.any_of)),
    )


def _without_quote(condition: Condition) -> Condition:
    return replace(condition, for_=None, all_of=tuple(map(_without_quote, condition.all_of)))


def _name_values(step: StepContract) -> frozenset[str]:
    return frozenset(literal.forms[0] for literal in extract_literals(step.text))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
