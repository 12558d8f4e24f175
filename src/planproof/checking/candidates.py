"""What can be evidence: the agent's own events, with the words and values that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import Struct

from planproof.checking.action_types import deeds_done, deeds_said, distinct_deeds_done
from planproof.checking.call_text import call_text, commands_of, leaves_of
from planproof.checking.effects import Effect, effect_of, names_any
from planproof.contracts.terms import command_terms, terms_of, terms_of_tokens, tokens_of
from planproof.contracts.values import fold
from planproof.core.trace import Event, Kind, Trace
from planproof.core.vocabulary import Vocabulary

_NAMELESS = frozenset({None, "assistant", "agent", "tool"})
# Looked up once: to take a member from its class takes longer than to compare it.
_ACTION, _MESSAGE, _SYSTEM = Kind.ACTION, Kind.MESSAGE, Kind.SYSTEM
_OBSERVATION = Kind.OBSERVATION
_SAID = frozenset({Kind.MESSAGE, Kind.REASONING})
_CALLING = frozenset({Kind.ACTION, Kind.BOOKKEEPING})
_NONE: frozenset[str] = frozenset()
_LONG_MESSAGE = 600
_PASSAGE = 300
_MOST_PASSAGES = 12
_CALL_READ = 20_000
_OUTPUT_READ = 4_000


class Manner(Struct, frozen=True, eq=False):
    """How something was done: by whom, with which tool and which commands.

    `name` and `actor` are in lower case, `who` is both as they are written. `terms` are the words
    of `who` and of what the commands are known to do, `distinct` the deeds of the tool's verb
    that do not stand for others. The events of a trace that were done alike share one manner.
    """

    kind: Kind
    name: str
    actor: str
    who: str
    terms: frozenset[str]
    deeds: frozenset[str]
    distinct: frozenset[str]
    closing: bool
    said: bool


class Unit(Struct, eq=False):
    """One of the agent's own events, ready to be compared with steps.

    `terms` are the words of what was done or said and of its manner. `call_text` is folded, for the
    search of literals. What follows the manner is taken from it.
    """

    position: int
    event: Event
    terms: frozenset[str]
    call_text: str
    manner: Manner
    said: bool
    """Whether it is words alone: a claim, an announcement, a thought."""
    deeds: frozenset[str]
    closing: bool
    names: frozenset[str] | None = None
    """For a call without effect, the tools, programs and flags that a step must name to mean it."""
    aside: bool = False
    """Whether this is what a call only says beside what it does."""
    _output_text: str | None = None

    def counts_for(self, step: str) -> bool:
        """Return whether this has an effect, or is named by a step, which is folded."""
        return self.names is None or names_any(step, self.names)

    @property
    def output_text(self) -> str:
        """What came back, folded, for the search of literals."""
        # Few outputs are ever looked at, and they can be long.
        if self._output_text is None:
            self._output_text = fold(self.event.output)
        return self._output_text

    @property
    def output_terms(self) -> frozenset[str]:
        """The words of the head of what came back."""
        return terms_of_tokens(tokens_of(self.event.output[:_OUTPUT_READ]))


def units_of(trace: Trace, vocabulary: Vocabulary, steps: Sequence[str] = ()) -> list[Unit]:
    """The events that the agent made, in order; what users and systems said is not among them.

    Nor is a result that an agent wrote itself or, where calls are recorded, one without its call,
    for these prove nothing; nor a call without effect, unless one of the `steps`, folded, names it.
    """
    units: list[Unit] = []
    manners = _Manners(vocabulary)
    called = any(event.kind in _CALLING for event in trace.events)
    speakers = {event.actor for event in trace.events if event.kind in _SAID and event.actor}
    speakers |= {"assistant", "agent"}
    for position, event in enumerate(trace.events):
        kind = event.kind
        if kind is _SYSTEM or event.actor == "user":
            continue
        if kind is _OBSERVATION and (called or event.actor in speakers):
            continue
        if kind in _CALLING:
            leaves = leaves_of(event.arguments)
            effect = effect_of(event, leaves) if kind is _ACTION else None
            if effect is not None:
                units += _units_of_effect(position, event, effect, manners, steps)
                continue
            manner = manners.of(event, commands_of(event, leaves))
            units.append(_unit(position, event, call_text(event, leaves), manner))
            continue
        manner = manners.of(event, _NONE)
        long = manner.said and len(event.text) >= _LONG_MESSAGE
        texts = _passages(event.text) if long else (call_text(event),)
        units += [_unit(position, event, text, manner) for text in texts]
    return units


def _units_of_effect(
    position: int, event: Event, effect: Effect, manners: _Manners, steps: Sequence[str]
) -> Iterator[Unit]:
    """What a call does, and what it only says where a step names that."""
    if not effect.is_idle:
        done = replace(event, text=effect.text)
        manner = manners.of(event, commands_of(done, effect.leaves))
        yield _unit(position, event, call_text(done, effect.leaves), manner)
    if any(names_any(step, effect.names) for step in steps):
        leaves = leaves_of(event.arguments)
        manner = manners.of(event, commands_of(event, leaves))
        text = call_text(event, leaves) if effect.is_idle else effect.spoken
        spoken = _unit(position, event, text, manner)
        spoken.names, spoken.aside = effect.names, not effect.is_idle
        yield spoken


def _unit(position: int, event: Event, text: str, manner: Manner) -> Unit:
    room = max(0, _CALL_READ - len(manner.who) - 1)
    terms = terms_of_tokens(tokens_of(text[:room]), manner.terms)
    folded = fold(f"{manner.who} {text}")
    return Unit(position, event, terms, folded, manner, manner.said, manner.deeds, manner.closing)


def _passages(text: str) -> list[str]:
    """The passages of a long message: it can do several things."""
    passages = [""]
    for paragraph in text.split("\n"):
        if len(passages[-1]) + len(paragraph) > _PASSAGE and len(passages) < _MOST_PASSAGES:
            passages.append(paragraph)
        else:
            passages[-1] += "\n" + paragraph
    return [passage for passage in passages if passage.strip()]


class _Manners:
    """The manners of one trace, each made once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._made: dict[tuple[object, ...], Manner] = {}

    def of(self, event: Event, commands: frozenset[str]) -> Manner:
        """The manner of an event; `commands` are the known words that it runs."""
        # What a message does stands in its text; what an action does, in the rest.
        said = deeds_said(event.text) if event.kind is _MESSAGE else None
        key = (event.kind, event.name, event.actor, commands, said, event.arguments is None)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(event, commands)
        return made

    def _make(self, event: Event, commands: frozenset[str]) -> Manner:
        name, actor = event.name or "", event.actor or ""
        who = name if event.actor in _NAMELESS else f"{name} {actor}"
        closing = self._vocabulary.closes(event.name)
        terms = terms_of_tokens(tokens_of(who))
        of_deed = event.kind is _ACTION and not closing
        if event.kind in _CALLING:
            terms = terms.union(terms_of(name), *map(command_terms().__getitem__, commands))
        return Manner(
            kind=event.kind,
            name=name.lower(),
            actor=actor.lower(),
            who=who,
            terms=terms,
            deeds=deeds_done(event, commands, closing=closing),
            distinct=distinct_deeds_done(name) if of_deed else _NONE,
            closing=closing,
            said=event.kind in _SAID,
        )
