"""Compare the values of a step with its events by type, and equate words by a question.

Numbers, dates, ids, paths and quoted strings are compared here and nowhere else. Names and other
words may be written in another way (BOS for Boston): a model names both, and a second question,
which shows only the two and the step, decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pydantic import BaseModel, ConfigDict, Field

from planproof.checking.candidates import addresses_judge
from planproof.checking.case_evidence import CaseEvidence
from planproof.checking.event_text import flatten_arguments, format_call
from planproof.contracts.date_values import PartialDate, read_dates
from planproof.contracts.generic_tools import is_generic
from planproof.contracts.number_values import read_numbers
from planproof.contracts.terms import is_function_word
from planproof.contracts.text_values import contains_text, contains_words
from planproof.contracts.values import Literal, LiteralKind, extract_literals, fold
from planproof.contracts.written_values import find_written_values
from planproof.core.model import Question
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind
from planproof.llm.prompting.escaping import wrap_in_guillemets
from planproof.llm.prompting.templates import compute_prompts_digest, render

_NEARBY = 2
"""How many events before and after those of a step may show its values: results, messages."""
_MAX_COMPARED_CHARS = 10_000
_MAX_EQUATED_CHARS = 80
_MAX_ID_CHARS = 80
_MIN_ID_CHARS = 4
_MIN_NAME_CHARS = 6
_MAX_IDS = 20
_MAX_SEARCHED_CHARS = 100_000_000
"""How much is searched for ids in one trace, all steps together; an event counts at least 100."""
_MAX_EQUATIONS = 40
_MAX_STEP_CHARS = 600
_WORD = re.compile(r"[^\W_]+")
_DIGIT = re.compile(r"\d")
_NAME = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+){0,10}")
_NAME_MARKS = re.compile(r"(?<=\w)[_-](?=\w)")
_COMPOUND = re.compile(r"(?<![\w.-])\d{1,4}-[A-Za-z]{2,20}\b")
_ACRONYM = re.compile(r"[A-Z]{3,12}|[a-z]{2,9}")
_PLACEHOLDER = re.compile(r"<[^<>]{1,80}>|\{[^{}]{1,80}\}|\[[^\[\]]{1,80}\]")
_EXCLUDED = re.compile(
    r"\b(?:not|no|never|without|instead of|rather than|except|unless|other than)\b[^.,;:]{0,40}$",
    re.IGNORECASE,
)
_TEXT_KINDS = frozenset({Kind.MESSAGE, Kind.REASONING})
_EQUATED_KINDS = frozenset({LiteralKind.NAME})
_NAMED_KINDS = frozenset({LiteralKind.IDENTIFIER, LiteralKind.QUOTED})


@dataclass(frozen=True, slots=True)
class Equation:
    """Words of a step, and the words in an event that a model says mean the same."""

    step: str
    words: str
    event: str
    value: str

    def __str__(self) -> str:
        return f'"{self.words}" = "{self.value}" ({self.event})'


class StepValues:
    """The values of a plan's steps, compared with the events of one trace."""

    def __init__(self, case: CaseEvidence) -> None:
        self._case = case
        self._trace = case.trace
        self._positions = {event.id: index for index, event in enumerate(case.trace.events)}
        # A result without its call shows nothing where calls are recorded.
        self._shown = {
            event.id: event for event in case.remaining.events if not case.is_bare_result(event.id)
        }
        self._folded: dict[str, str] = {}
        self._chars_to_search = _MAX_SEARCHED_CHARS

    def find_absent(
        self, step: Step, events: Sequence[str], *, anywhere: bool = False
    ) -> list[Literal]:
        """Return the values of a step that neither its events nor those next to them show.

        A step that is only told or thought may name a value that was mentioned `anywhere`.
        """
        required = dict(_list_required(step))
        if not required:
            return []
        # Most values are in the step's own events.
        own = [self._shown[event] for event in events if event in self._shown]
        absent = [literal for literal in required if not self._is_shown(literal, own, events)]
        if not absent:
            return []
        scope = self._trace.events if anywhere else self._list_nearby(frozenset(events))
        shown = [self._shown[event.id] for event in scope if event.id in self._shown]
        return [
            literal
            for literal in absent
            if not self._is_shown(literal, shown, events)
            and not _is_written(step, required[literal], shown)
        ]

    def _list_nearby(self, events: frozenset[str]) -> list[Event]:
        """Return these events and those next to them, except the agent's own words.

        What the agent says proves no action; but what it thinks right before an opaque call says
        what the call is about.
        """
        nearby: dict[str, Event] = {}
        for event in events:
            index = self._positions[event]
            for each in self._trace.events[max(0, index - _NEARBY) : index + _NEARBY + 1]:
                if each.id in events or self._is_outside(each):
                    nearby[each.id] = each
            nearby |= {each.id: each for each in self._find_context(index)}
        return list(nearby.values())

    def _is_outside(self, event: Event) -> bool:
        """Return whether an event is more than words of the agent, said, printed or noted."""
        if event.kind is Kind.ACTION:
            effect = self._case.find_effect(event)
            return effect is None or not effect.is_idle
        return event.kind is Kind.OBSERVATION or event.actor == "user"

    def _find_context(self, index: int) -> Iterator[Event]:
        """Yield what says more about a call than the call itself.

        For an opaque call, the reasoning or message right before it. For an id in its arguments,
        the last result before it that has this id.
        """
        call = self._trace.events[index]
        if call.kind is not Kind.ACTION:
            return
        if index and _is_opaque(call):
            before = self._shown.get(self._trace.events[index - 1].id)
            if before is not None and before.kind in _TEXT_KINDS and before.actor != "user":
                yield before
        for value in _list_ids(call):
            found = self._find_last_result(value, index)
            if found is not None:
                yield found

    def _find_last_result(self, value: str, index: int) -> Event | None:
        """Return the last result before an event that has a value; None if much was searched."""
        for earlier in range(index - 1, -1, -1):
            shown = self._shown.get(self._trace.events[earlier].id)
            if shown is None:
                continue
            text = shown.text if shown.kind is Kind.OBSERVATION else shown.output
            self._chars_to_search -= max(len(text), 100)
            if self._chars_to_search < 0:
                return None
            if value in text:
                return shown
        return None

    def _is_shown(self, literal: Literal, scope: Sequence[Event], events: Sequence[str]) -> bool:
        texts = [self._fold(event) for event in scope]
        if literal.occurs_in_any(texts):
            return True
        if literal.kind is LiteralKind.NUMBER:
            return _is_count(literal, [self._trace.by_id[event] for event in events]) or any(
                _has_number(literal, text) for event in scope for text in _list_texts(event)
            )
        if literal.kind is LiteralKind.DATE:
            return any(_has_date(literal, text) for event in scope for text in _list_texts(event))
        if literal.kind in _NAMED_KINDS and _has_name(literal.text, texts):
            return True
        if literal.kind is LiteralKind.QUOTED:
            return any(_has_quoted(literal.text, text) for text in texts)
        return any(contains_words(literal.text, text) for text in texts)

    def is_related(self, event: str, step: Step) -> bool:
        """Return whether an action shares a word with a step by its result or its reason."""
        planned = self._case.collect_step_terms(step)
        index = self._positions[event]
        near = [
            each
            for each in self._trace.events[max(0, index - 1) : index + 2]
            if each.id == event or each.kind is Kind.OBSERVATION
        ]
        # Results that repeat the plan or address the judge relate nothing, not even by their rest.
        shown = [each for each in near if self._shown.get(each.id) is each]
        literals = extract_literals(step.text)
        return any(
            not planned.isdisjoint(self._case.collect_event_terms(each))
            or any(literal.occurs_in(self._fold(each)) for literal in literals)
            for each in chain(shown, self._find_context(index))
        )

    def check_equation(self, step: Step, equation: Equation) -> str | None:
        """Return why an equation can't be asked about; None if it can."""
        words, value = equation.words.strip(), equation.value.strip()
        event = self._trace.by_id.get(equation.event)
        if event is None:
            return "no such event in the trace"
        if max(len(words), len(value)) > _MAX_EQUATED_CHARS or not (words and value):
            return "a few words are equated with a few words"
        if not contains_text(words, step.text):
            return "the words to be equated are not in the step"
        if not _has_content(words):
            return "the words to be equated say nothing"
        if not any(contains_text(value, text) for text in _list_texts(event)):
            return "the words to be equated are not in the event"
        if addresses_judge(fold(value)):
            return "the text addresses the judge or declares steps done"
        # "7-bit" is a word; a number in the event is compared.
        bare = words if _DIGIT.search(value) else _COMPOUND.sub(" ", words)
        if any(not is_equatable(literal) for literal in extract_literals(bare)) or _DIGIT.search(
            bare
        ):
            return "numbers, dates, ids and paths are compared, not equated"
        owner = self._find_owner(step, value)
        return None if owner is None else f"it is a value of step {owner}"

    def _find_owner(self, step: Step, value: str) -> str | None:
        """Return the number of another step that names this value, if this one does not."""
        wanted = fold(value)
        if any(fold(literal.text) == wanted for literal in extract_literals(step.text)):
            return None
        return next(
            (
                other.number
                for other in self._case.plan.leaves
                if other.number != step.number
                and any(fold(literal.text) == wanted for literal in extract_literals(other.text))
            ),
            None,
        )

    def is_in_call(self, value: str, event: str) -> bool:
        """Return whether the words of an equation are in the name or the call of an event."""
        found = self._trace.by_id[event]
        return any(contains_text(value, text) for text in (found.name or "", format_call(found)))

    def _fold(self, event: Event) -> str:
        known = self._folded.get(event.id)
        if known is None:
            call = self._case.format_call(event)
            known = fold(f"{event.actor or ''} {event.name or ''} {call} {event.output}")
            self._folded[event.id] = known
        return known


