"""Decide how well a candidate satisfies a requirement: `RequirementMatcher.match`.

`call` and `is` say which action it is, `where` with which values. Every condition is true, false or
unknown; what the trace does not show never counts as a match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planproof.checking.contract_candidates import CandidateKind, ContractCandidate, iter_texts
from planproof.checking.event_text import flatten_arguments
from planproof.contracts.condition_check import (
    check_condition,
    describe_condition,
    get_value_checker,
)
from planproof.contracts.generic_tools import is_generic
from planproof.contracts.python_values import (
    UNKNOWN_VALUE,
    PythonCode,
    check_calls,
)
from planproof.contracts.shell_values import ShellCommand, check_command, has_effect
from planproof.contracts.terms import is_function_word, stem
from planproof.contracts.text_values import contains_words
from planproof.contracts.value_check import all_true, any_true, is_pattern, matches_glob
from planproof.core.content import Json
from planproof.core.contract import (
    ANY_ARGUMENT,
    Condition,
    Conditions,
    Match,
    MessageCondition,
    Requirement,
    Truth,
)
from planproof.core.finding import Check
from planproof.core.json_values import is_object
from planproof.core.trace import COMMENTARY, DERIVED

_MATCH, _MISMATCH, _UNKNOWN = Truth.MATCH, Truth.MISMATCH, Truth.UNKNOWN
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s)[^.!?\n]*)*[.!?]?")
_NEGATION = re.compile(
    r"\b(?:(?:could|can|did|was|were|have|has|wo) ?n(?:o|['’])t|cannot|unable|will not"
    r"|not (?:been )?(?:able|possible)|failed to)\b",
    re.IGNORECASE,
)
_REGRET = re.compile(
    r"\b(?:sorry|apolog|unfortunate|regret|refus|declin|reject|den(?:y|ied)|fail|error|impossible"
    r"|unavailable)",
    re.IGNORECASE,
)
_INTENT = re.compile(
    r"^\W*(?:(?:now|next|then|first|so|okay|ok|alright|great|sure|thanks|thank you)\W+){0,3}"
    r"(?:(?:I|we)(?:['’]ll| will| shall| am going to| are going to| need to| plan to| can)\b"
    r"|(?:I['’]m|we['’]re) going to\b|let(?: me|['’]s| us)\b|please (?:wait|hold)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?|\b(?:please|could you|can you|would you|let me know|do you|kindly|tell me|give me"
    r"|(?:need|want|ask|require|like) (?:you|your)\b)",
    re.IGNORECASE,
)
_CODE_ARGUMENTS = frozenset({"text", "command", "cmd", "code", "script", "input"})
_ANNOUNCING = re.compile(r"\b(?:will|going to|offer|propose|announce|promise)\b", re.IGNORECASE)
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_EMPTY = Condition()
_WORD = re.compile(r"[^\s,;()]*[^\s,;().!?]|[^\s,;()]+")
_MAX_FOUND = 120
_MAX_ALTERNATIVES = 6
_MAX_TEXT = 20_000
_MIN_LISTED_WORDS = 5
_AGENT_WORDS = frozenset({"the", "assistant", "agent"})
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W_]")


class CheckedCondition(NamedTuple):
    """A condition that was checked, with what it expects and what was found.

    `description` is what it expects in words, if that is known before it is asked for.
    """

    path: str
    expected: Condition | str
    found: object
    truth: Truth
    description: str = ""


class MatchResult(Struct, frozen=True, eq=False):
    """The match of one candidate with one requirement, and the conditions behind it."""

    match: Match
    conditions: tuple[CheckedCondition, ...]
    requirement: Requirement
    event: str
    variables: Mapping[str, str] = MappingProxyType({})

    @property
    def checks(self) -> tuple[Check, ...]:
        """The conditions in words; built on demand, since few candidates are reported."""
        return tuple(
            Check(
                path=checked.path,
                expected=checked.description or self._describe(checked.expected),
                found=_format_value(checked.found)[:_MAX_FOUND],
                event=self.event,
                result=checked.truth,
            )
            for checked in self.conditions
        )

    def _describe(self, expected: Condition | str) -> str:
        if isinstance(expected, str):
            return expected
        return describe_condition(expected, self.variables)

    @property
    def matched_conditions(self) -> frozenset[tuple[str, str]]:
        """The value conditions that hold, by path and expected value; the tool is not one."""
        return frozenset(
            (checked.path, _describe_wanted(checked.expected))
            for checked in self.conditions
            if checked.truth is _MATCH and checked.path not in {"call", "by"}
        )


@lru_cache(maxsize=4_096)
def _describe_wanted(expected: Condition | str) -> str:
    """Return what a condition asks for, without what it excludes."""
    if isinstance(expected, str):
        return expected
    return describe_condition(replace(expected, not_=()))


class MatchContext(Struct, frozen=True):
    """What conditions need to know about the rest of the run.

    `variables` are the bound ones. `find_results` returns the outputs of a step before an event
    position, `find_given` also the values that its calls were given; None if they are not known.
    """

    variables: Mapping[str, str]
    find_results: Callable[[str, int], list[str] | None]
    find_given: Callable[[str, int], list[str] | None]


_NO_MATCH = MatchResult(Match.NONE, (), Requirement(), "")


class RequirementMatcher:
    """Matches candidates with a requirement without alternatives, prepared once for all of them."""

    def __init__(self, requirement: Requirement, step_text: str, context: MatchContext) -> None:
        self._requirement = requirement
        self._step_text = step_text
        self._context = context
        self._names_action = requirement.names_action
        self._called = " or ".join(requirement.call) or "any tool"
        self._calls: dict[str, CheckedCondition] = {}
        self._is = _prepare_conditions("is", requirement.is_, context)
        self._where = _prepare_conditions("where", requirement.where, context)
        self._is_closed = bool(requirement.absent) or requirement.only

    def match(self, candidate: ContractCandidate) -> MatchResult:
        """Return how well a candidate satisfies the requirement.

        If a tool is required, the candidate is a call of that tool (`calls_tool`).
        """
        if self._names_action:
            return self._match_call(candidate)
        requirement = self._requirement
        wanted = requirement.message or requirement.reasoning
        if wanted is None or not _is_text_for(requirement, candidate):
            return _NO_MATCH
        return _match_text(requirement, wanted, candidate, self._step_text, self._context)

    def _match_call(self, candidate: ContractCandidate) -> MatchResult:
        requirement, context = self._requirement, self._context
        name = candidate.event.name or ""
        called = self._calls.get(name)
        if called is None:
            called = self._calls[name] = CheckedCondition("call", self._called, name, _MATCH)
        checked = [called]
        if requirement.by is not None:
            checked.append(_check_actor(requirement.by, candidate))
            if checked[-1].truth is _MISMATCH:
                return _NO_MATCH
        for prepared in self._is:
            checked.append(_check_argument(prepared, candidate, context))
            if checked[-1].truth is _MISMATCH:
                return _NO_MATCH
        if candidate.command is not None and _is_without_effect(requirement, candidate.command):
            return _NO_MATCH
        truths = [one.truth for one in checked if one.truth is _UNKNOWN] if self._is else []
        for prepared in self._where:
            checked.append(_check_argument(prepared, candidate, context))
            truths.append(checked[-1].truth)
        if self._is_closed:
            for one in _check_closed(requirement, candidate):
                checked.append(one)
                truths.append(one.truth)
        grade = _grade(truths)
        if grade is Match.NONE:
            return _NO_MATCH
        return MatchResult(
            grade, tuple(checked), requirement, candidate.event.id, context.variables
        )


def _is_text_for(requirement: Requirement, candidate: ContractCandidate) -> bool:
    """Return whether a candidate is text of the kind that is required."""
    if candidate.kind is CandidateKind.MESSAGE:
        return True  # reasoning may be any text of the agent
    if candidate.event.recognition == COMMENTARY and not candidate.is_thought:
        return True
    if requirement.reasoning is None:
        return False
    return candidate.kind is CandidateKind.REASONING or candidate.is_thought


class _PreparedCondition(NamedTuple):
    """A condition on an argument, with what is the same for all candidates.

    `check` checks a value on which alone the condition depends; None if it depends on more.
    """

    path: str
    argument: str
    condition: Condition
    check: Callable[[Json], Truth] | None
    description: str


def _prepare_conditions(
    group: str, conditions: Conditions, context: MatchContext
) -> list[_PreparedCondition]:
    """Return conditions by argument; several on any argument may hold in different ones."""
    return [
        _PreparedCondition(
            f"{group}.{argument}",
            argument,
            part,
            None if _needs_context(part) or part.all_of else get_value_checker(part),
            describe_condition(part, context.variables),
        )
        for argument, condition in conditions.items()
        for part in (condition.parts if argument == ANY_ARGUMENT else (condition,))
    ]


def _grade(truths: list[Truth]) -> Match:
    """Grade the values of a call whose tool is right."""
    if _MISMATCH in truths:
        is_near = _MATCH in truths or len(truths) == 1
        return Match.NEAR if is_near else Match.NONE
    return Match.OPEN if _UNKNOWN in truths else Match.FULL


def calls_tool(requirement: Requirement, names: Iterable[str]) -> bool:
    """Return whether one of the names of a tool is required; without `call`, any tool is."""
    return not requirement.call or any(
        _is_tool(pattern, name) for name in names for pattern in requirement.call
    )


@lru_cache(maxsize=4_096)
def _is_tool(pattern: str, name: str) -> bool:
    """Return whether a tool name in lower case is the required one, or fits the pattern."""
    if is_pattern(pattern):
        return matches_glob(pattern, name)
    # "mcp__server__search" and "functions.search" end in the tool's own name.
    wanted = pattern.lower()
    return name == wanted or re.split(r"__|\.", name)[-1] == wanted


def _check_actor(agent: str, candidate: ContractCandidate) -> CheckedCondition:
    actor = candidate.event.actor or ""
    is_same = actor.lower() == agent.lower() or _fold_agent(actor) == _fold_agent(agent)
    return CheckedCondition("by", agent, actor, _MATCH if is_same else _MISMATCH)


@lru_cache(maxsize=1_024)
def _fold_agent(name: str) -> tuple[str, ...]:
    """Return the words of an agent's name: "Code_Reviewer" is the "code reviewer agent"."""
    words = _NAME_WORD.findall(name)
    return tuple(word for word in map(str.lower, words) if word not in _AGENT_WORDS)


