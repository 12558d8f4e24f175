"""Build the candidates for alignment: the agent's own events, with their terms and values.

Restatements of the plan are removed first: they are not evidence of any step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from planproof.checking.action_types import (
    classify_event,
    classify_message,
    find_tool_exclusive_types,
)
from planproof.checking.effects import Effect, analyze_effect, names_any
from planproof.checking.event_text import find_known_commands, flatten_arguments, format_call
from planproof.contracts.terms import collect_terms, extract_terms, load_command_terms, split_tokens
from planproof.contracts.values import fold
from planproof.core.plan import Plan
from planproof.core.trace import Event, Kind, Trace
from planproof.core.vocabulary import Vocabulary

_SENTENCE = re.compile(r"[^\n.!?]*(?:[.!?](?!\s)[^\n.!?]*)*(?:[.!?\n]+|$)")
_JUDGE_ADDRESS = re.compile(
    r"\b(?:evaluators?|graders?|plan adherence|score (?:of |is |must be |should be )?1(?:\.0+)?\b"
    r"|(?:ignore|disregard) (?:all |any |the )?(?:previous |prior |above )?instructions"
    r"|(?:mark|count|treat|consider) (?:all|every|each|the) (?:\w+ )?steps?\b"
    r"|(?:all|every|each) (?:of the |the )?(?:planned )?steps? (?:of the plan )?"
    r"(?:is|are|was|were|has been|have been) (?:now )?(?:done|complete|executed|finished|followed)"
    r"|(?:i|we)(?:'ve| have)? (?:now )?(?:completed|finished|executed|carried out|done|performed)"
    r" (?:all|every|each|the|my) ?(?:planned )?(?:steps?|plan)\b"
    r"|(?:completed|finished|executed|carried out|done|performed) steps? \d"
    r"|steps? \d[\w, -]{0,40} (?:is|are|was|were|has been|have been) (?:now )?"
    r"(?:done|complete|executed|finished|followed))",
    re.IGNORECASE,
)
_WRITTEN_CALL = re.compile(
    r"^\W{0,6}(?:action(?: input)?|tool (?:call|result|input)|function call|observation)\W{0,4}:"
    r"|</?(?:tool_call|tool_response|function_calls?|invoke)\b"
    r"|\"(?:name|tool|tool_name|function|action)\"\s*:[^}]{1,200}"
    r"\"(?:arguments|parameters|args|input|action_input|tool_input)\"\s*:",
    re.IGNORECASE | re.MULTILINE,
)
"""The labels, tags or keys of a call in a text; a code block alone may be advice or an answer."""
_ADDRESS_WORDS = ("evaluator", "grader", "score ", "instructions", "step", "plan")
"""All matches of `_JUDGE_ADDRESS` contain one of these; searching for them is much faster."""
# Bound once: attribute access on an enum takes longer than the comparison.
_BOOKKEEPING = Kind.BOOKKEEPING
_TEXT_KINDS = frozenset({Kind.MESSAGE, Kind.REASONING})
_JOINING_MARKS = str.maketrans("_-", "  ")
_DROPPED_MARKS = ("\\", "*", "`")
_MIN_OPENING_CHARS = 8
_OPENING_CHARS = 30
_MIN_KEPT_SHARE = 0.6


def remove_restatements(trace: Trace, plan: Plan) -> Trace:
    """Return the trace without messages and outputs that repeat the words of a step.

    "I have done step 2: run the tests" would score higher for step 2 than any action, and so would
    a to-do list with the step as an item, or an output crafted to look like it. Text that declares
    steps done, or addresses the judge, is not evidence either.
    """
    folded = [_get_opening(fold(step.text)) for step in plan.leaves]
    all_text = fold(
        "\n".join(
            [
                format_call(event) if event.kind is _BOOKKEEPING else event.output or event.text
                for event in trace.events
            ]
        )
    )
    marked = _drop_marks(all_text)
    openings = [text for text in folded if len(text) >= _MIN_OPENING_CHARS and text in marked]
    trace = _remove_written_calls(trace)
    if not openings and not addresses_judge(all_text):
        return trace
    events = [_strip_restatements(event, openings) for event in trace.events]
    return replace(trace, events=tuple(event for event in events if event is not None))


def _remove_written_calls(trace: Trace) -> Trace:
    """Return the trace without paragraphs of the agent's texts that are written as calls.

    Only where calls are recorded: there, a call in a text was not made.
    """
    if not any(event.kind is Kind.ACTION and not event.recognition for event in trace.events):
        return trace
    changed: dict[str, Event | None] = {}
    for event in trace.events:
        if event.kind in _TEXT_KINDS and event.actor != "user" and _WRITTEN_CALL.search(event.text):
            paragraphs = event.text.split("\n\n")
            kept = "\n\n".join(part for part in paragraphs if not _WRITTEN_CALL.search(part))
            changed[event.id] = structs.replace(event, text=kept) if kept.strip() else None
    if not changed:
        return trace
    events = (changed.get(event.id, event) for event in trace.events)
    return replace(trace, events=tuple(event for event in events if event is not None))


def _strip_restatements(event: Event, openings: Sequence[str]) -> Event | None:
    """Return the event without restatements, or None if most of it is a restatement."""
    if event.kind is _BOOKKEEPING:
        return None if _restates(format_call(event), openings) else event
    if event.kind is Kind.OBSERVATION:
        # An observation may repeat a step; only paragraphs added to it are dropped.
        kept = _drop_restating_paragraphs(event.text, openings)
        return structs.replace(event, text=kept) if kept and kept != event.text.strip() else event
    if event.kind is Kind.ACTION:
        if not _restates(event.output, openings):
            return event
        remaining = _drop_restating_paragraphs(event.output, openings)
        remaining = remaining or _drop_restating_sentences(event.output, openings)
        return structs.replace(event, output=remaining)
    if (
        event.kind not in _TEXT_KINDS
        or event.actor == "user"
        or not _restates(event.text, openings)
    ):
        return event
    # Paragraphs without restatements are kept: the plan, appended to a message, must not erase it.
    if remaining := _drop_restating_paragraphs(event.text, openings):
        return structs.replace(event, text=remaining)
    remaining = _drop_restating_sentences(event.text, openings)
    return (
        structs.replace(event, text=remaining)
        if len(remaining) >= _MIN_KEPT_SHARE * len(event.text)
        else None
    )


def _restates(text: str, openings: Sequence[str]) -> bool:
    folded = fold(text)
    without_marks = _drop_marks(folded)
    if any(opening in without_marks for opening in openings):
        return True
    return addresses_judge(folded)


def _get_opening(folded_step: str) -> str:
    return _drop_marks(folded_step).rstrip(".")[:_OPENING_CHARS]


def _drop_marks(folded: str) -> str:
    """Return a folded text as prose: `send_mail` as two words, without escapes and emphasis."""
    plain = folded.translate(_JOINING_MARKS)
    for mark in _DROPPED_MARKS:
        plain = plain.replace(mark, "")
    return plain


def addresses_judge(folded: str) -> bool:
    """Return whether a folded text addresses the judge or declares steps done."""
    return (
        any(map(folded.__contains__, _ADDRESS_WORDS)) and _JUDGE_ADDRESS.search(folded) is not None
    )


def _drop_restating_paragraphs(text: str, openings: Sequence[str]) -> str:
    """Drop paragraphs that restate the plan; return an empty text if there are no others."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(part for part in paragraphs if not _restates(part, openings)).strip()


