"""Decide how well a candidate satisfies a requirement: `match(requirement, candidate)`.

`call` and `is` say which action it is, `where` with which values. Every condition is true, false or
unknown; what the trace does not show never counts as a match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from planproof.checking.contract_candidates import CandidateKind, ContractCandidate
from planproof.checking.event_text import flatten_arguments
from planproof.contracts.condition_check import check_condition, describe_condition
from planproof.contracts.python_values import UNKNOWN_VALUE, PythonCode, check_calls
from planproof.contracts.shell_values import check_command, has_effect
from planproof.contracts.text_values import contains_words
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
from planproof.core.trace import DERIVED, Kind

_MATCH, _MISMATCH, _UNKNOWN = Truth.MATCH, Truth.MISMATCH, Truth.UNKNOWN
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s)[^.!?\n]*)*[.!?]?")
_NEGATION = re.compile(
    r"\b(?:(?:could|can|did|was|were|have|has|wo) ?n(?:o|['’])t|cannot|unable|will not"
    r"|not (?:been )?(?:able|possible)|failed to)\b",
    re.IGNORECASE,
)
_INTENT = re.compile(
    r"^\W*(?:(?:now|next|then|first|so|okay|ok|alright|great|sure|thanks|thank you)\W+){0,3}"
    r"(?:(?:I|we)(?:['’]ll| will| shall| am going to| are going to| need to| plan to| can)\b"
    r"|(?:I['’]m|we['’]re) going to\b|let(?: me|['’]s| us)\b|please (?:wait|hold)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?|\b(?:please|could you|can you|would you|let me know|do you|kindly)\b", re.IGNORECASE
)
_PARSED_KINDS = frozenset({CandidateKind.COMMAND, CandidateKind.CODE})
_CODE_ARGUMENTS = frozenset({"text", "command", "cmd", "code", "script", "input"})
_ANNOUNCING = re.compile(r"\b(?:will|going to|offer|propose|announce|promise)\b", re.IGNORECASE)
_MAX_FOUND = 120
_MAX_TEXT = 20_000
_AGENT_NAMES = frozenset({None, "", "assistant", "agent"})


class MatchResult(Struct, frozen=True, eq=False):
    """The match of one candidate with one requirement, and the conditions behind it."""

    match: Match
    checks: tuple[Check, ...]
    requirement: Requirement

    @property
    def matched_conditions(self) -> frozenset[tuple[str, str]]:
        """The value conditions that hold, by path and expected value; the tool is not one."""
        return frozenset(
            (check.path, check.expected)
            for check in self.checks
            if check.result is _MATCH and check.path not in {"call", "by"}
        )


class MatchContext(Struct, frozen=True):
    """What conditions need to know about the rest of the run.

    `variables` are the bound ones. `find_results` returns the outputs of a step before an event
    position; None if the step has none.
    """

    variables: Mapping[str, str]
    find_results: Callable[[str, int], list[str] | None]


_NO_MATCH = MatchResult(Match.NONE, (), Requirement())


def match(
    requirement: Requirement, candidate: ContractCandidate, step_text: str, context: MatchContext
) -> MatchResult:
    """Return how well a candidate satisfies a requirement without alternatives."""
    if requirement.call:
        return _match_call(requirement, candidate, context)
    wanted = requirement.message or requirement.reasoning
    if wanted is None or not _is_text_for(requirement, candidate):
        return _NO_MATCH
    return _match_text(requirement, wanted, candidate, step_text, context)


def _is_text_for(requirement: Requirement, candidate: ContractCandidate) -> bool:
    """Return whether a candidate is text of the kind that is required."""
    if candidate.kind is CandidateKind.MESSAGE:
        return True  # reasoning may be any text of the agent
    if requirement.reasoning is None:
        return False
    is_thought = candidate.event.kind is Kind.BOOKKEEPING
    return candidate.kind is CandidateKind.REASONING or is_thought


def _match_call(
    requirement: Requirement, candidate: ContractCandidate, context: MatchContext
) -> MatchResult:
    if candidate.kind in {CandidateKind.MESSAGE, CandidateKind.REASONING}:
        return _NO_MATCH
    tool = " or ".join(requirement.call)
    if not any(is_tool(name, candidate.name) for name in requirement.call):
        return _NO_MATCH
    checks = [_make_check("call", tool, candidate.event.name or "", candidate, _MATCH)]
    if requirement.by is not None:
        checks.append(_check_actor(requirement.by, candidate))
    identity = [
        _check_argument("is", argument, condition, candidate, context)
        for argument, condition in _iter_conditions(requirement.is_)
    ]
    if any(check.result is _MISMATCH for check in (*checks, *identity)):
        return MatchResult(Match.NONE, (*checks, *identity), requirement)
    if _is_without_effect(requirement, candidate):
        return _NO_MATCH
    values = [
        _check_argument("where", argument, condition, candidate, context)
        for argument, condition in _iter_conditions(requirement.where)
    ]
    values += _check_closed(requirement, candidate)
    unknown = [check for check in identity if check.result is _UNKNOWN]
    return MatchResult(_grade([*unknown, *values]), (*checks, *identity, *values), requirement)


def _iter_conditions(conditions: Conditions) -> Iterator[tuple[str, Condition]]:
    """Yield conditions with their arguments; several on any argument may hold in different ones."""
    for argument, condition in conditions.items():
        if argument == ANY_ARGUMENT:
            yield from ((argument, part) for part in condition.parts)
        else:
            yield argument, condition


def _grade(values: list[Check]) -> Match:
    """Grade the values of a call whose tool is right."""
    results = [check.result for check in values]
    if _MISMATCH in results:
        is_near = _MATCH in results or len(results) == 1
        return Match.NEAR if is_near else Match.NONE
    return Match.OPEN if _UNKNOWN in results else Match.FULL


@lru_cache(maxsize=4_096)
def is_tool(pattern: str, name: str) -> bool:
    """Return whether a tool name is the required one; `*` in a pattern stands for any text."""
    wanted = pattern.lower()
    if "*" not in wanted:
        # "mcp__server__search" and "functions.search" end in the tool's own name.
        return name == wanted or re.split(r"__|\.", name)[-1] == wanted
    first, *middle, last = wanted.split("*")
    if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
        return False
    position, end = len(first), len(name) - len(last)
    for part in middle:
        position = name.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return True


def _check_actor(agent: str, candidate: ContractCandidate) -> Check:
    actor = candidate.event.actor
    is_same = (actor or "").lower() == agent.lower() or (
        actor in _AGENT_NAMES and agent in _AGENT_NAMES
    )
    return _make_check("by", agent, actor or "", candidate, _MATCH if is_same else _MISMATCH)


def _is_without_effect(requirement: Requirement, candidate: ContractCandidate) -> bool:
    """Return whether a command does nothing, unless the requirement names that program or flag."""
    if candidate.command is None:
        return False
    conditions = (*requirement.is_.values(), *requirement.where.values())
    return not has_effect(candidate.command, conditions)


def _check_closed(requirement: Requirement, candidate: ContractCandidate) -> Iterator[Check]:
    """Check the arguments that must be absent."""
    given = candidate.arguments
    for argument in requirement.absent:
        found = None if given is None else _find_argument(given, argument)
        result = _UNKNOWN if given is None else _MATCH if found in (None, "") else _MISMATCH
        yield _make_check(f"absent.{argument}", "no value", _format(found), candidate, result)
    if requirement.only:
        allowed = {_fold_name(name) for name in (*requirement.is_, *requirement.where)}
        others = [name for name in given or () if _fold_name(name) not in allowed]
        result = _UNKNOWN if given is None else _MISMATCH if others else _MATCH
        yield _make_check("only", "no other argument", ", ".join(others), candidate, result)


def _check_argument(
    group: str,
    argument: str,
    condition: Condition,
    candidate: ContractCandidate,
    context: MatchContext,
) -> Check:
    """Check one condition on an argument of a call."""
    path, expected = f"{group}.{argument}", describe_condition(condition)
    found, result = _MISSING, _UNKNOWN
    for value in _find_values(argument, candidate):
        now = _check_value(condition, value, candidate, context)
        if found is _MISSING or now is _MATCH or (now is _UNKNOWN and result is _MISMATCH):
            found, result = value, now
        if now is _MATCH:
            break
    if found is _MISSING:
        result = _UNKNOWN if _is_unrecorded(candidate) else _MISMATCH
    if condition.not_ and result is not _MATCH and _has_only_exclusions(condition):
        result = _MATCH if found is _MISSING and result is _MISMATCH else result
    return _make_check(path, expected, _format_value(found), candidate, result)


_MISSING = object()


def _has_only_exclusions(condition: Condition) -> bool:
    return replace(condition, not_=(), for_=None) == Condition()


def _is_unrecorded(candidate: ContractCandidate) -> bool:
    event = candidate.event
    return candidate.arguments is None and not event.text and event.arguments is None


def _find_values(argument: str, candidate: ContractCandidate) -> list[object]:
    """Return the values that an argument name stands for: one, or for `*` all of them.

    The command or code of a candidate is represented by the candidate itself.
    """
    is_any = argument == ANY_ARGUMENT
    if candidate.kind in _PARSED_KINDS and (is_any or _is_held_in(argument, candidate)):
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
    results = [
        *(
            truth
            for part in condition.parts
            for truth in _check_context(part, value, candidate, context)
        ),
        _check_form(_strip_context(condition), value, candidate),
    ]
    if _MISMATCH in results:
        return _MISMATCH
    return _UNKNOWN if _UNKNOWN in results else _MATCH


def _strip_context(condition: Condition) -> Condition:
    """Return a condition without the forms that depend on the rest of the run."""
    further = tuple(map(_strip_context, condition.all_of))
    return replace(condition, var=None, from_step=None, all_of=further)


def _check_form(condition: Condition, value: object, candidate: ContractCandidate) -> Truth:
    if replace(condition, for_=None) == Condition():
        return _MATCH
    if value is not candidate:
        return check_condition(condition, value)
    if not candidate.is_parsed and candidate.code is None:
        return _UNKNOWN
    if candidate.command is not None:
        return check_command(condition, candidate.command)
    assert candidate.code is not None
    return _check_code(condition, candidate.code)


def _check_code(condition: Condition, code: PythonCode) -> Truth:
    """Check a condition on Python code: the functions it calls, and its effective text."""
    results: list[Truth] = []
    if condition.calls:
        results.append(check_calls(condition.calls, code))
    rest = replace(condition, calls=(), for_=None)
    if rest != Condition():
        truth = check_condition(rest, code.effective_text)
        results.append(_UNKNOWN if truth is _MISMATCH and not code.is_complete else truth)
    if _MISMATCH in results:
        return _MISMATCH
    return _UNKNOWN if _UNKNOWN in results else _MATCH


def _check_context(
    condition: Condition, value: object, candidate: ContractCandidate, context: MatchContext
) -> Iterator[Truth]:
    """Check the forms of a condition that depend on variables and on other steps."""
    own = candidate.quote if value is candidate else value
    if condition.var is not None and condition.var in context.variables:
        yield check_condition(Condition(any_of=(context.variables[condition.var],)), own)
    if condition.from_step is not None:
        results = context.find_results(condition.from_step, candidate.position)
        if not results:
            yield _UNKNOWN
        else:
            yield _occurs_in_results(own, results)


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
    text = candidate.event.text[:_MAX_TEXT]
    group = "message" if requirement.message is not None else "reasoning"
    checks: list[Check] = []
    if requirement.by is not None:
        checks.append(_check_actor(requirement.by, candidate))
    sentences = _list_reporting_sentences(text, step_text, wanted) if wanted.says else []
    for index, alternatives in enumerate(wanted.says):
        found = next(
            (
                sentence
                for sentence in sentences
                for alternative in alternatives
                if contains_words(alternative, sentence)
            ),
            "",
        )
        result = _MATCH if found else _MISMATCH
        expected = " or ".join(alternatives[:6])
        checks.append(
            _make_check(f"{group}.says.{index}", expected, found.strip(), candidate, result)
        )
    for index, condition in enumerate(wanted.values):
        result = _check_value(condition, text, candidate, context)
        found = "" if result is not _MATCH else describe_condition(condition)
        path, expected = f"{group}.values.{index}", describe_condition(condition)
        checks.append(_make_check(path, expected, found, candidate, result))
    if wanted.asks:
        question = _ASKS.search(text)
        result = _MATCH if question else _MISMATCH
        checks.append(_make_check(f"{group}.asks", "a question", "", candidate, result))
    return MatchResult(_grade_text(checks), tuple(checks), requirement)


def _grade_text(checks: list[Check]) -> Match:
    """Grade a message: all conditions full, at least half of several near, otherwise none."""
    matched = sum(check.result is _MATCH for check in checks)
    if matched == len(checks):
        return Match.FULL
    if any(check.path == "by" and check.result is _MISMATCH for check in checks):
        return Match.NONE
    return Match.NEAR if 2 * matched >= len(checks) and matched else Match.NONE


def _list_reporting_sentences(text: str, step_text: str, wanted: MessageCondition) -> list[str]:
    """Return the sentences that can report something: no intentions, no failures.

    A step that is itself about a failure or an intention takes such sentences too.
    """
    keep_negations = _NEGATION.search(step_text) is not None or any(
        _NEGATION.search(alternative) for group in wanted.says for alternative in group
    )
    keep_intents = wanted.asks or re.search(
        r"\b(?:will|going to|offer|propose|announce|promise)\b", step_text, re.IGNORECASE
    )
    return [
        sentence
        for sentence in _SENTENCE.findall(text)
        if (keep_negations or not _NEGATION.search(sentence))
        and (keep_intents or not _INTENT.search(sentence))
    ]


def _make_check(
    path: str, expected: str, found: str, candidate: ContractCandidate, result: Truth
) -> Check:
    return Check(
        path=path,
        expected=expected,
        found=found[:_MAX_FOUND],
        event=candidate.event.id,
        result=result,
    )


def _format_value(value: object) -> str:
    if value is _MISSING:
        return ""
    if isinstance(value, ContractCandidate):
        return value.quote or value.event.text
    return _format(value)


def _format(value: Json) -> str:
    if value is None or value == UNKNOWN_VALUE:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
