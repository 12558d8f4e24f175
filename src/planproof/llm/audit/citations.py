"""Evidence that a model names, looked up: is the event there, its quote, and is it of use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planproof.checking.analysis import Analysis
from planproof.checking.call_text import collect_strings, flatten_arguments, format_call
from planproof.checking.effects import analyze_effect, find_idle_names
from planproof.checking.quoting import cite
from planproof.checking.restatements import addresses_judge, remove_restatements
from planproof.contracts.values import fold
from planproof.core.finding import Evidence
from planproof.core.phrases import format_name, join_items
from planproof.core.plan import Plan, Step
from planproof.core.quotes import is_quote_in, to_searchable_text
from planproof.core.trace import Event, Kind, Trace
from planproof.llm.audit.audit_answers import CALL_KINDS, StepKind

NO_EVENT = "there is no such event in what is judged"
NO_QUOTE = "the quote does not stand in the event"
TOO_SHORT = "the quote is too short to show anything"
NOT_THE_AGENT = "it is not the agent's doing"
TO_THE_JUDGE = "it speaks to whoever judges, or counts steps as done"
RESTATED = "it repeats the words of the plan"
ONLY_MESSAGE = "a message is no evidence of an action"
ONLY_REASONING = "a thought is no evidence of an action"
ONLY_BOOKKEEPING = "a note is no evidence of an action"
NO_EFFECT = "what a call only prints or notes is no evidence of an action"
NO_CALL = "a result without its call is no evidence where calls are recorded"
NOT_SHOWN = "only what came back can show that a condition did not hold"

_MIN_QUOTE_CHARS = 3
_MAX_EVENTS_NAMED = 5
_MAX_TOOL_WORDS = 6
_QUOTE_MARKS = " \t\n«»“”‘’\"'`"
_WORD = re.compile(r"[^\W_]+")
_NOT_A_CALL = {
    Kind.MESSAGE: ONLY_MESSAGE,
    Kind.REASONING: ONLY_REASONING,
    Kind.BOOKKEEPING: ONLY_BOOKKEEPING,
    Kind.OBSERVATION: NO_CALL,
    Kind.ACTION: NO_EFFECT,
}
_CALLS = frozenset({Kind.ACTION, Kind.BOOKKEEPING})


@dataclass(frozen=True, slots=True)
class FilteredCitations:
    """The citations that count for a step, and those that leave a part of it without a call."""

    counted: tuple[Evidence, ...]
    objections: tuple[tuple[Evidence, str], ...] = ()


class QuoteResolver:
    """Looks quotes up in one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._texts: dict[str, _EventTexts] = {}

    def resolve(self, event: str, quote: str) -> Evidence | str:
        """A quote with the pointer to where it stands, or why there is none."""
        cited = self._trace.by_id.get(event)
        if cited is None:
            return NO_EVENT
        texts = self._texts.get(event)
        if texts is None:
            texts = self._texts[event] = _EventTexts(cited)
        for words in dict.fromkeys((quote.strip(), quote.strip(_QUOTE_MARKS))):
            if evidence := texts.find(words):
                short = len("".join(filter(str.isalnum, words))) < _MIN_QUOTE_CHARS
                return TOO_SHORT if short and not texts.has_whole_text(words) else evidence
        return NO_QUOTE

    def resolve_non_instruction(self, event: str, quote: str) -> Evidence | str:
        """The same, for words that are not meant for whoever judges."""
        evidence = self.resolve(event, quote)
        is_instruction = isinstance(evidence, Evidence) and addresses_judge(fold(quote))
        return TO_THE_JUDGE if is_instruction else evidence


