"""Extract the text, the argument values and the known commands of an event, and quote from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import repeat
from types import NoneType
from typing import TypeAlias, TypeGuard, cast

from planproof.contracts.terms import extract_terms, load_command_terms
from planproof.core.content import Json
from planproof.core.finding import Evidence, Extra, Findings
from planproof.core.quotes import QuotableTexts, is_quote_in, to_searchable_text
from planproof.core.trace import DERIVED, Event, Trace

Leaves: TypeAlias = Collection[tuple[str, Json]]
"""The scalar values in arguments, each with its key."""

_SCALAR_TYPES = frozenset({str, int, float, bool, NoneType})
_NONE: frozenset[str] = frozenset()
_MAX_CODE_CHARS = 20_000
_MAX_SHELL_CHARS = 2_000
_MAX_CACHED_CHARS = 120
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
_FUNCTION_CALL = re.compile(r"\b([A-Za-z_]\w{1,60})\s*\(")
_SPACE = re.compile(r"\s+")


def find_known_commands(event: Event, leaves: Leaves) -> frozenset[str]:
    """Return the known commands, keywords and functions that an action uses."""
    known = load_command_terms()
    commands = _NONE
    if event.name and (name := event.name.lower()) in known:
        commands |= {name}
    for text in (event.text, *[value for _, value in leaves if isinstance(value, str)]):
        if text.isidentifier():
            if (word := text.lower()) in known:
                commands |= {word}
        elif text:
            commands |= (
                _find_commands_cached(text)
                if len(text) <= _MAX_CACHED_CHARS
                else _find_commands(text)
            )
    return commands


def _find_commands(text: str) -> frozenset[str]:
    if _SQL.match(text):
        words = [_SPACE.sub("_", word) for word in _SQL_WORD.findall(text)]
    else:
        words = _SHELL_WORD.findall(text[:_MAX_SHELL_CHARS])
        if "(" in text:
            words += _FUNCTION_CALL.findall(text[:_MAX_CODE_CHARS])
    return frozenset(filter(load_command_terms().__contains__, map(str.lower, words)))


# Short texts are repeated many times in a trace.
_find_commands_cached = lru_cache(maxsize=4_096)(_find_commands)


def format_call(event: Event, leaves: Leaves | None = None) -> str:
    """Format an event with its arguments as one text."""
    if event.arguments is None:
        return event.text
    arguments_text = "\n".join(
        [
            f"{key}: {value}" if key else str(value)
            for key, value in (flatten_arguments(event.arguments) if leaves is None else leaves)
            if value is not None and value != ""
        ]
    )
    return (
        f"{event.text}\n{arguments_text}"
        if event.text and event.text not in arguments_text
        else arguments_text
    )


def collect_strings(value: Json, *, derived: bool = True) -> list[str]:
    """Return all strings in arguments, in order; not `derived` leaves out those from elsewhere."""
    return [
        item
        for key, item in flatten_arguments(value)
        if isinstance(item, str) and (derived or not key.startswith(DERIVED))
    ]


def flatten_arguments(value: Json) -> Leaves:
    """Return the scalar values in arguments, in order, each with its nearest key."""
    if value is None:
        return ()
    # Most arguments are a flat object.
    if _is_object(value) and _SCALAR_TYPES.issuperset(map(type, value.values())):
        return value.items()
    leaves: list[tuple[str, Json]] = []
    pending: list[Iterator[tuple[str, Json]]] = [iter([("", value)])]
    while pending:
        for key, item in pending[-1]:
            if _is_object(item):
                pending.append(iter(item.items()))
                break
            if isinstance(item, list):
                pending.append(zip(repeat(key), cast(list[Json], item), strict=False))
                break
            leaves.append((key, item))
        else:
            pending.pop()
    return leaves


def _is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)


_MAX_QUOTE_CHARS = 120
_MAX_TEXT_CHARS = 8_000
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s)|\n|$)")


def cite(event: Event, terms: frozenset[str]) -> Evidence:
    """Return evidence from an event: the passage with most of the given terms."""
    best, best_worth = _choose_passage(_list_passages(event, by_name=bool(terms)), terms)
    if terms and best_worth <= 0 and event.output_pointer is not None:
        for passage in _split_sentences(event.output):
            if terms & extract_terms(passage):
                return Evidence(event.id, event.output_pointer, passage)
    return Evidence(event.id, event.pointer, best)


def _choose_passage(passages: Iterable[str], terms: frozenset[str]) -> tuple[str, int]:
    """Return the first passage with most of the terms, and their number; -1 if there is none."""
    best, best_worth = "", -1
    for passage in passages:
        worth = len(terms & extract_terms(passage))
        if worth > best_worth:
            best, best_worth = passage, worth
    return best, best_worth


def _list_passages(event: Event, *, by_name: bool) -> list[str]:
    """Return the passages of an event that can be quoted, most informative first."""
    passages = [
        passage
        for text in collect_strings(event.arguments, derived=False)
        if (passage := _clip(text))
    ]
    if event.text:
        passages += _split_sentences(event.text)
    # A tool's name is part of its call; the name of an agent that was addressed need not be.
    if event.name and (event.arguments is not None or not passages):
        return [event.name, *passages] if by_name else [*passages, event.name]
    return passages


def _split_sentences(text: str) -> list[str]:
    sentences = _SENTENCE.findall(text[:_MAX_TEXT_CHARS])
    return list(filter(None, map(_clip, sentences)))


def _clip(text: str) -> str:
    return text.strip()[:_MAX_QUOTE_CHARS].rstrip()


_MAX_SOURCE_CHARS = 2_000


class QuoteLocator:
    """Looks up quotes in the source, and replaces those of an event that are not there.

    An event is what a reader made of the source: it may have named the tool itself ("shell" for a
    record that only has a command), joined lines across a border, or parsed a printed value. A
    quote that is not from the event either is left as it is, for `verify` to reject.
    """

    def __init__(self, trace: Trace, document: Json) -> None:
        self._events = trace.by_id
        self._texts = QuotableTexts(document)

    def locate_findings(self, findings: Findings) -> Findings:
        """Return the findings with quotes that occur in the source."""
        steps = [
            replace(step, evidence=tuple([self.locate(one, step.text) for one in step.evidence]))
            if not all(map(self._is_located, step.evidence))
            else step
            for step in findings.steps
        ]
        extras = [
            extra if self._is_located(extra) else replace(extra, quote=self._requote(extra, ""))
            for extra in findings.extras
        ]
        return replace(findings, steps=tuple(steps), extras=tuple(extras))

    def locate(self, evidence: Evidence, step_text: str) -> Evidence:
        """Return the evidence, with another quote of its event if its own is not in the source."""
        if self._is_located(evidence):
            return evidence
        return replace(evidence, quote=self._requote(evidence, step_text))

    def _requote(self, cited: Evidence | Extra, step_text: str) -> str:
        """Return the passage most like the step; if none of the event's is there, what is."""
        event, terms = self._events[cited.event], extract_terms(step_text)
        if not _was_read(cited, event):
            return cited.quote
        for passages in self._list_candidates(event, cited.pointer, by_name=bool(terms)):
            located = [one for one in passages if self._texts.contains(one, cited.pointer)]
            if located:
                return _choose_passage(located, terms)[0]
        return cited.quote

    def _list_candidates(
        self, event: Event, pointer: str, *, by_name: bool
    ) -> Iterator[Sequence[str]]:
        """Yield passages of the event, then passages of the source, then its words."""
        is_call = pointer == event.pointer
        yield _list_passages(event, by_name=by_name) if is_call else _split_sentences(event.output)
        source = self._texts.get(pointer)[:_MAX_SOURCE_CHARS]
        yield _split_sentences(source)
        yield source.split()

    def _is_located(self, cited: Evidence | Extra) -> bool:
        event = self._events.get(cited.event)
        if event is None or cited.pointer not in (event.pointer, event.output_pointer):
            return True  # a wrong event or pointer is not a matter of the quote
        return self._texts.contains(cited.quote, cited.pointer)


def _was_read(cited: Evidence | Extra, event: Event) -> bool:
    """Return whether a quote is from the event as it was read; so is an empty one."""
    quote = cited.quote
    texts = [event.output]
    if cited.pointer == event.pointer:
        texts = [event.name or "", event.text, *collect_strings(event.arguments)]
    return any(quote in text or is_quote_in(quote, to_searchable_text(text)) for text in texts)
