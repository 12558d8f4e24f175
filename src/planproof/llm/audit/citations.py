"""Verify evidence cited by a model: the event exists, contains the quote, and counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from msgspec import structs

from planproof.checking.candidates import addresses_judge, remove_restatements
from planproof.checking.case_evidence import CaseEvidence
from planproof.checking.event_text import cite, collect_strings, format_call
from planproof.checking.shell_commands import RequiredNames
from planproof.contracts.values import fold
from planproof.core.finding import Evidence
from planproof.core.phrases import format_name, join_items
from planproof.core.plan import Step
from planproof.core.quotes import is_quote_in, to_searchable_text
from planproof.core.trace import COMMENTARY, Event, Kind, Trace
from planproof.core.verdict import RejectedEvidence
from planproof.llm.audit.step_kinds import CALL_KINDS, StepKind

NO_EVENT = "no such event in the trace"
NO_QUOTE = "the quote is not in the event"
TOO_SHORT = "the quote is too short to be evidence"
NOT_THE_AGENT = "not an event of the agent"
TO_THE_JUDGE = "the text addresses the judge or declares steps done"
RESTATED = "the text repeats the plan"
ONLY_MESSAGE = "a message is not evidence of an action"
ONLY_REASONING = "reasoning is not evidence of an action"
ONLY_BOOKKEEPING = "a note is not evidence of an action"
NO_EFFECT = "text that a call only prints or notes is not evidence of an action"
NO_CALL = "a result without its call is not evidence in a trace that records calls"
ONLY_RESULT = "what came back is not evidence of an action: quote the call"
UNRELATED = "the action shares no tool, parent or word with the step"
ONLY_THOUGHT = "reasoning tells nobody anything"
NOT_SHOWN = "only a result or the user can show that a condition did not hold"

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
_TEXT_OBJECTIONS = frozenset({ONLY_MESSAGE, ONLY_REASONING})
_TELL = frozenset({StepKind.TELL})


@dataclass(frozen=True, slots=True)
class FilteredCitations:
    """The citations that count for a step, objections to others, and whether a call is missing."""

    counted: tuple[Evidence, ...]
    objections: tuple[tuple[Evidence, str], ...] = ()
    lacks_call: bool = False


class QuoteResolver:
    """Looks up quotes in one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._texts: dict[str, _EventTexts] = {}

    def resolve(self, event: str, quote: str) -> Evidence | str:
        """Return the quote with its pointer, or the reason why it is not found."""
        cited = self._trace.by_id.get(event)
        if cited is None:
            return NO_EVENT
        texts = self._texts.get(event)
        if texts is None:
            texts = self._texts[event] = _EventTexts(cited)
        bare = quote.strip(_QUOTE_MARKS)
        for words in dict.fromkeys((quote.strip(), bare, _strip_head(bare, cited))):
            if evidence := texts.find(words):
                alphanumeric = islice(filter(str.isalnum, words), _MIN_QUOTE_CHARS)
                short = len([*alphanumeric]) < _MIN_QUOTE_CHARS
                return TOO_SHORT if short and not texts.has_whole_text(words) else evidence
        return NO_QUOTE

    def resolve_non_instruction(self, event: str, quote: str) -> Evidence | str:
        """Resolve a quote, but reject text that addresses the judge."""
        evidence = self.resolve(event, quote)
        is_instruction = isinstance(evidence, Evidence) and addresses_judge(fold(quote))
        return TO_THE_JUDGE if is_instruction else evidence


