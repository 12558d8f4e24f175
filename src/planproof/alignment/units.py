"""What can be evidence: the agent's own events, with the words and values that they hold."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from planproof.alignment.calls import call_text, commands_of
from planproof.alignment.deeds import deeds_done, deeds_said
from planproof.alignment.literals import fold
from planproof.alignment.terms import command_terms, terms_of, terms_of_tokens, tokens_of
from planproof.trace import Event, Kind, Trace
from planproof.vocabulary import Vocabulary

_NAMELESS = frozenset({None, "assistant", "agent", "tool"})
_SAID = frozenset({Kind.MESSAGE, Kind.REASONING})
_CALLING = frozenset({Kind.ACTION, Kind.BOOKKEEPING})
_NONE: frozenset[str] = frozenset()
_LONG_MESSAGE = 600
_PASSAGE = 300
_MOST_PASSAGES = 12
_LOOKED_BACK = 20
_ALIKE = 0.7
_CALL_READ = 20_000
_OUTPUT_READ = 4_000


@dataclass(frozen=True, slots=True, eq=False)
class Manner:
    """How something was done: by whom, with which tool and which commands.

    `name` and `actor` are in lower case, `who` is both as they are written. `terms` are the words
    of the tool's name and of what its commands are known to do. The events of a trace that were
    done alike share one manner.
    """

    kind: Kind
    name: str
    actor: str
    who: str
    terms: frozenset[str]
    deeds: frozenset[str]
    closing: bool
    said: bool


@dataclass(slots=True, eq=False)
class Unit:
    """One of the agent's own events, ready to be compared with steps.

    `terms` are the words of what was done or said and of its manner. `call_text` and `output_text`
    are folded, for the search of literals. What follows the manner is taken from it.
    """

    position: int
    event: Event
    terms: frozenset[str]
    call_text: str
    output_text: str
    manner: Manner
    said: bool
    """Whether it is words alone: a claim, an announcement, a thought."""
    deeds: frozenset[str]
    closing: bool
    repeats: bool = False
    """Whether it does what an action before it did, or nearly so."""
    repeated: bool = False
    """Whether an action after it does the same, or nearly so."""

    @property
    def output_tokens(self) -> list[str]:
        """The tokens of the head of what came back."""
        return tokens_of(self.event.output[:_OUTPUT_READ])

    @property
    def output_terms(self) -> frozenset[str]:
        """The words of the head of what came back."""
        return terms_of_tokens(self.output_tokens)


def units_of(trace: Trace, vocabulary: Vocabulary) -> list[Unit]:
    """The events that the agent made, in order; what users and systems said is not among them."""
    units: list[Unit] = []
    manners = _Manners(vocabulary)
    earlier: dict[str | None, deque[Unit]] = {}
    for position, event in enumerate(trace.events):
        kind = event.kind
        if kind is Kind.SYSTEM or event.actor == "user":
            continue
        manner = manners.of(event, commands_of(event) if kind in _CALLING else _NONE)
        long = manner.said and len(event.text) >= _LONG_MESSAGE
        for text in _passages(event.text) if long else (call_text(event),):
            call = f"{manner.who} {text}"
            units.append(
                Unit(
                    position,
                    event,
                    terms_of_tokens(tokens_of(call[:_CALL_READ]), manner.terms),
                    fold(call),
                    fold(event.output),
                    manner,
                    manner.said,
                    manner.deeds,
                    manner.closing,
                )
            )
        if kind is Kind.ACTION:
            like = earlier.get(event.name)
            if like is None:
                like = earlier[event.name] = deque(maxlen=_LOOKED_BACK)
            _mark_repeats(units[-1], like)
            like.append(units[-1])
    return units


def _mark_repeats(unit: Unit, earlier: Iterable[Unit]) -> None:
    for other in earlier:
        if unit.repeats and other.repeated:
            continue
        common = len(unit.terms & other.terms)
        if common >= _ALIKE * (len(unit.terms) + len(other.terms) - common):
            other.repeated = unit.repeats = True


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
        said = deeds_said(event.text) if event.kind is Kind.MESSAGE else None
        key = (event.kind, event.name, event.actor, commands, said, event.arguments is None)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(event, commands)
        return made

    def _make(self, event: Event, commands: frozenset[str]) -> Manner:
        name, actor = event.name or "", event.actor or ""
        closing = self._vocabulary.closes(event.name)
        terms: frozenset[str] = frozenset()
        if event.kind in _CALLING:
            terms = terms_of(name).union(*map(command_terms().__getitem__, commands))
        return Manner(
            kind=event.kind,
            name=name.lower(),
            actor=actor.lower(),
            who=name if event.actor in _NAMELESS else f"{name} {actor}",
            terms=terms,
            deeds=deeds_done(event, commands, closing=closing),
            closing=closing,
            said=event.kind in _SAID,
        )