def _is_without_effect(requirement: Requirement, command: ShellCommand) -> bool:
    """Return whether a command does nothing, unless the requirement names that program or flag."""
    conditions = (*requirement.is_.values(), *requirement.where.values())
    return not has_effect(command, conditions)


def _check_closed(
    requirement: Requirement, candidate: ContractCandidate
) -> Iterator[CheckedCondition]:
    """Check the arguments that must be absent."""
    given = candidate.arguments
    for argument in requirement.absent:
        found = None if given is None else _find_argument(given, argument)
        truth = _UNKNOWN if given is None else _MATCH if found in (None, "") else _MISMATCH
        yield CheckedCondition(f"absent.{argument}", "no value", found, truth)
    if requirement.only:
        allowed = {_fold_name(name) for name in (*requirement.is_, *requirement.where)}
        others = [name for name in given or () if _fold_name(name) not in allowed]
        truth = _UNKNOWN if given is None else _MISMATCH if others else _MATCH
        yield CheckedCondition("only", "no other argument", ", ".join(others), truth)


def _check_argument(
    prepared: _PreparedCondition, candidate: ContractCandidate, context: MatchContext
) -> CheckedCondition:
    """Check one condition on an argument of a call."""
    path, argument, condition, check, description = prepared
    if check is not None and candidate.kind is CandidateKind.CALL and argument != ANY_ARGUMENT:
        # Most conditions name an argument of a recorded call.
        given = candidate.event.arguments
        value = given.get(argument) if is_object(given) else None
        if value is not None and value != UNKNOWN_VALUE:
            truth = check(value)
            if truth is _MISMATCH and condition.any_of and _is_bare_element(value, candidate):
                truth = _UNKNOWN
            return CheckedCondition(path, condition, value, truth, description)
    found, truth = _MISSING, _UNKNOWN
    for value in _find_values(argument, candidate):
        if check is not None and value is not candidate and value != UNKNOWN_VALUE:
            now = check(value)
        else:
            now = _check_value(condition, value, candidate, context)
        if found is _MISSING or now is _MATCH or (now is _UNKNOWN and truth is _MISMATCH):
            found, truth = value, now
        if now is _MATCH:
            break
    if found is _MISSING and not _is_unrecorded(candidate):
        # An argument that is not given has none of the values that must not occur.
        truth = _MATCH if _has_only_exclusions(condition) else _MISMATCH
    if truth is _MISMATCH and condition.any_of and _is_bare_element(found, candidate):
        truth = _UNKNOWN
    return CheckedCondition(path, condition, found, truth, description)


