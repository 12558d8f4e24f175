"""A case written for a model: task, plan and trace as fenced data, whole or window by window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planproof.core.content import Content, Image
from planproof.core.plan import Plan
from planproof.core.trace import Event, Trace
from planproof.llm.prompting.escaping import clipped, in_marks, name_written
from planproof.llm.prompting.event_lines import EventWriter
from planproof.llm.prompting.fence import fenced, mark_of
from planproof.llm.prompting.plan_relevance import PlanTerms
from planproof.llm.prompting.prompt_images import Gallery, ImageRules
from planproof.llm.prompting.templates import UserTemplate, render
from planproof.llm.prompting.trace_prompt import WrittenTrace, write_objects, write_trace
from planproof.llm.prompting.windows import windows_of

_SHARE_OF_TASK = 8


@dataclass(frozen=True, slots=True)
class WrittenCase:
    """What is sent of a case, and how much of its trace that shows.

    `events` are the ids of those that are written; of `shortened` something was left out,
    `collapsed` share a line with others. What does not fit is not written at all.
    """

    parts: tuple[str | Image, ...]
    events: tuple[str, ...]
    shortened: int = 0
    collapsed: int = 0
    fits: bool = True

    @property
    def images(self) -> int:
        """How many images go along."""
        return sum(isinstance(part, Image) for part in self.parts)


class CaseWriter:
    """Writes one case, as often as it is asked about."""

    def __init__(
        self,
        task: Content,
        plan: Plan,
        trace: Trace,
        *,
        budget: int,
        images: ImageRules | None = None,
    ) -> None:
        self._plan = plan
        self._trace = trace
        self._budget = budget
        self.mark = mark_of(task, plan, trace)
        """What the fences bear, and no text of the case can."""
        self._gallery = Gallery.of(task, plan, trace, self.mark, images or ImageRules())
        self._writer = EventWriter(trace, PlanTerms(plan), self._gallery)
        self._task_text, self._task_left_out = self._task(task)

    @property
    def has_images(self) -> bool:
        """Whether there are images in the case, be they sent or not."""
        return len(self._gallery) > 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the case is not sent whatever the budget: images that may not be, and why."""
        shortened = f"the task was shortened by {self._task_left_out:,} characters"
        return (*(self._gallery.left_out), *([shortened] if self._task_left_out else ()))

    def whole(self, instructions: str) -> WrittenCase:
        """The case with all of its events; with the instructions it keeps to the budget."""
        return self._written(self._trace, instructions)

    def windows(
        self, instructions: str, events: Iterable[str] | None = None
    ) -> tuple[WrittenCase, ...]:
        """The case, with all of its events or some; in overlapping windows if it does not fit."""
        trace = self._trace
        if events is not None:
            wanted = frozenset(events)
            chosen = tuple(event for event in trace.events if event.id in wanted)
            trace = Trace(chosen, trace.reader)
        return windows_of(trace, lambda part: self._written(part, instructions))

    def in_template(self, template: UserTemplate, instructions: str) -> WrittenCase:
        """The case in the words of a user's template, with the trace as JSON."""
        task, plan = self._task_text, self._fenced("plan", self._plan_text())

        def rendered(trace: str) -> str:
            return template.rendered(
                task=task, plan=plan, trace=self._fenced("trace", trace), images=self.has_images
            )

        room = self._budget - len(instructions) - len(rendered(""))
        written = write_objects(self._trace, self._writer, room)
        return self._case(written, rendered(written.text) if written.fits else "")

    def _written(self, trace: Trace, instructions: str) -> WrittenCase:
        room = self._budget - len(instructions) - len(self._rendered(trace.events, None))
        written = write_trace(trace, self._writer, room)
        return self._case(written, self._rendered(trace.events, written) if written.fits else "")

    def _case(self, written: WrittenTrace, text: str) -> WrittenCase:
        return WrittenCase(
            self._gallery.parts(text),
            written.events,
            written.shortened,
            written.collapsed,
            written.fits,
        )

    def _rendered(self, events: tuple[Event, ...], written: WrittenTrace | None) -> str:
        """The case in words; without a trace, as long as what surrounds one can be."""
        of = len(self._trace.events)
        shortened = of if written is None else written.shortened
        return render(
            "case.jinja",
            mark=self.mark,
            task=self._task_text,
            plan=self._fenced("plan", self._plan_text()),
            shown=len(events),
            of=of,
            shortened=shortened,
            trace=self._fenced("trace", "" if written is None else written.text),
        )

    def _task(self, task: Content) -> tuple[str, int]:
        most = max(200, self._budget // _SHARE_OF_TASK)
        text = self._gallery.lifted(task.text)
        left_out = max(0, len(text) - most)
        told = in_marks(clipped(text, most)) if text.strip() else "(no task was given)"
        words = (told, *([f"[+{left_out}]"] if left_out else ()), *self._gallery.marks(task.images))
        return self._fenced("task", " ".join(words)), left_out

    def _plan_text(self) -> str:
        return "\n".join(self._plan_lines())

    def _plan_lines(self) -> Iterator[str]:
        for step in self._plan.steps:
            text = in_marks(self._gallery.lifted(step.text))
            yield f"step {name_written(step.number)} {text}"
        yield from self._gallery.marks(self._plan.images)

    def _fenced(self, name: str, text: str) -> str:
        return fenced(name, text, self.mark)