def is_equatable(literal: Literal) -> bool:
    """Return whether a value is a name or a word, which may be written in another way."""
    return literal.kind in _EQUATED_KINDS or (
        literal.kind is LiteralKind.IDENTIFIER and _ACRONYM.fullmatch(literal.text) is not None
    )


def find_equatable(step: Step, literal: Literal) -> str | None:
    """Return the words of a step with a value that may be equated; None if it is compared.

    A number counts as a word where it is a part of one: "7-bit".
    """
    if is_equatable(literal):
        return literal.text
    if literal.kind is not LiteralKind.NUMBER:
        return None
    compounds = (match[0] for match in _COMPOUND.finditer(step.text))
    return next((text for text in compounds if text.startswith(f"{literal.text}-")), None)


def _list_required(step: Step) -> Iterator[tuple[Literal, int]]:
    """Yield the values that the events of a step have to show, and where the step has them.

    Not those of a condition, of alternatives, or of what is to be avoided; nor placeholders.
    """
    start = 0
    for literal in extract_literals(step.text):
        at = step.text.find(literal.text, start)
        before = step.text[max(0, at - 60) : max(0, at)]
        start = max(start, at)
        optional = (*step.choices, *([step.condition] if step.condition else ()))
        if (
            not _PLACEHOLDER.search(literal.text)
            and not any(literal.text in text for text in optional)
            and not _EXCLUDED.search(before)
        ):
            yield literal, at