_MISSING = object()


def _has_only_exclusions(condition: Condition) -> bool:
    return bool(condition.not_) and replace(condition, not_=(), for_=None) == _EMPTY


def _is_unrecorded(candidate: ContractCandidate) -> bool:
    event = candidate.event
    return candidate.arguments is None and not event.text and event.arguments is None


def _is_bare_element(found: object, candidate: ContractCandidate) -> bool:
    """Return whether a value is the number of a page element whose label is not recorded."""
    text = found if isinstance(found, str) else str(found) if isinstance(found, int) else ""
    if not text.strip("[]() ").isdecimal():
        return False
    names = map(str, candidate.arguments or ())
    return is_generic(candidate.name) and not any(name.startswith(DERIVED) for name in names)


def _find_values(argument: str, candidate: ContractCandidate) -> list[object]:
    """Return the values that an argument name stands for: one, or for `*` all of them.

    The command or code of a candidate is represented by the candidate itself.
    """
    is_any = argument == ANY_ARGUMENT
    is_parsed = candidate.kind is CandidateKind.COMMAND or candidate.kind is CandidateKind.CODE
    if is_parsed and (is_any or _is_held_in(argument, candidate)):
        return [candidate, *(_list_other_values(candidate) if is_any else ())]
    if candidate.call is not None:
        named = candidate.call.keywords
        if not is_any and (found := _find_argument(named, argument)) is not None:
            return [found]
        # Positional arguments have no names in code.
        return [*candidate.call.positional, *(named.values() if is_any else ())]
    given = candidate.arguments
    if given is None:
        return _list_unnamed_values(candidate)
    if is_any:
        return [value for _, value in flatten_arguments(given)]
    found = _find_argument(given, argument)
    return [] if found is None else [found]


