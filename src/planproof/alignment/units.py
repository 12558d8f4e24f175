"""What can be evidence: the agent's own events, with the words and values that they hold."""

from __future__ import annotations

from msgspec import Struct

from planproof.alignment.calls import call_text, commands_of, leaves_of
from planproof.alignment.deeds import deeds_done, deeds_said, distinct_deeds_done
from planproof.alignment.literals import fold
from planproof.alignment.terms import command_terms, terms_of, terms_of_tokens, tokens_of
from planproof.trace import Event, Kind, Trace
from planproof.vocabulary import Vocabulary

_NAMELESS = frozenset({None, "assistant", "agent", "tool"})
# Looked up once: to take a member from its class takes longer than to compare it.
_ACTION, _MESSAGE, _SYSTEM = Kind.ACTION, Kind.MESSAGE, Kind.SYSTEM
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
    _output_text: str | None = None

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


def units_of(trace: Trace, vocabulary: Vocabulary) -> list[Unit]:
    """The events that the agent made, in order; what users and systems said is not among them."""
    units: list[Unit] = []
    manners = _Manners(vocabulary)
    for position, event in enumerate(trace.events):
        kind = event.kind
        if kind is _SYSTEM or event.actor == "user":
            continue
        leaves = leaves_of(event.arguments)
        manner = manners.of(event, commands_of(event, leaves) if kind in _CALLING else _NONE)
        long = manner.said and len(event.text) >= _LONG_MESSAGE
        room = max(0, _CALL_READ - len(manner.who) - 1)
        for text in _passages(event.text) if long else (call_text(event, leaves),):
            terms = terms_of_tokens(tokens_of(text[:room]), manner.terms)
            folded = fold(f"{manner.who} {text}")
            said, deeds, closing = manner.said, manner.deeds, manner.closing
            units.append(Unit(position, event, terms, folded, manner, said, deeds, closing))
    return units


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