def _drop_restating_sentences(text: str, openings: Sequence[str]) -> str:
    """Drop sentences that restate the plan; line breaks keep quotes from spanning the gaps.

    A restatement may span what looks like several sentences: "Ask R.E.M. for a date". Where it
    does, nothing is kept.
    """
    sentences = (match[0] for match in _SENTENCE.finditer(text))
    kept = "\n".join(sentence for sentence in sentences if not _restates(sentence, openings))
    return "" if _restates(kept, openings) else kept


_GENERIC_ACTORS = frozenset({None, "assistant", "agent", "tool"})
# Bound once: attribute access on an enum takes longer than the comparison.
_ACTION, _MESSAGE, _SYSTEM = Kind.ACTION, Kind.MESSAGE, Kind.SYSTEM
_OBSERVATION = Kind.OBSERVATION
_CALL_KINDS = frozenset({Kind.ACTION, Kind.BOOKKEEPING})
_NONE: frozenset[str] = frozenset()
_LONG_MESSAGE = 600
_PASSAGE = 300
_MAX_PASSAGES = 12
_MAX_CALL_CHARS = 20_000
_MAX_OUTPUT_CHARS = 4_000


class ActionSignature(Struct, frozen=True, eq=False):
    """The signature of an event: its actor, tool and commands.

    `name` and `actor` are in lower case, `label` has both as written. `terms` are the words of
    `label` and of what the commands are known to do, `exclusive_types` the action types of the
    tool's verb that exclude other ones. Events of a trace that were done the same way share one
    signature.
    """

    kind: Kind
    name: str
    actor: str
    label: str
    terms: frozenset[str]
    action_types: frozenset[str]
    exclusive_types: frozenset[str]
    is_closing: bool
    is_text_only: bool