class CitationChecker(QuoteResolver):
    """Checks citations in one case."""

    def __init__(self, case: CaseEvidence) -> None:
        super().__init__(case.trace)
        self._case = case
        self._positions = {event.id: position for position, event in enumerate(case.trace.events)}

    def position(self, event: str) -> int:
        """Return the index of an event in the trace."""
        return self._positions[event]

    def accept(self, event: str, quote: str) -> Evidence | str:
        """Return a quote from the agent's actions, texts or results, or the reason to reject it."""
        evidence = self.resolve(event, quote)
        if isinstance(evidence, str):
            return evidence
        if not self._case.is_agent_event(event):
            return NOT_THE_AGENT
        if addresses_judge(fold(quote)):
            return TO_THE_JUDGE
        return RESTATED if self._is_restated(evidence) else evidence

    def _is_restated(self, evidence: Evidence) -> bool:
        """Return True if the quote is from text that repeats the plan or addresses the judge."""
        cited = self._trace.by_id[evidence.event]
        if self._is_text_only(evidence, cited):
            # Text that a call only prints, notes or comments is treated like a message.
            text = f"{format_call(cited)}\n{cited.output}"
            cited = structs.replace(cited, kind=Kind.MESSAGE, text=text, arguments=None, output="")
            remaining = next(
                iter(remove_restatements(Trace((cited,)), self._case.plan).events), None
            )
        else:
            remaining = (
                cited
                if self._case.is_bare_result(evidence.event)
                else self._case.find_remaining(evidence.event)
            )
        return remaining is None or (
            remaining is not cited and _EventTexts(remaining).find(evidence.quote) is None
        )

    def _is_text_only(self, evidence: Evidence, cited: Event) -> bool:
        """Return True if a quote shares no word with a call's effect: printed text or a comment."""
        if cited.kind is not Kind.ACTION or evidence.pointer == cited.output_pointer:
            return self.find_idle_names(cited) is not None
        effect = self._case.find_effect(cited)
        if effect is None or effect.is_idle:
            return effect is not None
        effective = structs.replace(cited, text=effect.text)
        effective_text = f"{cited.name} {format_call(effective, effect.leaves)}"
        return _split_words(evidence.quote).isdisjoint(_split_words(effective_text))

    def find_idle_names(self, event: Event) -> RequiredNames | None:
        """Return the names that a step must contain to mean a call without effect, else None."""
        effect = self._case.find_effect(event)
        return effect.required_names if effect is not None and effect.is_idle else None

    def filter_citations(
        self,
        step: Step,
        kinds: frozenset[StepKind],
        cited: Sequence[Evidence],
        is_related: Callable[[str], bool],
    ) -> FilteredCitations:
        """Return the citations that count for a step of these kinds.

        They count together: text may accompany a call, and a result may add a value. But an action
        is shown by a quote from its call, and it begins with that call. An action that has nothing
        to do with the step does not count at all.
        """
        unrelated = {
            evidence.event: UNRELATED
            for evidence in cited
            if self._trace.by_id[evidence.event].kind is Kind.ACTION
            and not is_related(evidence.event)
        }
        objections = [(one, UNRELATED) for one in cited if one.event in unrelated]
        own = tuple(
            evidence
            for evidence in cited
            if evidence.event not in unrelated and not self._case.is_bare_result(evidence.event)
        )
        if not kinds & CALL_KINDS:
            if own and kinds == _TELL and self._is_only_thought(own):
                return FilteredCitations((), tuple((one, ONLY_THOUGHT) for one in own))
            lacking = () if own or objections else self._list_objections(cited)
            return FilteredCitations(own, (*objections, *lacking))
        calls = [one for one in own if self._is_call(one, step, from_call=True)]
        if not calls and StepKind.ACT not in kinds:
            calls = [one for one in own if self._is_call(one, step, from_call=False)]
        words_count = not kinds <= CALL_KINDS
        if calls:
            # Results of other calls may show a value, but the step does not begin there.
            shown = {evidence.event for evidence in calls}
            kept = [
                evidence
                for evidence in own
                if evidence.event in shown
                or (words_count and self._trace.by_id[evidence.event].kind is not Kind.ACTION)
            ]
            return FilteredCitations(tuple(kept), tuple(objections))
        # Text that counts for another part is contested only if no call was cited at all.
        rest = [
            one for one in cited if one.event not in unrelated and not (objections and words_count)
        ]
        return FilteredCitations(
            own if words_count else (),
            (*objections, *self._list_objections(rest)),
            lacks_call=True,
        )

    def _list_objections(self, cited: Sequence[Evidence]) -> tuple[tuple[Evidence, str], ...]:
        return tuple((evidence, self._explain_no_call(evidence)) for evidence in cited)

    def _explain_no_call(self, evidence: Evidence) -> str:
        cited = self._trace.by_id[evidence.event]
        if cited.kind is Kind.ACTION and self.find_idle_names(cited) is None:
            return ONLY_RESULT
        return _NOT_A_CALL[cited.kind]

    @cached_property
    def _has_messages(self) -> bool:
        return any(
            event.kind is Kind.MESSAGE and self._case.is_agent_event(event.id)
            for event in self._trace.events
        )

    def _is_only_thought(self, cited: Sequence[Evidence]) -> bool:
        """Return True if all quotes are from reasoning, in a trace where the agent also speaks.

        What the agent said next to a call is a part of the conversation.
        """
        events = [self._trace.by_id[one.event] for one in cited]
        return self._has_messages and all(
            event.kind is Kind.REASONING and event.recognition != COMMENTARY for event in events
        )

    def _is_call(self, evidence: Evidence, step: Step, *, from_call: bool) -> bool:
        """Return True if a citation shows an action, by its call if `from_call`.

        Bookkeeping, and calls that only print or note something, count if the step names their
        tool.
        """
        cited = self._trace.by_id[evidence.event]
        if from_call and cited.kind is Kind.ACTION and not self._is_from_call(evidence):
            return False
        if cited.kind is Kind.BOOKKEEPING:
            return cited.name is not None and _mentions_tool(step.text, cited.name)
        if cited.kind is not Kind.ACTION:
            return cited.kind is Kind.OBSERVATION
        return self._has_effect(step, cited)

    def _has_effect(self, step: Step, call: Event) -> bool:
        """Return False for a call that only prints or notes something, unless the step names it."""
        names = self.find_idle_names(call)
        # The model decides what a flag such as --dry-run keeps a program from doing.
        if names is None or any(name.startswith("--") for name in names):
            return True
        return any(_mentions_tool(step.text, name) for name in names)

    def can_show_values(self, step: Step, event: str) -> bool:
        """Return whether an event is a call with an effect, a result, or somebody else's words."""
        shown = self._trace.by_id[event]
        if shown.kind is Kind.ACTION:
            return self._has_effect(step, shown)
        return shown.kind is Kind.OBSERVATION or shown.actor == "user"

    def _is_from_call(self, evidence: Evidence) -> bool:
        texts = self._texts.get(evidence.event) or _EventTexts(self._trace.by_id[evidence.event])
        return texts.is_in_call(evidence.quote)

    def check_condition_evidence(self, event: str, quote: str) -> Evidence | str:
        """Return evidence that a step's condition did not hold; reject the agent's own text."""
        evidence = self.resolve_non_instruction(event, quote)
        if isinstance(evidence, str):
            return evidence
        cited = self._trace.by_id[event]
        if cited.kind is Kind.OBSERVATION:
            return NO_CALL if self._case.is_bare_result(event) else evidence
        returned = evidence.pointer == cited.output_pointer and self.find_idle_names(cited) is None
        return evidence if returned or cited.actor == "user" else NOT_SHOWN