def _is_held_in(argument: str, candidate: ContractCandidate) -> bool:
    """Return whether an argument name means the command or code of a candidate."""
    own = _fold_name(candidate.argument or "")
    folded = _fold_name(argument)
    return folded == own or (folded in _CODE_ARGUMENTS and own in _CODE_ARGUMENTS)


def _list_other_values(candidate: ContractCandidate) -> list[object]:
    return [
        value
        for name, value in flatten_arguments(candidate.arguments)
        if name != candidate.argument
    ]


def _list_unnamed_values(candidate: ContractCandidate) -> list[object]:
    """Return the values of a call whose arguments have no names."""
    event = candidate.event
    if candidate.is_result_only:
        return [event.output or event.text]
    values: list[object] = []
    if event.arguments is not None:
        values += [value for _, value in flatten_arguments(event.arguments)]
    return [*values, event.text] if event.text else values


def _find_argument(arguments: Mapping[str, Json], name: str) -> Json:
    """Return an argument by name, also nested (`a.b`), ignoring case and separators."""
    if name in arguments:
        return arguments[name]
    folded = _fold_name(name)
    for key, value in arguments.items():
        if _fold_name(key) == folded:
            return value
    head, _, rest = name.partition(".")
    inner = arguments.get(head) if rest else None
    return _find_argument(inner, rest) if is_object(inner) else None