class CitationChecker(QuoteResolver):
    """Looks citations up in one case."""

    def __init__(self, plan: Plan, trace: Trace, analysis: Analysis) -> None:
        super().__init__(trace)
        self._plan = plan
        self._positions = {event.id: position for position, event in enumerate(trace.events)}
        self._candidates: dict[str, list[int]] = {}
        self._remaining_events: dict[str, Event] = {}
        for index, candidate in enumerate(analysis.candidates):
            self._candidates.setdefault(candidate.event.id, []).append(index)
            self._remaining_events[candidate.event.id] = candidate.event
        self._records_calls = any(event.kind in _CALLS for event in trace.events)

    def position(self, event: str) -> int:
        """Where in the trace an event stands."""
        return self._positions[event]

    def candidates(self, event: str) -> list[int]:
        """The units of an event; none if it is not the agent's, or only restates the plan."""
        return self._candidates.get(event, [])

    def can_cover(self, event: str) -> bool:
        """Return whether an event can be accounted for by a step: the agent's, no restatement."""
        known = event in self._candidates
        return known or (
            self._is_agent_event(event) and self._trace.by_id[event].kind is Kind.ACTION
        )

    def accept(self, event: str, quote: str) -> Evidence | str:
        """Return a quote from what the agent did, said or got back, or why it is none."""
        evidence = self.resolve(event, quote)
        if isinstance(evidence, str):
            return evidence
        if not self._is_agent_event(event):
            return NOT_THE_AGENT
        if addresses_judge(fold(quote)):
            return TO_THE_JUDGE
        return RESTATED if self._is_restated(evidence) else evidence

    def _is_restated(self, evidence: Evidence) -> bool:
        """Return whether a quote is among what repeats the plan or speaks to the judge."""
        cited = self._trace.by_id[evidence.event]
        if _is_text_only(evidence, cited):
            # What a call only prints, notes or comments is held to what holds for a message.
            text = f"{format_call(cited)}\n{cited.output}"
            cited = replace(cited, kind=Kind.MESSAGE, text=text, arguments=None, output="")
            remaining = next(iter(remove_restatements(Trace((cited,)), self._plan).events), None)
        else:
            remaining = (
                cited
                if self._is_bare_result(evidence.event)
                else self._remaining_events.get(evidence.event)
            )
        return remaining is None or (
            remaining is not cited and _EventTexts(remaining).find(evidence.quote) is None
        )

    def filter_citations(
        self, step: Step, kinds: frozenset[StepKind], cited: Sequence[Evidence]
    ) -> FilteredCitations:
        """Return what counts of the citations of a step that a model gives these kinds.

        They count together: words may stand beside a call. But a step that takes a call is not
        carried out by words alone, and does not begin with them.
        """
        own = tuple(evidence for evidence in cited if not self._is_bare_result(evidence.event))
        if not kinds & CALL_KINDS:
            return FilteredCitations(own, () if own else self._list_objections(cited))
        calls = tuple(evidence for evidence in own if self._is_call(evidence, step))
        words_count = not kinds <= CALL_KINDS
        if calls:
            return FilteredCitations(own if words_count else calls)
        return FilteredCitations(own if words_count else (), self._list_objections(cited))

    def _list_objections(self, cited: Sequence[Evidence]) -> tuple[tuple[Evidence, str], ...]:
        return tuple(
            (evidence, _NOT_A_CALL[self._trace.by_id[evidence.event].kind]) for evidence in cited
        )

    def _is_bare_result(self, event: str) -> bool:
        """Return whether an event is a result without its call, in a trace that records calls."""
        return self._records_calls and self._trace.by_id[event].kind is Kind.OBSERVATION

    def _is_call(self, evidence: Evidence, step: Step) -> bool:
        """Return whether a citation shows an action; bookkeeping does, if the step names its tool.

        So does a call that only prints or notes something.
        """
        cited = self._trace.by_id[evidence.event]
        if cited.kind is Kind.BOOKKEEPING:
            return cited.name is not None and _mentions_tool(step.text, cited.name)
        if cited.kind is not Kind.ACTION:
            return cited.kind is Kind.OBSERVATION
        names = find_idle_names(cited)
        # What a flag keeps a program from doing is for the model to say.
        if names is None or any(name.startswith("--") for name in names):
            return True
        return any(_mentions_tool(step.text, name) for name in names)

    def check_condition_evidence(self, event: str, quote: str) -> Evidence | str:
        """Evidence that the condition of a step did not hold: no words of the agent's own."""
        evidence = self.resolve_non_instruction(event, quote)
        if isinstance(evidence, str):
            return evidence
        cited = self._trace.by_id[event]
        if cited.kind is Kind.OBSERVATION:
            return NO_CALL if self._is_bare_result(event) else evidence
        returned = evidence.pointer == cited.output_pointer and find_idle_names(cited) is None
        return evidence if returned or cited.actor == "user" else NOT_SHOWN

    def _is_agent_event(self, event: str) -> bool:
        cited = self._trace.by_id.get(event)
        return cited is not None and cited.kind is not Kind.SYSTEM and cited.actor != "user"