def _split_words(text: str) -> set[str]:
    return set(_WORD.findall(fold(text)))


def _mentions_tool(text: str, tool: str) -> bool:
    """Return True if a text names a tool, in one word or several."""
    tool_word = "".join(_WORD.findall(fold(tool)))
    words = _WORD.findall(fold(text))
    return bool(tool_word) and any(
        tool_word == "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + _MAX_TOOL_WORDS) + 1)
    )


class _EventTexts:
    """The texts of an event that a quote may come from."""

    def __init__(self, event: Event) -> None:
        self._event = event
        given = collect_strings(event.arguments, derived=False)
        self._own = [text for text in (event.text, *given) if text]
        # A call shows its tool's name; a message need not show its addressee, or code its language.
        if event.name and (event.arguments is not None or not self._own):
            self._own.insert(0, event.name)

    # Computed on demand: most quotes are from one of the event's own texts, as it is.
    @cached_property
    def _plain(self) -> list[str]:
        return [to_searchable_text(text) for text in self._own]

    @cached_property
    def _line(self) -> str:
        event = self._event
        arguments_json = "" if event.arguments is None else json.dumps(event.arguments, default=str)
        return to_searchable_text(" ".join(filter(None, (event.name, arguments_json, event.text))))

    @cached_property
    def _output(self) -> str:
        return to_searchable_text(self._event.output)

    def find(self, words: str) -> Evidence | None:
        """Return the quote if found; if it spans several texts, the longest of them."""
        event = self._event
        if self._is_in_own(words):
            return Evidence(event.id, event.pointer, words)
        if is_quote_in(words, self._line):
            inside = [text for text in self._own if is_quote_in(text, to_searchable_text(words))]
            longest = max(inside, key=len, default="")
            return Evidence(event.id, event.pointer, longest) if longest else cite(event, _NO_TERMS)
        if is_quote_in(words, self._output):
            return Evidence(event.id, event.output_pointer or event.pointer, words)
        return None

    def is_in_call(self, words: str) -> bool:
        """Return True if a quote is from the name, the arguments or the text, not the result."""
        return self._is_in_own(words) or is_quote_in(words, self._line)

    def _is_in_own(self, words: str) -> bool:
        as_it_is = bool(words) and any(words in text for text in self._own)
        return as_it_is or any(is_quote_in(words, text) for text in self._plain)

    def has_whole_text(self, words: str) -> bool:
        """Return True if the words equal one of the texts: a tool may be called `ls`."""
        plain = to_searchable_text(words)
        return any(plain == text for text in (*self._plain, self._output))


