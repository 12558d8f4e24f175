"""What can be evidence: the agent's own events, with the words and values that they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from planproof.alignment.deeds import deeds_done
from planproof.alignment.literals import fold
from planproof.alignment.terms import command_terms, terms_of
from planproof.content import Json
from planproof.trace import Event, Kind, Trace
from planproof.vocabulary import Vocabulary

_NAMELESS = frozenset({None, "assistant", "agent", "tool"})
_SAID = frozenset({Kind.MESSAGE, Kind.REASONING})
_LONG_MESSAGE = 600
_PASSAGE = 300
_MOST_PASSAGES = 12
_LOOKED_BACK = 20
_ALIKE = 0.7
_CALL_READ = 20_000
_OUTPUT_READ = 4_000
_SHELL_READ = 2_000
_SHELL_WORD = re.compile(
    r"(?:^|[|;&(`]|\$\(|-exec)\s*(?:(?:sudo|time|xargs(?:\s+-\S+)*)\s+)*([A-Za-z][\w.+-]*)",
    re.MULTILINE,
)
_SQL = re.compile(
    r"^\W*(?:select|show|describe|desc|insert|update|delete|create|alter|drop|with|use)\b",
    re.IGNORECASE,
)
_SQL_WORD = re.compile(
    r"\b(select|show\s+tables|show|describe|where|group\s+by|order\s+by|desc|asc|limit|count|sum"
    r"|avg|max|min|distinct|having|join|insert|update|delete|create|alter|drop|union|like|between"
    r"|not\s+in)\b",
    re.IGNORECASE,
)
_CALLED = re.compile(r"\b([A-Za-z_]\w{1,60})\s*\(")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Unit:
    """One of the agent's own events, ready to be compared with steps.

    `name_terms` are the words of the tool's name and of what its commands are known to do;
    `terms` are those and the words of what was done or said, `output_terms` those of what came
    back. `call_text` and `output_text` are folded, for the search of literals.
    """

    position: int
    event: Event
    name_terms: frozenset[str]
    terms: frozenset[str]
    output_terms: frozenset[str]
    deeds: frozenset[str]
    call_text: str
    output_text: str
    closing: bool
    repeats: bool
    """Whether it does what an action before it did, or nearly so."""
    repeated: bool
    """Whether an action after it does the same, or nearly so."""

    @property
    def said(self) -> bool:
        """Whether it is words alone: a claim, an announcement, a thought."""
        return self.event.kind in _SAID


def units_of(trace: Trace, vocabulary: Vocabulary) -> list[Unit]:
    """The events that the agent made, in order; what users and systems said is not among them."""
    units: list[Unit] = []
    earlier: dict[str, list[int]] = {}
    for position, event in enumerate(trace.events):
        if event.kind is Kind.SYSTEM or event.actor == "user":
            continue
        units.extend(_units(position, event, vocabulary))
        if event.kind is Kind.ACTION:
            like = earlier.setdefault(event.name or "", [])
            for index in like[-_LOOKED_BACK:]:
                if _alike(units[index].terms, units[-1].terms):
                    units[index] = replace(units[index], repeated=True)
                    units[-1] = replace(units[-1], repeats=True)
            like.append(len(units) - 1)
    return units


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)


def _units(position: int, event: Event, vocabulary: Vocabulary) -> list[Unit]:
    """One unit an event; but a long message can do several things, so its passages are units."""
    if event.kind not in _SAID or len(event.text) < _LONG_MESSAGE:
        return [_unit(position, event, call_text(event), vocabulary)]
    passages = [""]
    for paragraph in event.text.split("\n"):
        if len(passages[-1]) + len(paragraph) > _PASSAGE and len(passages) < _MOST_PASSAGES:
            passages.append(paragraph)
        else:
            passages[-1] += "\n" + paragraph
    return [_unit(position, event, text, vocabulary) for text in passages if text.strip()]


def _unit(position: int, event: Event, call: str, vocabulary: Vocabulary) -> Unit:
    named = event.name or ""
    if event.actor not in _NAMELESS:
        named = f"{named} {event.actor}"
    commands: frozenset[str] = frozenset()
    name_terms: frozenset[str] = frozenset()
    if event.kind is Kind.ACTION or event.kind is Kind.BOOKKEEPING:
        commands = _known_words(event)
        name_terms = terms_of(event.name or "").union(*(command_terms()[word] for word in commands))
    closing = vocabulary.closes(event.name)
    return Unit(
        position,
        event,
        name_terms,
        terms_of(f"{named} {call[:_CALL_READ]}") | name_terms,
        terms_of(event.output[:_OUTPUT_READ]) if event.output else frozenset(),
        deeds_done(event, commands, closing=closing),
        fold(f"{named} {call}"),
        fold(event.output),
        closing,
        repeats=False,
        repeated=False,
    )


def call_text(event: Event) -> str:
    """What was done or said, arguments and all, as one text."""
    if event.arguments is None:
        return event.text
    said = "\n".join(_lines_of(event.arguments))
    return f"{event.text}\n{said}" if event.text and event.text not in said else said


def _lines_of(arguments: Json) -> list[str]:
    """The keys and values of arguments as lines of text."""
    lines: list[str] = []
    pending: list[tuple[str, Json]] = [("", arguments)]
    while pending:
        key, item = pending.pop()
        if isinstance(item, dict):
            pending.extend((str(k), v) for k, v in reversed(item.items()))
        elif isinstance(item, list):
            pending.extend((key, v) for v in reversed(item))
        elif item is not None and item != "":
            lines.append(f"{key}: {item}" if key else str(item))
    return lines


def _known_words(event: Event) -> frozenset[str]:
    """The commands, keywords and functions that an action uses, as far as they are known."""
    words = {(event.name or "").lower()}
    for text in (event.text, *strings_in(event.arguments)):
        if _SQL.match(text):
            words.update(_SPACE.sub("_", word.lower()) for word in _SQL_WORD.findall(text))
        else:
            words.update(word.lower() for word in _SHELL_WORD.findall(text[:_SHELL_READ]))
            words.update(word.lower() for word in _CALLED.findall(text[:_CALL_READ]))
    return frozenset(words & command_terms().keys())


def strings_in(value: Json) -> list[str]:
    """Every text inside arguments, in their order."""
    found: list[str] = []
    pending: list[Json] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            pending.extend(reversed(item.values()))
        elif isinstance(item, list):
            pending.extend(reversed(item))
    return found
