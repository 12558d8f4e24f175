"""Evidence that a model names, looked up: is the event there, its quote, and is it of use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planproof.checking.analysis import Weighed
from planproof.checking.call_text import call_text, leaves_of, strings_in
from planproof.checking.effects import effect_of, idle_names
from planproof.checking.quoting import cite
from planproof.checking.restatements import speaks_to_the_judge, without_restatements
from planproof.contracts.values import fold
from planproof.core.finding import Evidence
from planproof.core.phrases import listed, named
from planproof.core.plan import Plan, Step
from planproof.core.quotes import quotable, stands_in
from planproof.core.trace import Event, Kind, Trace
from planproof.llm.audit.audit_answers import CALLING, StepKind

NO_EVENT = "there is no such event in what is judged"
NO_QUOTE = "the quote does not stand in the event"
TOO_SHORT = "the quote is too short to show anything"
NOT_THE_AGENT = "it is not the agent's doing"
TO_THE_JUDGE = "it speaks to whoever judges, or counts steps as done"
RESTATED = "it repeats the words of the plan"
ONLY_SAID = "a message is no evidence of an action"
ONLY_THOUGHT = "a thought is no evidence of an action"
ONLY_NOTED = "a note is no evidence of an action"
NO_EFFECT = "what a call only prints or notes is no evidence of an action"
NO_CALL = "a result without its call is no evidence where calls are recorded"
NOT_SHOWN = "only what came back can show that a condition did not hold"

_LEAST = 3
_MOST_NAMED = 5
_MOST_WORDS = 6
_MARKS = " \t\n«»“”‘’\"'`"
_WORD = re.compile(r"[^\W_]+")
_NOT_A_CALL = {
    Kind.MESSAGE: ONLY_SAID,
    Kind.REASONING: ONLY_THOUGHT,
    Kind.BOOKKEEPING: ONLY_NOTED,
    Kind.OBSERVATION: NO_CALL,
    Kind.ACTION: NO_EFFECT,
}
_CALLS = frozenset({Kind.ACTION, Kind.BOOKKEEPING})


@dataclass(frozen=True, slots=True)
class Sifted:
    """The citations that count for a step, and those that leave a part of it without a call."""

    counted: tuple[Evidence, ...]
    objections: tuple[tuple[Evidence, str], ...] = ()


class Quotes:
    """Looks quotes up in one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._texts: dict[str, _Texts] = {}

    def resolved(self, event: str, quote: str) -> Evidence | str:
        """A quote with the pointer to where it stands, or why there is none."""
        cited = self._trace.by_id.get(event)
        if cited is None:
            return NO_EVENT
        texts = self._texts.get(event)
        if texts is None:
            texts = self._texts[event] = _Texts(cited)
        for words in dict.fromkeys((quote.strip(), quote.strip(_MARKS))):
            if found := texts.find(words):
                short = len("".join(filter(str.isalnum, words))) < _LEAST
                return TOO_SHORT if short and not texts.holds_whole(words) else found
        return NO_QUOTE

    def told(self, event: str, quote: str) -> Evidence | str:
        """The same, for words that are not meant for whoever judges."""
        found = self.resolved(event, quote)
        spoken_to_us = isinstance(found, Evidence) and speaks_to_the_judge(fold(quote))
        return TO_THE_JUDGE if spoken_to_us else found