class Candidate(Struct, eq=False):
    """One of the agent's own events, ready to be compared with steps.

    `terms` are the words of the event and of its signature. `call_text` is folded, for the search
    for literals. `is_text_only`, `action_types` and `is_closing` are copied from the signature.
    """

    position: int
    event: Event
    terms: frozenset[str]
    call_text: str
    signature: ActionSignature
    is_text_only: bool
    """True for text without a call: a claim, an announcement, a thought."""
    action_types: frozenset[str]
    is_closing: bool
    required_names: frozenset[str] | None = None
    """For a call without effect, the tools, programs and flags that a step must name to mean it."""
    is_print_only: bool = False
    """True if this is only the printed part of a call that also does something."""
    _output_text: str | None = None

    def counts_for(self, step: str) -> bool:
        """Return whether this has an effect, or is named by `step`, a folded text."""
        return self.required_names is None or names_any(step, self.required_names)

    @property
    def output_text(self) -> str:
        """The output, folded, for the search for literals."""
        # Computed on demand: few outputs are needed, and they can be long.
        if self._output_text is None:
            self._output_text = fold(self.event.output)
        return self._output_text

    @property
    def output_terms(self) -> frozenset[str]:
        """The words of the beginning of the output."""
        return collect_terms(split_tokens(self.event.output[:_MAX_OUTPUT_CHARS]))


def build_candidates(
    trace: Trace, vocabulary: Vocabulary, steps: Sequence[str] = ()
) -> list[Candidate]:
    """Return the agent's own events as candidates, in order, without users and systems.

    Left out as evidence are results that an agent wrote itself, results without a call where calls
    are recorded, empty calls, and calls without effect, unless one of the folded `steps` names
    them.
    """
    candidates: list[Candidate] = []
    signatures = _SignatureCache(vocabulary)
    empty_calls = find_empty_calls(trace)
    records_calls = any(event.kind in _CALL_KINDS for event in trace.events)
    speakers = {event.actor for event in trace.events if event.kind in _TEXT_KINDS and event.actor}
    speakers |= {"assistant", "agent"}
    for position, event in enumerate(trace.events):
        kind = event.kind
        if kind is _SYSTEM or event.actor == "user" or event.id in empty_calls:
            continue
        if kind is _OBSERVATION and (records_calls or event.actor in speakers):
            continue
        if kind in _CALL_KINDS:
            leaves = flatten_arguments(event.arguments)
            effect = analyze_effect(event, leaves) if kind is _ACTION else None
            if effect is not None:
                candidates += _build_effect_candidates(position, event, effect, signatures, steps)
                continue
            signature = signatures.get(event, find_known_commands(event, leaves))
            candidates.append(
                _build_candidate(position, event, format_call(event, leaves), signature)
            )
            continue
        signature = signatures.get(event, _NONE)
        is_long = signature.is_text_only and len(event.text) >= _LONG_MESSAGE
        texts = _split_passages(event.text) if is_long else (format_call(event),)
        candidates += [_build_candidate(position, event, text, signature) for text in texts]
    return candidates


def find_empty_calls(trace: Trace) -> frozenset[str]:
    """Return the calls without arguments and result, of tools that take arguments otherwise."""
    bare = [
        event
        for event in trace.events
        if event.kind is _ACTION and not (event.arguments or event.text or event.output)
    ]
    if not bare:
        return _NONE
    with_arguments = {event.name for event in trace.events if event.arguments}
    working_without = {e.name for e in trace.events if not e.arguments and e.output}
    return frozenset(event.id for event in bare if event.name in with_arguments - working_without)