def _is_opaque(call: Event) -> bool:
    """Return whether a call of a generic tool says nothing about its object: `click [10]`."""
    if not is_generic(call.name or ""):
        return False
    texts = [call.text, *(str(value) for _, value in flatten_arguments(call.arguments))]
    words = {word.lower() for text in texts for word in _WORD.findall(text[:_MAX_ID_CHARS])}
    named = {word.lower() for word in _WORD.findall(call.name or "")}
    return not any(word.isalpha() for word in words - named)


def _list_ids(call: Event) -> list[str]:
    """Return the arguments of a call that look like ids: one word with a digit."""
    values = [str(value) for _, value in flatten_arguments(call.arguments)]
    return [
        value
        for value in values[:_MAX_IDS]
        if _MIN_ID_CHARS <= len(value) <= _MAX_ID_CHARS
        and _DIGIT.search(value)
        and not any(map(str.isspace, value))
    ]


def _list_texts(event: Event) -> list[str]:
    texts = (event.actor or "", event.name or "", format_call(event), event.output)
    return [text for text in texts if text]


def _is_count(literal: Literal, events: Sequence[Event]) -> bool:
    """Return whether a number is the number of calls of the step: "for 4 days"."""
    names = [event.name for event in events if event.kind is Kind.ACTION]
    counts = {len(events), len(names), *(names.count(name) for name in set(names))}
    return any(str(count) in literal.forms for count in counts)


