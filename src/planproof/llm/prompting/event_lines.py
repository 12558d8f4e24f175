"""Write one event per line: id, kind, name, arguments, status, and text within limits."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import filterfalse
from typing import NamedTuple

from planproof.checking.event_text import collect_strings
from planproof.contracts.terms import split_tokens, stem_token
from planproof.core.content import Json
from planproof.core.plan import Plan
from planproof.core.trace import COMMENTARY, Event, EventStatus, Kind, Trace
from planproof.llm.prompting.escaping import (
    clip_middle,
    to_compact_json,
    wrap_in_guillemets,
    write_id,
    write_name,
)
from planproof.llm.prompting.prompt_images import ImageGallery

_USER = "user"


class DetailLimits(NamedTuple):
    """Maximum number of characters written of each field of an event.

    `output` applies to results that are errors or share words with the plan, `unrelated_output` to
    all other results, which are not evidence.
    """

    arguments: int
    text: int
    output: int
    unrelated_output: int


DETAIL_LEVELS = (
    DetailLimits(20_000, 20_000, 20_000, 72),
    DetailLimits(2_000, 2_000, 2_000, 72),
    DetailLimits(400, 400, 400, 48),
    DetailLimits(120, 120, 80, 24),
)
"""From the most to the least detail."""


class TraceLine(NamedTuple):
    """A line of a written trace; `left_out` counts the characters that it does not show."""

    text: str
    left_out: int = 0


class ShownFields(NamedTuple):
    """The shown fields of an event: arguments as JSON, text and result."""

    arguments: str | None
    text: str
    output: str
    left_out: int


class EventWriter:
    """Writes the events of one trace."""

    def __init__(self, trace: Trace, terms: PlanTerms, gallery: ImageGallery) -> None:
        self._terms = terms
        self._gallery = gallery
        self._shows_actors = len({e.actor for e in trace.events} - {_USER, None}) > 1
        self._first_of_turn = _find_parallel_calls(trace)
        self._full_fields: dict[str, ShownFields] = {}
        self._relevance_cache: dict[str, bool] = {}
        self._heads: dict[tuple[Kind, str | None, str | None, str | None, bool], str] = {}

    def count_plan_terms(self, event: Event) -> int:
        """Return the number of plan terms in an event."""
        return self._terms.count_shared_terms(event, self._get_full_fields(event).arguments or "")

    def write_head(self, event: Event) -> str:
        """Return what similar events have in common: kind, actor and tool."""
        alike = (event.kind, event.name, event.actor, event.parent, event.recognition == COMMENTARY)
        head_text = self._heads.get(alike)
        if head_text is None:
            head_text = self._heads[alike] = self._build_head(event)
        return head_text

    def _build_head(self, event: Event) -> str:
        words: list[str] = [event.kind]
        if event.name:
            words.append(write_name(event.name))
        if event.actor and (self._shows_actors or event.actor == _USER):
            words.append(f"by {write_name(event.actor)}")
        if event.parent:
            words.append(f"under {write_id(event.parent)}")
        if event.recognition == COMMENTARY:
            words.append("(said)")
        return " ".join(words)

    def write_line(self, event: Event, detail: int) -> TraceLine:
        """Write the event as one line."""
        shown = self.select_fields(event, detail)
        words = [write_id(event.id), self.write_head(event)]
        if event.id in self._first_of_turn:
            words.append(f"(with {write_id(self._first_of_turn[event.id])})")
        if shown.arguments is not None:
            words.append(shown.arguments)
        if shown.text:
            words.append(wrap_in_guillemets(shown.text))
        if event.status is not EventStatus.UNKNOWN:
            words.append(event.status)
        if shown.output:
            words += ("=>", wrap_in_guillemets(shown.output))
        if shown.left_out:
            words.append(f"[+{shown.left_out}]")
        if event.images:
            words += self._gallery.write_marks(event.images)
        return TraceLine(" ".join(words), shown.left_out)

    def write_object(self, event: Event, detail: int) -> TraceLine:
        """Write the event as a JSON object on one line."""
        shown = self.select_fields(event, detail)
        fields: dict[str, Json] = {"id": event.id, "kind": event.kind.value}
        fields |= {
            key: value
            for key in ("name", "actor", "parent", "turn")
            if (value := getattr(event, key))
        }
        if event.recognition == COMMENTARY:
            fields["said"] = True
        if shown.arguments is not None:
            whole = len(shown.arguments) <= DETAIL_LEVELS[detail].arguments
            fields["arguments"] = event.arguments if whole else shown.arguments
        fields |= {
            key: value for key in ("text", "output", "left_out") if (value := getattr(shown, key))
        }
        if event.status is not EventStatus.UNKNOWN:
            fields["status"] = event.status.value
        if event.images:
            fields["images"] = list(self._gallery.write_marks(event.images))
        return TraceLine(to_compact_json(fields), shown.left_out)

    def select_fields(self, event: Event, detail: int) -> ShownFields:
        """Return the fields shown at this detail level, with the number of omitted characters."""
        most = DETAIL_LEVELS[detail]
        whole = self._get_full_fields(event)
        output_limit = most.unrelated_output
        if len(whole.output) > output_limit and self._is_output_relevant(
            event, whole.arguments or ""
        ):
            output_limit = most.output
        output = clip_middle(whole.output, output_limit)
        left_out = _count_clipped(whole.output, output_limit)
        if len(whole.text) <= most.text and len(whole.arguments or "") <= most.arguments:
            # The usual case.
            return ShownFields(whole.arguments, whole.text, output, left_out) if left_out else whole
        left_out += _count_clipped(whole.text, most.text)
        arguments = whole.arguments
        if arguments is not None:
            left_out += _count_clipped(arguments, most.arguments)
            arguments = clip_middle(arguments, most.arguments)
        return ShownFields(arguments, clip_middle(whole.text, most.text), output, left_out)

    def _get_full_fields(self, event: Event) -> ShownFields:
        whole = self._full_fields.get(event.id)
        if whole is None:
            whole = self._full_fields[event.id] = self._build_full_fields(event)
        return whole

    def _build_full_fields(self, event: Event) -> ShownFields:
        text, output = (
            self._gallery.replace_inline_images(event.text),
            self._gallery.replace_inline_images(event.output),
        )
        if event.arguments is None:
            return ShownFields(None, text, output, 0)
        if text and text in collect_strings(event.arguments):
            text = ""  # repeats the command in the arguments
        return ShownFields(to_compact_json(event.arguments), text, output, 0)

    def _is_output_relevant(self, event: Event, arguments: str) -> bool:
        relevant = self._relevance_cache.get(event.id)
        if relevant is None:
            failed = event.status is EventStatus.ERROR
            shares_plan_terms = failed or self._terms.is_output_relevant(event, arguments)
            relevant = self._relevance_cache[event.id] = shares_plan_terms
        return relevant


def _count_clipped(text: str, max_chars: int) -> int:
    return max(0, len(text) - max_chars)


def _find_parallel_calls(trace: Trace) -> dict[str, str]:
    """Map each call issued in the same turn as an earlier one to the first call of that turn."""
    first_by_event: dict[str, str] = {}
    first: Event | None = None
    for event in trace.events:
        if event.kind is Kind.ACTION and event.turn:
            if first is not None and first.turn == event.turn:
                first_by_event[event.id] = first.id
            else:
                first = event
    return first_by_event


_MAX_FIELD_CHARS = 4_000
_MAX_TEXT_CHARS = 3 * _MAX_FIELD_CHARS
_MIN_SHARED_TERMS = 2
_MAX_CACHED_WORDS = 50_000
_NONE = frozenset[str]()
_IRREGULAR_STEMS = frozenset({"dy", "ly", "ty"})
"""Stems of dying, lying and tying, which begin differently from the words."""


class PlanTerms:
    """The words of a plan, for measuring the overlap with events."""

    def __init__(self, plan: Plan) -> None:
        tokens = set(split_tokens(" ".join(step.text for step in plan.steps)[:_MAX_TEXT_CHARS]))
        self._terms_by_word = _TermLookup(
            # Numbers are everywhere and not distinctive.
            stem
            for token in tokens
            for stem in stem_token(token)
            if not stem.isdecimal()
        )

    def count_shared_terms(self, event: Event, arguments: str) -> int:
        """Return the number of plan terms in a call, message or reasoning."""
        return len(self._find_in_call(event, arguments))

    def is_output_relevant(self, event: Event, arguments: str) -> bool:
        """Return True if the result has plan terms that the call itself has not."""
        output_terms = self._find_in_text(event.output)
        return (
            len(output_terms) >= _MIN_SHARED_TERMS
            and len(output_terms - self._find_in_call(event, arguments)) >= _MIN_SHARED_TERMS
        )

    def _find_in_call(self, event: Event, arguments: str) -> frozenset[str]:
        return self._find_in_text(
            f"{event.name or ''} {event.text[:_MAX_FIELD_CHARS]} {arguments[:_MAX_FIELD_CHARS]}"
        )

    def _find_in_text(self, text: str) -> frozenset[str]:
        words = filterfalse(str.isdecimal, split_tokens(text[:_MAX_TEXT_CHARS]))
        return _NONE.union(*map(self._terms_by_word.__getitem__, words))


class _TermLookup(dict[str, frozenset[str]]):
    """Cache from a word to the plan terms it has, since events repeat words."""

    def __init__(self, terms: Iterable[str]) -> None:
        super().__init__()
        self._terms = frozenset(terms)
        # A short stem may differ from its words in the third letter (cry, cri).
        self._beginnings = _IRREGULAR_STEMS.union(
            s[:3] if len(s) > 3 else s[:2] for s in self._terms
        )

    def __missing__(self, word: str) -> frozenset[str]:
        if len(self) > _MAX_CACHED_WORDS:
            self.clear()
        begins_like_one = word[:3] in self._beginnings or word[:2] in self._beginnings
        # Fast path: most words do not begin like any plan term.
        if not begins_like_one and word.isascii() and word.islower():
            matching = _NONE
        else:
            matching = self._terms.intersection(stem_token(word)) or _NONE
        self[word] = matching
        return matching
