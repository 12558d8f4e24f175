"""Write a case into a prompt: task, plan and trace as fenced data, whole or in windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from planproof.core.content import Content, Image
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Event, Trace
from planproof.llm.prompting.escaping import (
    clip_middle,
    compute_mark,
    wrap_in_fence,
    wrap_in_guillemets,
    write_name,
)
from planproof.llm.prompting.event_lines import EventWriter, PlanTerms
from planproof.llm.prompting.prompt_images import ImageGallery, ImageRules
from planproof.llm.prompting.templates import UserTemplate, render
from planproof.llm.prompting.trace_prompt import TraceText, write_json, write_trace

_TASK_BUDGET_DIVISOR = 8


@dataclass(frozen=True, slots=True)
class CasePrompt:
    """The prompt parts of a case, and how much of its trace they show.

    `events` are the ids of the events shown; `shortened` counts those shown incompletely,
    `collapsed` those that share a line with others. A case that does not fit is not written at all.
    """

    parts: tuple[str | Image, ...]
    events: tuple[str, ...]
    shortened: int = 0
    collapsed: int = 0
    within_budget: bool = True

    @property
    def image_count(self) -> int:
        """Number of images sent."""
        return sum(isinstance(part, Image) for part in self.parts)


class CaseWriter:
    """Writes one case, as often as needed."""

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
        self.mark = compute_mark(task, plan, trace)
        """The mark on the fences, which no text of the case can contain."""
        self._gallery = ImageGallery.from_case(task, plan, trace, self.mark, images or ImageRules())
        self._writer = EventWriter(trace, PlanTerms(plan), self._gallery)
        self._task_text, self._task_chars_omitted = self._write_task(task)

    @property
    def has_images(self) -> bool:
        """True if the case has images, sent or not."""
        return len(self._gallery) > 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on omissions other than in the trace: images with the reason, and task text."""
        shortened = f"the task was shortened by {self._task_chars_omitted:,} characters"
        return (*(self._gallery.left_out), *([shortened] if self._task_chars_omitted else ()))

    def write_whole(self, instructions: str) -> CasePrompt:
        """Write the case with all events; together with `instructions` it keeps to the budget."""
        return self._write(self._trace, instructions)

    def write_windows(
        self, instructions: str, events: Iterable[str] | None = None
    ) -> tuple[CasePrompt, ...]:
        """Write the case with all events or some, in overlapping windows if it does not fit."""
        trace = self._trace
        if events is not None:
            event_ids = frozenset(events)
            chosen = tuple(event for event in trace.events if event.id in event_ids)
            trace = Trace(chosen, trace.reader)
        return split_into_windows(trace, lambda part: self._write(part, instructions))

    def render_template(self, template: UserTemplate, instructions: str) -> CasePrompt:
        """Render the case with a user's template, with the trace as JSON."""
        task, plan = self._task_text, self._fence("plan", self._write_plan())

        def render_with(trace: str) -> str:
            return template.render_case(
                task=task, plan=plan, trace=self._fence("trace", trace), images=self.has_images
            )

        trace_budget = self._budget - len(instructions) - len(render_with(""))
        written = write_json(self._trace, self._writer, trace_budget)
        return self._build_prompt(
            written, render_with(written.text) if written.within_budget else ""
        )

    def _write(self, trace: Trace, instructions: str) -> CasePrompt:
        trace_budget = self._budget - len(instructions) - len(self._render(trace.events, None))
        written = write_trace(trace, self._writer, trace_budget)
        return self._build_prompt(
            written, self._render(trace.events, written) if written.within_budget else ""
        )

    def _build_prompt(self, written: TraceText, text: str) -> CasePrompt:
        return CasePrompt(
            self._gallery.split_parts(text),
            written.events,
            written.shortened,
            written.collapsed,
            written.within_budget,
        )

    def _render(self, events: tuple[Event, ...], written: TraceText | None) -> str:
        """Render the case; without `written`, the longest text that can surround a trace."""
        of = len(self._trace.events)
        shortened = of if written is None else written.shortened
        return render(
            "case.jinja",
            mark=self.mark,
            task=self._task_text,
            plan=self._fence("plan", self._write_plan()),
            shown=len(events),
            of=of,
            shortened=shortened,
            trace=self._fence("trace", "" if written is None else written.text),
        )

    def _write_task(self, task: Content) -> tuple[str, int]:
        most = max(200, self._budget // _TASK_BUDGET_DIVISOR)
        text = self._gallery.replace_inline_images(task.text)
        left_out = max(0, len(text) - most)
        shown_text = (
            wrap_in_guillemets(clip_middle(text, most)) if text.strip() else "(no task was given)"
        )
        words = (
            shown_text,
            *([f"[+{left_out}]"] if left_out else ()),
            *self._gallery.write_marks(task.images),
        )
        return self._fence("task", " ".join(words)), left_out

    def _write_plan(self) -> str:
        return "\n".join(self._write_plan_lines())

    def _write_plan_lines(self) -> Iterator[str]:
        for step in self._plan.steps:
            text = wrap_in_guillemets(self._gallery.replace_inline_images(step.text))
            yield f"step {write_name(step.number)} {text}"
        yield from self._gallery.write_marks(self._plan.images)

    def _fence(self, name: str, text: str) -> str:
        return wrap_in_fence(name, text, self.mark)


def format_question(question: Question) -> str:
    """Return the instructions and the case verbatim, with images by type and size."""
    case = "\n".join(
        _describe_image(part) if isinstance(part, Image) else part for part in question.parts
    )
    return f"{question.instructions}\n\n{case}\n"


def count_characters(question: Question) -> int:
    """Return the length of a question without its images."""
    texts = (part for part in question.parts if isinstance(part, str))
    return len(question.instructions) + sum(map(len, texts))


def _describe_image(image: Image) -> str:
    if image.data is None:
        return f"<{image.media_type} at {image.url}>"
    return f"<{image.media_type}, {len(image.data) * 3 // 4:,} bytes>"


_OVERLAP_DIVISOR = 20
_MAX_OVERLAP = 25


def split_into_windows(
    trace: Trace, write: Callable[[Trace], CasePrompt]
) -> tuple[CasePrompt, ...]:
    """Write the trace in as few windows as possible, each within the budget.

    Neighbouring windows share some events, so that related events are seen together at least once.
    If not even single events fit, the prompts that do not fit are returned as they are.
    """
    number = 1
    while True:
        written: list[CasePrompt] = []
        for part in _split_trace(trace, number):
            written.append(write(part))
            if not written[-1].within_budget and number < len(trace.events):
                break  # skip the others: more windows are needed
        else:
            return tuple(written)
        number = min(number + -(-number // 2), len(trace.events))


def _split_trace(trace: Trace, number: int) -> list[Trace]:
    events = trace.events
    size = max(1, -(-len(events) // number))
    overlap = min(_MAX_OVERLAP, size // _OVERLAP_DIVISOR) if number > 1 else 0
    return [
        Trace(events[max(0, start - overlap) : start + size + overlap], trace.reader)
        for start in range(0, len(events), size)
    ] or [trace]