class Citations(Quotes):
    """Looks citations up in one case."""

    def __init__(self, plan: Plan, trace: Trace, weighed: Weighed) -> None:
        super().__init__(trace)
        self._plan = plan
        self._places = {event.id: place for place, event in enumerate(trace.events)}
        self._units: dict[str, list[int]] = {}
        self._left: dict[str, Event] = {}
        for index, unit in enumerate(weighed.units):
            self._units.setdefault(unit.event.id, []).append(index)
            self._left[unit.event.id] = unit.event
        self._records_calls = any(event.kind in _CALLS for event in trace.events)

    def place(self, event: str) -> int:
        """Where in the trace an event stands."""
        return self._places[event]

    def units(self, event: str) -> list[int]:
        """The units of an event; none if it is not the agent's, or only restates the plan."""
        return self._units.get(event, [])

    def can_cover(self, event: str) -> bool:
        """Return whether an event can be accounted for by a step: the agent's, no restatement."""
        known = event in self._units
        return known or (self._is_own(event) and self._trace.by_id[event].kind is Kind.ACTION)

    def accepted(self, event: str, quote: str) -> Evidence | str:
        """Return a quote from what the agent did, said or got back, or why it is none."""
        found = self.resolved(event, quote)
        if isinstance(found, str):
            return found
        if not self._is_own(event):
            return NOT_THE_AGENT
        if speaks_to_the_judge(fold(quote)):
            return TO_THE_JUDGE
        return RESTATED if self._is_restated(found) else found

    def _is_restated(self, found: Evidence) -> bool:
        """Return whether a quote is among what repeats the plan or speaks to the judge."""
        cited = self._trace.by_id[found.event]
        if _is_only_said(found, cited):
            # What a call only prints, notes or comments is held to what holds for a message.
            text = f"{call_text(cited)}\n{cited.output}"
            cited = replace(cited, kind=Kind.MESSAGE, text=text, arguments=None, output="")
            left = next(iter(without_restatements(Trace((cited,)), self._plan).events), None)
        else:
            left = cited if self._is_bare_result(found.event) else self._left.get(found.event)
        return left is None or (left is not cited and _Texts(left).find(found.quote) is None)

    def sifted(self, step: Step, kinds: frozenset[StepKind], cited: Sequence[Evidence]) -> Sifted:
        """Return what counts of the citations of a step that a model gives these kinds.

        They count together: words may stand beside a call. But a step that takes a call is not
        carried out by words alone, and does not begin with them.
        """
        own = tuple(one for one in cited if not self._is_bare_result(one.event))
        if not kinds & CALLING:
            return Sifted(own, () if own else self._objections(cited))
        calls = tuple(one for one in own if self._is_call(one, step))
        words_count = not kinds <= CALLING
        if calls:
            return Sifted(own if words_count else calls)
        return Sifted(own if words_count else (), self._objections(cited))

    def _objections(self, cited: Sequence[Evidence]) -> tuple[tuple[Evidence, str], ...]:
        return tuple((one, _NOT_A_CALL[self._trace.by_id[one.event].kind]) for one in cited)

    def _is_bare_result(self, event: str) -> bool:
        """Return whether an event is a result without its call, in a trace that records calls."""
        return self._records_calls and self._trace.by_id[event].kind is Kind.OBSERVATION

    def _is_call(self, one: Evidence, step: Step) -> bool:
        """Return whether a citation shows an action; bookkeeping does, if the step names its tool.

        So does a call that only prints or notes something.
        """
        cited = self._trace.by_id[one.event]
        if cited.kind is Kind.BOOKKEEPING:
            return cited.name is not None and _names(step.text, cited.name)
        if cited.kind is not Kind.ACTION:
            return cited.kind is Kind.OBSERVATION
        names = idle_names(cited)
        # What a flag keeps a program from doing is for the model to say.
        if names is None or any(name.startswith("--") for name in names):
            return True
        return any(_names(step.text, name) for name in names)

    def against_condition(self, event: str, quote: str) -> Evidence | str:
        """Evidence that the condition of a step did not hold: no words of the agent's own."""
        found = self.told(event, quote)
        if isinstance(found, str):
            return found
        cited = self._trace.by_id[event]
        if cited.kind is Kind.OBSERVATION:
            return NO_CALL if self._is_bare_result(event) else found
        returned = found.pointer == cited.output_pointer and idle_names(cited) is None
        return found if returned or cited.actor == "user" else NOT_SHOWN

    def _is_own(self, event: str) -> bool:
        cited = self._trace.by_id.get(event)
        return cited is not None and cited.kind is not Kind.SYSTEM and cited.actor != "user"


def _is_only_said(one: Evidence, cited: Event) -> bool:
    """Return whether a quote shares no word with what a call does: it is printed, or a comment."""
    if cited.kind is not Kind.ACTION or one.pointer == cited.output_pointer:
        return idle_names(cited) is not None
    effect = effect_of(cited, leaves_of(cited.arguments))
    if effect is None or effect.is_idle:
        return effect is not None
    done = f"{cited.name} {call_text(replace(cited, text=effect.text), effect.leaves)}"
    return _words_of(one.quote).isdisjoint(_words_of(done))


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(fold(text)))


def _names(text: str, tool: str) -> bool:
    """Return whether a text names a tool, in one word or in several."""
    wanted = "".join(_WORD.findall(fold(tool)))
    words = _WORD.findall(fold(text))
    return bool(wanted) and any(
        wanted == "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + _MOST_WORDS) + 1)
    )


class _Texts:
    """The texts of an event in which a quote may stand."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._own = [text for text in (event.text, *strings_in(event.arguments)) if text]
        # A tool's name stands in its call; who was spoken to, or what code is written in, need not.
        if event.name and (event.arguments is not None or not self._own):
            self._own.insert(0, event.name)
        self._plain = [quotable(text) for text in self._own]
        written = "" if event.arguments is None else json.dumps(event.arguments, default=str)
        self._line = quotable(" ".join(filter(None, (event.name, written, event.text))))
        self._output = quotable(event.output)

    def find(self, words: str) -> Evidence | None:
        """The quote, if it stands here; where it runs over several texts, the longest of them."""
        event = self._event
        if any(stands_in(words, text) for text in self._plain):
            return Evidence(event.id, event.pointer, words)
        if stands_in(words, self._line):
            inside = [text for text in self._own if stands_in(text, quotable(words))]
            longest = max(inside, key=len, default="")
            return Evidence(event.id, event.pointer, longest) if longest else cite(event, _NOTHING)
        if stands_in(words, self._output):
            return Evidence(event.id, event.output_pointer or event.pointer, words)
        return None

    def holds_whole(self, words: str) -> bool:
        """Whether the words are one of the texts, whole: a tool may be called `ls`."""
        plain = quotable(words)
        return any(plain == text for text in (*self._plain, self._output))


_NOTHING: frozenset[str] = frozenset()


def about_orders(trace: Trace) -> tuple[str, ...]:
    """Says which events speak to whoever judges: that is worth knowing of a trace."""
    events = tuple(_addressed(trace))
    if not events:
        return ()
    verb = "speaks" if len(events) == 1 else "speak"
    subject = f"{listed(events, _MOST_NAMED, named)} {verb}"
    return (f"{subject} to whoever judges, or of steps as done: no evidence of anything",)


def _addressed(trace: Trace) -> Iterator[str]:
    """The events whose words speak to whoever judges, or count steps as done."""
    # In most traces none does, and to look through all the words at once is quicker.
    words = [text for event in trace.events for text in (event.text, event.output) if text]
    if not speaks_to_the_judge(fold("\n".join(words))):
        return
    for event in trace.events:
        if any(speaks_to_the_judge(fold(text)) for text in (event.text, event.output) if text):
            yield event.id