def _is_text_only(evidence: Evidence, cited: Event) -> bool:
    """Return whether a quote shares no word with what a call does: it is printed, or a comment."""
    if cited.kind is not Kind.ACTION or evidence.pointer == cited.output_pointer:
        return find_idle_names(cited) is not None
    effect = analyze_effect(cited, flatten_arguments(cited.arguments))
    if effect is None or effect.is_idle:
        return effect is not None
    effective_text = f"{cited.name} {format_call(replace(cited, text=effect.text), effect.leaves)}"
    return _split_words(evidence.quote).isdisjoint(_split_words(effective_text))


def _split_words(text: str) -> set[str]:
    return set(_WORD.findall(fold(text)))


def _mentions_tool(text: str, tool: str) -> bool:
    """Return whether a text names a tool, in one word or in several."""
    tool_word = "".join(_WORD.findall(fold(tool)))
    words = _WORD.findall(fold(text))
    return bool(tool_word) and any(
        tool_word == "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + _MAX_TOOL_WORDS) + 1)
    )


class _EventTexts:
    """The texts of an event in which a quote may stand."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._own = [text for text in (event.text, *collect_strings(event.arguments)) if text]
        # A tool's name stands in its call; who was spoken to, or what code is written in, need not.
        if event.name and (event.arguments is not None or not self._own):
            self._own.insert(0, event.name)
        self._plain = [to_searchable_text(text) for text in self._own]
        arguments_json = "" if event.arguments is None else json.dumps(event.arguments, default=str)
        self._line = to_searchable_text(
            " ".join(filter(None, (event.name, arguments_json, event.text)))
        )
        self._output = to_searchable_text(event.output)

    def find(self, words: str) -> Evidence | None:
        """The quote, if it stands here; where it runs over several texts, the longest of them."""
        event = self._event
        if any(is_quote_in(words, text) for text in self._plain):
            return Evidence(event.id, event.pointer, words)
        if is_quote_in(words, self._line):
            inside = [text for text in self._own if is_quote_in(text, to_searchable_text(words))]
            longest = max(inside, key=len, default="")
            return Evidence(event.id, event.pointer, longest) if longest else cite(event, _NO_TERMS)
        if is_quote_in(words, self._output):
            return Evidence(event.id, event.output_pointer or event.pointer, words)
        return None

    def has_whole_text(self, words: str) -> bool:
        """Whether the words are one of the texts, whole: a tool may be called `ls`."""
        plain = to_searchable_text(words)
        return any(plain == text for text in (*self._plain, self._output))


_NO_TERMS: frozenset[str] = frozenset()


def warn_about_instructions(trace: Trace) -> tuple[str, ...]:
    """Says which events speak to whoever judges: that is worth knowing of a trace."""
    events = tuple(_find_addressed_events(trace))
    if not events:
        return ()
    verb = "speaks" if len(events) == 1 else "speak"
    subject = f"{join_items(events, _MAX_EVENTS_NAMED, format_name)} {verb}"
    return (f"{subject} to whoever judges, or of steps as done: no evidence of anything",)


def _find_addressed_events(trace: Trace) -> Iterator[str]:
    """The events whose words speak to whoever judges, or count steps as done."""
    # In most traces none does, and to look through all the words at once is quicker.
    words = [text for event in trace.events for text in (event.text, event.output) if text]
    if not addresses_judge(fold("\n".join(words))):
        return
    for event in trace.events:
        if any(addresses_judge(fold(text)) for text in (event.text, event.output) if text):
            yield event.id