def _build_effect_candidates(
    position: int, event: Event, effect: Effect, signatures: _SignatureCache, steps: Sequence[str]
) -> Iterator[Candidate]:
    """Yield the effective part of a call, and the printed part where a step names it."""
    if not effect.is_idle:
        effective_event = structs.replace(event, text=effect.text)
        signature = signatures.get(event, find_known_commands(effective_event, effect.leaves))
        yield _build_candidate(
            position, event, format_call(effective_event, effect.leaves), signature
        )
    naming = [step for step in steps if names_any(step, effect.required_names)]
    if naming:
        leaves = flatten_arguments(event.arguments)
        signature = signatures.get(event, find_known_commands(event, leaves))
        text = format_call(event, leaves) if effect.is_idle else effect.printed_text
        if _prints_any(naming, effect):
            return  # `echo 'Print the report: done'`
        print_candidate = _build_candidate(position, event, text, signature)
        print_candidate.required_names, print_candidate.is_print_only = (
            effect.required_names,
            not effect.is_idle,
        )
        yield print_candidate


def _prints_any(steps: Sequence[str], effect: Effect) -> bool:
    """Return whether a command without effect prints the words of one of these folded steps."""
    text = fold(effect.printed_text)
    starts = [text.find(name) + len(name) for name in effect.required_names if name in text]
    printed = text[min(starts, default=0) :]
    return _restates(printed, [_get_opening(step) for step in steps])


def _build_candidate(
    position: int, event: Event, text: str, signature: ActionSignature
) -> Candidate:
    max_chars = max(0, _MAX_CALL_CHARS - len(signature.label) - 1)
    terms = collect_terms(split_tokens(text[:max_chars]), signature.terms)
    folded = fold(f"{signature.label} {text}")
    return Candidate(
        position,
        event,
        terms,
        folded,
        signature,
        signature.is_text_only,
        signature.action_types,
        signature.is_closing,
    )


def _split_passages(text: str) -> list[str]:
    """Split a long message into passages, since it can do several things."""
    passages = [[""]]
    length = 0
    for paragraph in text.split("\n"):
        if length + len(paragraph) > _PASSAGE and len(passages) < _MAX_PASSAGES:
            passages.append([paragraph])
            length = len(paragraph)
        else:
            passages[-1].append(paragraph)
            length += 1 + len(paragraph)
    # Joined once: adding line by line to a long text copies it every time.
    return [passage for passage in map("\n".join, passages) if passage.strip()]


class _SignatureCache:
    """The signatures of one trace, each built once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._signatures: dict[tuple[object, ...], ActionSignature] = {}

    def get(self, event: Event, commands: frozenset[str]) -> ActionSignature:
        """Return the signature of an event; `commands` are the known words that it runs."""
        # The action type of a message depends on its text, that of an action on the other fields.
        message_types = classify_message(event.text) if event.kind is _MESSAGE else None
        key = (
            event.kind,
            event.name,
            event.actor,
            commands,
            message_types,
            event.arguments is None,
        )
        signature = self._signatures.get(key)
        if signature is None:
            signature = self._signatures[key] = self._build_signature(event, commands)
        return signature

    def _build_signature(self, event: Event, commands: frozenset[str]) -> ActionSignature:
        name, actor = event.name or "", event.actor or ""
        label = name if event.actor in _GENERIC_ACTORS else f"{name} {actor}"
        closing = self._vocabulary.is_closing(event.name)
        terms = collect_terms(split_tokens(label))
        is_action = event.kind is _ACTION and not closing
        if event.kind in _CALL_KINDS:
            terms = terms.union(
                extract_terms(name), *map(load_command_terms().__getitem__, commands)
            )
        return ActionSignature(
            kind=event.kind,
            name=name.lower(),
            actor=actor.lower(),
            label=label,
            terms=terms,
            action_types=classify_event(event, commands, closing=closing),
            exclusive_types=find_tool_exclusive_types(name) if is_action else _NONE,
            is_closing=closing,
            is_text_only=event.kind in _TEXT_KINDS,
        )