def _has_number(literal: Literal, text: str) -> bool:
    wanted = {value for readings in read_numbers(literal.text) for value in readings}
    found = read_numbers(text[:_MAX_COMPARED_CHARS])
    return any(not wanted.isdisjoint(readings) for readings in found)


def _has_date(literal: Literal, text: str) -> bool:
    wanted = [date for readings in read_dates(literal.text) for date in readings]
    return any(
        _is_same_date(one, date)
        for readings in read_dates(text[:_MAX_COMPARED_CHARS])
        for date in readings
        for one in wanted
    )


def _is_same_date(wanted: PartialDate, found: PartialDate) -> bool:
    shared = [(a, b) for a, b in zip(wanted, found, strict=True) if a is not None and b is not None]
    return wanted.day == found.day and len(shared) > 1 and all(a == b for a, b in shared)


def _is_written(step: Step, place: int, scope: Sequence[Event]) -> bool:
    """Return whether a value of a step is in an event in another form: 15:00 for 3 pm."""
    wanted = [one for one in find_written_values(step.text) if one.start <= place < one.end]
    return bool(wanted) and any(
        one.is_same(found)
        for event in scope
        for text in _list_texts(event)
        for found in find_written_values(text)
        for one in wanted
    )


def _has_name(name: str, folded: Iterable[str]) -> bool:
    """Return whether a name of several words is in a text in another notation: LifeExpectancy."""
    joined = fold("".join(_WORD.findall(name)))
    if len(joined) < _MIN_NAME_CHARS or not _NAME.fullmatch(name):
        return False
    whole = re.compile(rf"(?<!\w){joined}(?!\w)")
    return any(joined[:3] in text and whole.search(_NAME_MARKS.sub("", text)) for text in folded)


def _has_quoted(quoted: str, folded: str) -> bool:
    return contains_text(quoted, folded) or contains_words(quoted, folded)


def _has_content(words: str) -> bool:
    return any(not is_function_word(word) for word in _WORD.findall(words))


# Class docstrings and field descriptions below are part of the JSON schema that models are sent.
class EquationAnswer(BaseModel):
    """Whether a pair means the same."""

    model_config = ConfigDict(extra="ignore")

    pair: int = Field(description="Number of the pair.")
    same: bool


class EquationsAnswer(BaseModel):
    """The answers for all pairs."""

    model_config = ConfigDict(extra="ignore")

    pairs: list[EquationAnswer]


def build_equations_question(
    equations: Sequence[Equation], plan: Plan, sample: int
) -> Question | None:
    """Return the question whether pairs of words mean the same; None if there are no pairs."""
    texts = {step.number: step.text for step in plan.leaves}
    pairs = _list_pairs(equations)
    if not pairs:
        return None
    lines = [
        f"pair {number}: {wrap_in_guillemets(pair.words)} and "
        f"{wrap_in_guillemets(pair.value)} in the step "
        f"{wrap_in_guillemets(texts[pair.step][:_MAX_STEP_CHARS])}"
        for number, pair in enumerate(pairs, start=1)
    ]
    return Question(
        render("audit_same.jinja"),
        ("\n".join(lines),),
        EquationsAnswer,
        compute_prompts_digest(),
        sample,
    )


def select_equal(equations: Sequence[Equation], answer: EquationsAnswer) -> frozenset[Equation]:
    """Return the equations that the answer confirms; a pair that is answered twice is not."""
    counts: dict[int, list[bool]] = {}
    for pair in answer.pairs:
        counts.setdefault(pair.pair, []).append(pair.same)
    numbered = enumerate(_list_pairs(equations), start=1)
    equal = {pair for number, pair in numbered if counts.get(number) == [True]}
    return frozenset(equation for equation in equations if replace(equation, event="") in equal)


def _list_pairs(equations: Iterable[Equation]) -> list[Equation]:
    """Return what is asked about equations, whatever their events: as many as one question has."""
    pairs = dict.fromkeys(replace(equation, event="") for equation in equations)
    return [*pairs][:_MAX_EQUATIONS]