@lru_cache(maxsize=4_096)
def _fold_name(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").removeprefix(DERIVED)


def _check_value(
    condition: Condition, value: object, candidate: ContractCandidate, context: MatchContext
) -> Truth:
    """Check all forms of a condition on one value."""
    if value == UNKNOWN_VALUE:
        return _UNKNOWN
    if not _needs_context(condition) and not condition.all_of:
        return _check_form(condition, value, candidate)
    truths = [
        truth
        for part in condition.parts
        for truth in _check_context(part, value, candidate, context)
    ]
    truths.append(_check_form(_strip_context(condition), value, candidate))
    return all_true(truths)


def _needs_context(condition: Condition) -> bool:
    """Return whether a form of a condition depends on the rest of the run."""
    return not (condition.var is None and condition.from_step is None and condition.same_as is None)


def _strip_context(condition: Condition) -> Condition:
    """Return a condition without the forms that depend on the rest of the run."""
    further = tuple(map(_strip_context, condition.all_of))
    return replace(condition, var=None, from_step=None, same_as=None, all_of=further)


def _check_form(condition: Condition, value: object, candidate: ContractCandidate) -> Truth:
    if value is not candidate:
        return check_condition(condition, value)
    if candidate.command is not None:
        return check_command(condition, candidate.command)
    if candidate.code is not None:
        return _check_code(condition, candidate.code)
    return _UNKNOWN


def _check_code(condition: Condition, code: PythonCode) -> Truth:
    """Check a condition on Python code: the functions it calls, its effective text, its values."""
    truths: list[Truth] = []
    for part in condition.parts:
        if part.calls:
            truths.append(check_calls(part.calls, code))
        if part.not_:
            truths.append(check_condition(Condition(not_=part.not_), code.effective_text))
        rest = replace(part, calls=(), not_=(), for_=None)
        if rest != _EMPTY:
            values = [code.effective_text, *_iter_code_values(code)]
            truth = any_true(
                check_condition(rest, value) for value in values if value != UNKNOWN_VALUE
            )
            is_place = rest.path is not None or rest.url is not None
            is_open = not code.is_complete or (is_place and UNKNOWN_VALUE in values)
            truths.append(_UNKNOWN if truth is _MISMATCH and is_open else truth)
    return all_true(truths)


def _iter_code_values(code: PythonCode) -> Iterator[Json]:
    """Yield the values that code passes to the functions it calls."""
    for call in code.calls:
        if call.is_executed and not call.is_neutral:
            yield from call.positional
            yield from call.keywords.values()


def _check_context(
    condition: Condition, value: object, candidate: ContractCandidate, context: MatchContext
) -> Iterator[Truth]:
    """Check the forms of a condition that depend on variables and on other steps."""
    if condition.var is not None and condition.var in context.variables:
        bound = (context.variables[condition.var],)
        # A word of a command that only contains the value, such as a file, is another value.
        is_command = value is candidate and candidate.command is not None
        wanted = Condition(argument=bound) if is_command else Condition(any_of=bound)
        yield _check_form(wanted, value, candidate)
    for number, find_texts in (
        (condition.from_step, context.find_results),
        (condition.same_as, context.find_given),
    ):
        if number is None:
            continue
        texts = find_texts(number, candidate.position)
        if not texts:
            yield _UNKNOWN
        elif value is candidate:
            yield _check_given_words(candidate, texts)
        else:
            yield _occurs_in_results(value, texts)


def _check_given_words(candidate: ContractCandidate, results: Sequence[str]) -> Truth:
    """Return whether a word that a command, or a function of code, is given occurs in results."""
    words: list[object] = []
    is_open = not candidate.is_parsed
    if candidate.command is not None:
        words += candidate.command.arguments
        is_open = candidate.command.unknown_arguments
    elif candidate.code is not None:
        words += _iter_code_values(candidate.code)
        is_open = is_open or UNKNOWN_VALUE in words
    # Options, and single characters, would occur in nearly any result.
    given = [word for word in words if isinstance(word, str) and len(word) > 1]
    truth = any_true(_occurs_in_results(word, results) for word in given if word[0] != "-")
    return _UNKNOWN if truth is _MISMATCH and is_open else truth


def _occurs_in_results(value: object, results: Iterable[str]) -> Truth:
    """Return whether every scalar of a value occurs whole in one of the results."""
    leaves = [str(leaf) for _, leaf in flatten_arguments([value]) if leaf not in (None, "")]
    if not leaves:
        return _UNKNOWN
    found = all(
        any(check_condition(Condition(any_of=(leaf,)), text) is _MATCH for text in results)
        for leaf in leaves
    )
    return _MATCH if found else _MISMATCH


def _match_text(
    requirement: Requirement,
    wanted: MessageCondition,
    candidate: ContractCandidate,
    step_text: str,
    context: MatchContext,
) -> MatchResult:
    """Match a message or reasoning: every group and every value must occur."""
    text = candidate.text[:_MAX_TEXT]
    if requirement.message is not None:
        text = _THINKING.sub("", text)
    group = "message" if requirement.message is not None else "reasoning"
    checked: list[CheckedCondition] = []
    if requirement.by is not None:
        checked.append(_check_actor(requirement.by, candidate))
    denies = _asks_for_denial(step_text, wanted)
    for index, alternatives in enumerate(wanted.says):
        # "I am sorry, but it can't be changed" is an apology.
        regrets = denies or any(map(_REGRET.search, alternatives))
        sentences = _list_reporting_sentences(text, step_text, wanted, keep_negations=regrets)
        found = _find_sentence(alternatives, sentences)
        expected = " or ".join(alternatives[:_MAX_ALTERNATIVES])
        path, truth = f"{group}.says.{index}", _MATCH if found else _MISMATCH
        checked.append(CheckedCondition(path, expected, found, truth))
    for index, condition in enumerate(wanted.values):
        truth = any_true(
            _check_value(condition, part, candidate, context) for part in _split_values(text)
        )
        found = describe_condition(condition, context.variables) if truth is _MATCH else ""
        checked.append(CheckedCondition(f"{group}.values.{index}", condition, found, truth))
    for index, unwanted in enumerate(wanted.not_):
        found = _find_sentence((unwanted,), _SENTENCE.findall(text))
        truth = _MISMATCH if found else _MATCH
        checked.append(CheckedCondition(f"{group}.not.{index}", f"not {unwanted}", found, truth))
    if wanted.asks:
        asks = _ASKS.search(text) is not None
        checked.append(
            CheckedCondition(f"{group}.asks", "a question", "", _MATCH if asks else _MISMATCH)
        )
    grade = _grade_text(checked)
    return MatchResult(grade, tuple(checked), requirement, candidate.event.id, context.variables)


def _split_values(text: str) -> Iterator[str]:
    """Yield a text as a whole, then its words and pairs of words: a message names many values."""
    yield text
    words = _WORD.findall(text)
    yield from words
    yield from (" ".join(words[index : index + 3]) for index in range(len(words) - 1))


def _find_sentence(alternatives: Sequence[str], sentences: Sequence[str]) -> str:
    """Return the first sentence that has one of several alternatives; empty if none has."""
    for sentence in sentences:
        if any(contains_words(alternative, sentence) for alternative in alternatives):
            return sentence.strip()
    return ""


def _is_word_list(sentence: str, groups: Iterable[Sequence[str]]) -> bool:
    """Return whether a sentence only lists words, among them different ones of the same group.

    It has hardly any function words, and no figures: a list of figures reports something.
    """
    words = _WORD.findall(sentence)
    linking = sum(map(is_function_word, words))
    if len(words) < _MIN_LISTED_WORDS or linking * _MIN_LISTED_WORDS >= len(words):
        return False
    if any(map(str.isdecimal, sentence)):
        return False
    return any(
        len({_stem_words(one) for one in alternatives if contains_words(one, sentence)}) > 1
        for alternatives in groups
    )


def _stem_words(text: str) -> str:
    return " ".join(map(stem, text.lower().split()))


def _grade_text(checked: list[CheckedCondition]) -> Match:
    """Grade a message: all conditions full, at least half of several near, otherwise none.

    That something is asked, by whom, or what is not said, makes no message near.
    """
    if all(one.truth is _MATCH for one in checked):
        return Match.FULL
    if any(one.path == "by" and one.truth is _MISMATCH for one in checked):
        return Match.NONE
    wanted = [one for one in checked if ".not." not in one.path]
    found = [one.path for one in wanted if one.truth is _MATCH]
    has_content = any(".says." in path or ".values." in path for path in found)
    return Match.NEAR if 2 * len(found) >= len(wanted) and has_content else Match.NONE


def _asks_for_denial(step_text: str, wanted: MessageCondition) -> bool:
    """Return whether a step, or what it must say, is about something that was not possible."""
    return _NEGATION.search(step_text) is not None or any(
        _NEGATION.search(alternative) for group in wanted.says for alternative in group
    )


def _list_reporting_sentences(
    text: str, step_text: str, wanted: MessageCondition, *, keep_negations: bool
) -> list[str]:
    """Return the sentences that can report something: no intentions, no failures, no word lists.

    A step that is itself about a failure or an intention takes such sentences too.
    """
    keep_intents = wanted.asks or re.search(
        r"\b(?:will|going to|offer|propose|announce|promise)\b", step_text, re.IGNORECASE
    )
    return [
        sentence
        for sentence in _SENTENCE.findall(text)
        if (keep_negations or not _NEGATION.search(sentence))
        and (keep_intents or not _INTENT.search(sentence))
        and not _is_word_list(sentence, wanted.says)
    ]


def _format_value(value: object) -> str:
    if value is _MISSING or value is None or value == UNKNOWN_VALUE:
        return ""
    if isinstance(value, ContractCandidate):
        if quote := value.quote:
            return quote
        held = dict(iter_texts(value.event)).get(value.argument or "", "")
        return held or value.event.text
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