def _strip_head(words: str, event: Event) -> str:
    """Return a quote without the tool and the actor that prompts write before the event's text.

    "read_file by assistant {...}" is copied letter by letter, but "by assistant" is the program's.
    """
    name = event.name or ""
    if not name or not words.startswith(name):
        return words
    rest = words[len(name) :].removeprefix(f" by {event.actor}").strip(_QUOTE_MARKS)
    return rest or name


_NO_TERMS: frozenset[str] = frozenset()


def warn_about_instructions(trace: Trace) -> tuple[str, ...]:
    """Return a warning that names the events which address the judge, if any."""
    events = tuple(_find_addressed_events(trace))
    if not events:
        return ()
    verbs = ("addresses", "declares") if len(events) == 1 else ("address", "declare")
    subject = join_items(events, _MAX_EVENTS_NAMED, format_name)
    return (f"{subject} {verbs[0]} the judge or {verbs[1]} steps done: not evidence",)


def warn_about_unread_calls(trace: Trace, rejected: Iterable[RejectedEvidence]) -> tuple[str, ...]:
    """Return a warning if text was cited for actions in a trace of which no call was read.

    Either the agent only talked, or its calls are written in a way that the reader does not know.
    """
    if any(event.kind in (Kind.ACTION, Kind.BOOKKEEPING) for event in trace.events):
        return ()
    steps = dict.fromkeys(one.step for one in rejected if one.step and one.why in _TEXT_OBJECTIONS)
    if not steps:
        return ()
    subject = join_items([*steps], _MAX_EVENTS_NAMED, format_name)
    noun = "step" if len(steps) == 1 else "steps"
    warning = (
        f"{noun} {subject}: only text was cited, and the reader `{trace.reader}` read no call in "
        "this trace. If calls are written in it, try `--reader records` or describe the format in "
        "a profile"
    )
    return (warning,)


def _find_addressed_events(trace: Trace) -> Iterator[str]:
    """Yield the events whose text addresses the judge, or declares steps as done."""
    # Most traces have none, and searching all texts at once is faster.
    words = [text for event in trace.events for text in (event.text, event.output) if text]
    if not addresses_judge(fold("\n".join(words))):
        return
    for event in trace.events:
        if any(addresses_judge(fold(text)) for text in (event.text, event.output) if text):
            yield event.id
