"""One event on one line: id, kind, name, arguments, status, and as much text as there is room."""

from __future__ import annotations

from typing import NamedTuple

from planproof.checking.call_text import strings_in
from planproof.core.content import Json
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.llm.prompting.escaping import as_json, clipped, id_written, in_marks, name_written
from planproof.llm.prompting.plan_relevance import PlanTerms
from planproof.llm.prompting.prompt_images import Gallery

_USER = "user"


class Detail(NamedTuple):
    """How many characters of an event's fields are written at the most.

    `output` holds for what came back and speaks of the plan, or is an error; `aside` for the rest
    of what came back, which is evidence of nothing.
    """

    arguments: int
    text: int
    output: int
    aside: int


DETAILS = (
    Detail(20_000, 20_000, 20_000, 72),
    Detail(2_000, 2_000, 2_000, 72),
    Detail(400, 400, 400, 48),
    Detail(120, 120, 80, 24),
)
"""From the most to the least."""


class Line(NamedTuple):
    """A line of a written trace; `left_out` counts the characters that it does not show."""

    text: str
    left_out: int = 0


class Fields(NamedTuple):
    """What is shown of an event: its arguments as JSON, its text, and what came back."""

    arguments: str | None
    text: str
    output: str
    left_out: int


class EventWriter:
    """Writes the events of one trace."""

    def __init__(self, trace: Trace, terms: PlanTerms, gallery: Gallery) -> None:
        self._terms = terms
        self._gallery = gallery
        self._shows_actors = len({e.actor for e in trace.events} - {_USER, None}) > 1
        self._together = _issued_together(trace)
        self._whole: dict[str, Fields] = {}
        self._wanted: dict[str, bool] = {}
        self._heads: dict[tuple[Kind, str | None, str | None, str | None], str] = {}

    def nearness(self, event: Event) -> int:
        """How near an event is to the plan's words."""
        return self._terms.nearness(event, self._everything(event).arguments or "")

    def head(self, event: Event) -> str:
        """What is the same on every line of alike events: kind, who and which tool."""
        alike = (event.kind, event.name, event.actor, event.parent)
        found = self._heads.get(alike)
        if found is None:
            found = self._heads[alike] = self._head(event)
        return found

    def _head(self, event: Event) -> str:
        words: list[str] = [event.kind]
        if event.name:
            words.append(name_written(event.name))
        if event.actor and (self._shows_actors or event.actor == _USER):
            words.append(f"by {name_written(event.actor)}")
        if event.parent:
            words.append(f"under {id_written(event.parent)}")
        return " ".join(words)

    def line(self, event: Event, detail: int) -> Line:
        """The event on a line of its own."""
        shown = self.fields(event, detail)
        words = [id_written(event.id), self.head(event)]
        if event.id in self._together:
            words.append(f"(with {id_written(self._together[event.id])})")
        if shown.arguments is not None:
            words.append(shown.arguments)
        if shown.text:
            words.append(in_marks(shown.text))
        if event.status is not EventStatus.UNKNOWN:
            words.append(event.status)
        if shown.output:
            words += ("=>", in_marks(shown.output))
        if shown.left_out:
            words.append(f"[+{shown.left_out}]")
        if event.images:
            words += self._gallery.marks(event.images)
        return Line(" ".join(words), shown.left_out)

    def as_object(self, event: Event, detail: int) -> Line:
        """The event as a JSON object on a line of its own."""
        shown = self.fields(event, detail)
        fields: dict[str, Json] = {"id": event.id, "kind": event.kind.value}
        fields |= {
            key: value
            for key in ("name", "actor", "parent", "turn")
            if (value := getattr(event, key))
        }
        if shown.arguments is not None:
            whole = len(shown.arguments) <= DETAILS[detail].arguments
            fields["arguments"] = event.arguments if whole else shown.arguments
        fields |= {
            key: value for key in ("text", "output", "left_out") if (value := getattr(shown, key))
        }
        if event.status is not EventStatus.UNKNOWN:
            fields["status"] = event.status.value
        if event.images:
            fields["images"] = list(self._gallery.marks(event.images))
        return Line(as_json(fields), shown.left_out)

    def fields(self, event: Event, detail: int) -> Fields:
        """What is shown of an event at this detail, and how many characters are not."""
        most = DETAILS[detail]
        whole = self._everything(event)
        room = most.aside
        if len(whole.output) > room and self._is_wanted(event, whole.arguments or ""):
            room = most.output
        output = clipped(whole.output, room)
        left_out = _missing(whole.output, room)
        if len(whole.text) <= most.text and len(whole.arguments or "") <= most.arguments:
            # So it is with nearly all of them.
            return Fields(whole.arguments, whole.text, output, left_out) if left_out else whole
        left_out += _missing(whole.text, most.text)
        arguments = whole.arguments
        if arguments is not None:
            left_out += _missing(arguments, most.arguments)
            arguments = clipped(arguments, most.arguments)
        return Fields(arguments, clipped(whole.text, most.text), output, left_out)

    def _everything(self, event: Event) -> Fields:
        whole = self._whole.get(event.id)
        if whole is None:
            whole = self._whole[event.id] = self._unshortened(event)
        return whole

    def _unshortened(self, event: Event) -> Fields:
        text, output = self._gallery.lifted(event.text), self._gallery.lifted(event.output)
        if event.arguments is None:
            return Fields(None, text, output, 0)
        if text and text in strings_in(event.arguments):
            text = ""  # the command of a call, a second time
        return Fields(as_json(event.arguments), text, output, 0)

    def _is_wanted(self, event: Event, arguments: str) -> bool:
        found = self._wanted.get(event.id)
        if found is None:
            failed = event.status is EventStatus.ERROR
            told = failed or self._terms.is_told_by_output(event, arguments)
            found = self._wanted[event.id] = told
        return found


def _missing(text: str, most: int) -> int:
    return max(0, len(text) - most)


def _issued_together(trace: Trace) -> dict[str, str]:
    """Each call that was issued in one turn with an earlier one -> the first of that turn."""
    found: dict[str, str] = {}
    first: Event | None = None
    for event in trace.events:
        if event.kind is Kind.ACTION and event.turn:
            if first is not None and first.turn == event.turn:
                found[event.id] = first.id
            else:
                first = event
    return found
