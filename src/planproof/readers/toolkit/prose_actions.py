"""Recognise actions reported in prose: "I clicked 'Details'.", followed by what was seen.

Browsing agents are programs that report in this way. A model can also merely claim to have clicked:
only the page seen afterwards makes the claim an action. The program's own words are enough only for
an agent that is known to drive a browser and was just sent to work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.code_fences import CodeBlock, find_code_blocks, has_fence
from planproof.readers.toolkit.entries import PointerFactory
from planproof.readers.toolkit.tool_calls import ToolCall, infer_status
from planproof.readers.toolkit.trace_builder import REPORTED, EventDraft, ToolResult, TraceBuilder

_VERBS = {
    "clicked": "click",
    "downloaded": "download",
    "entered": "enter",
    "executed": "execute",
    "hovered": "hover",
    "moved": "move",
    "navigated": "navigate",
    "opened": "open",
    "paged": "page",
    "pressed": "press",
    "ran": "run",
    "scrolled": "scroll",
    "searched": "search",
    "selected": "select",
    "submitted": "submit_form",
    "summarized": "summarize",
    "typed": "type",
    "visited": "visit",
    "waited": "wait",
    "went": "go",
}
# The sentences of the program itself; a model that imitates it uses other ones.
_PROGRAM_REPORT = re.compile(
    r"I (?:(?:clicked|hovered over|selected) (?:'.{1,1000}'|the control|the browser back button)"
    r"|typed '.{1,2000}' into (?:'.{1,1000}'|the browser (?:search|address) bar)"
    r"|scrolled (?:'.{1,1000}' )?(?:up|down)(?: one page in the browser)?)\.",
    re.DOTALL,
)
_BROWSER_AGENT = re.compile(r"(?:multimodal[_ ]?)?(?:web|file)[_ ]?surfer", re.IGNORECASE)
# Warnings of the program's libraries may come before its own words.
_WARNINGS = r"(?:[^\n]{0,400}Warning: [^\n]{0,400}\n(?:[ \t]{1,8}[^\n]{0,400}\n)?){0,4}"
_ACTION_SENTENCE = rf"\s{{0,8}}(?P<told>I (?P<verb>{'|'.join(_VERBS)})\b)"
_ACTION_REPORT = re.compile(_ACTION_SENTENCE)
_ACTION_REPORT_AFTER_WARNINGS = re.compile(_WARNINGS + _ACTION_SENTENCE)
_SENTENCE_ENDS = tuple(".!?'\"")
_MAX_BLANKS = 8
_PAGE_ADDRESS = re.compile(r"\s{0,8}Address: [^\s]{1,2000}[ \t]{0,8}\n")
_PAGE_MENTION = re.compile(r"\b(?:screenshot|viewport)\b", re.IGNORECASE)
_SEARCH_LIMIT = 600
_FINAL_ANSWER = re.compile(r"^FINAL ANSWER:", re.MULTILINE)


@dataclass(slots=True)
class ReportedAction:
    """The action, what was seen after it, and the answer that may end its log."""

    name: str
    text: str
    outcome: str
    answer: str


def is_browser_agent(agent: str) -> bool:
    """Return whether an agent with this name is a program that does what it reports."""
    return _BROWSER_AGENT.fullmatch(agent) is not None


def parse_reported_action(text: str, *, by_program: bool = False) -> ReportedAction | None:
    """Parse the action that a text begins with, if any.

    With `by_program`, the text comes from a program that reports what it did.
    """
    initial = text[: _MAX_BLANKS + 1].lstrip()[:1]
    match = _ACTION_REPORT.match(text) if initial == "I" else None
    if match is None and "Warning: " in text[:_SEARCH_LIMIT]:
        match = _ACTION_REPORT_AFTER_WARNINGS.match(text)
    if match is not None:
        name, start, cut = (
            _VERBS[match["verb"]],
            match.start("told"),
            _find_sentence_end(text, match.end()),
        )
    else:
        page = _PAGE_ADDRESS.match(text) if initial == "A" else None
        if page is None:
            return None
        name, start, cut = "open", 0, page.end()
    reported = by_program and _PROGRAM_REPORT.fullmatch(text[start:cut].strip())
    if not reported and not _mentions_page(text[cut : cut + _SEARCH_LIMIT]):
        return None
    answer = _FINAL_ANSWER.search(text, cut) if "FINAL ANSWER:" in text else None
    close = answer.start() if answer is not None else len(text)
    return ReportedAction(
        name, text[start:cut].strip(), text[cut:close].strip(), text[close:].strip()
    )


def _find_sentence_end(text: str, start: int) -> int:
    """Return the end of the first sentence that ends a line, or of the first paragraph."""
    line = text.find("\n", start)
    while line >= 0:
        before = max(start, line - _MAX_BLANKS)
        tail = text[before:line].rstrip(" \t")
        if tail.endswith(_SENTENCE_ENDS) or (not tail and text[before - 1] in _SENTENCE_ENDS):
            return before + len(tail)
        if text[line + 1 : line + 2 + _MAX_BLANKS].lstrip(" \t").startswith("\n"):
            return line
        line = text.find("\n", line + 1)
    return len(text)


def _mentions_page(text: str) -> bool:
    # Plain words first: a case-insensitive pattern takes ten times as long to find nothing.
    lower = text.lower()
    return ("screenshot" in lower or "viewport" in lower) and _PAGE_MENTION.search(text) is not None


def add_reported_action(
    builder: TraceBuilder, action: ReportedAction, pointer: str, actor: str
) -> None:
    """Add a reported action as an action event; only a program's report needs no answer."""
    recognition = REPORTED if is_browser_agent(actor) else "prose"
    draft = builder.add_call(
        ToolCall(action.name, text=action.text, recognition=recognition), pointer, actor
    )
    builder.answer(draft, ToolResult(action.outcome, pointer))
    builder.add_message(Kind.MESSAGE, action.answer, pointer, actor)


_EXECUTOR = re.compile(r"terminal|executor|code[_ ]?runner|interpreter|sandbox", re.IGNORECASE)
_RUN_RESULT_PREFIXES = ("exitcode:", "exit code:", "code output:", "the script ran")
_NO_CODE_PREFIXES = ("there is no code", "no code block")
# The first characters of these, and the blanks that may come before.
_INITIALS = frozenset("cCeEnNtT \t\r\n")


def is_executor(name: str) -> bool:
    """Return whether a speaker with this name is a program that runs code."""
    return _EXECUTOR.search(name) is not None


def is_run_result(text: str) -> bool:
    """Return whether a text begins like the report of a program that ran code."""
    return _starts_with(text, _RUN_RESULT_PREFIXES)


def is_execution_report(text: str) -> bool:
    """Return whether a program that runs code reports that it ran some, or had none to run."""
    return _starts_with(text, _RUN_RESULT_PREFIXES) or _starts_with(text, _NO_CODE_PREFIXES)


@dataclass(slots=True)
class PendingMessage:
    """A message with code, not known yet to have been run."""

    text: str
    pointer_for: PointerFactory
    actor: str
    blocks: list[CodeBlock]
    turn: int
    time: str | None
    added: int = 0


class CodeRuns:
    """Defers the code of a message until the next turn shows whether it was run."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._pending: PendingMessage | None = None
        # The last message with code that was added: a later turn may still run it.
        self._added: PendingMessage | None = None
        self._running: EventDraft | None = None

    @property
    def has_pending(self) -> bool:
        """True if there is code that the next turn may have run."""
        return self._pending is not None

    def is_pending_by(self, actor: str) -> bool:
        """Return whether the pending code is by this actor, who cannot report on running it."""
        return self._pending is not None and self._pending.actor == actor

    def defer_code(self, text: str, pointer_for: PointerFactory, actor: str) -> bool:
        """Defer a message if it contains code; return False if it does not."""
        if not has_fence(text):
            return False
        code_blocks = [block for block in find_code_blocks(text) if block.interpreter]
        if not code_blocks:
            return False
        builder = self._builder
        builder.mark_deferred()
        self._pending = PendingMessage(
            text, pointer_for, actor, code_blocks, builder.turn, builder.time
        )
        return True

    @property
    def unrun(self) -> PendingMessage | None:
        """The pending message, if none of its code was run."""
        return None if self._pending is None or self._pending.added else self._pending

    def drop(self) -> None:
        """Forget the pending message, which is added in another way."""
        self._pending = None

    def flush(self) -> None:
        """Add the code that was not run as a message."""
        self._running = None
        if self._pending is not None:
            pending, self._pending = self._pending, None
            self._add_text(pending, pending.added, len(pending.text))
            self._added = pending if pending.blocks else None

    def start_run(self, *, every: bool = False) -> None:
        """Add the next code block of the pending message, or `every` one, as being run now.

        Without a pending message, it is code that an earlier message holds.
        """
        pending = self._pending or self._added
        while pending is not None and pending.blocks:
            block = pending.blocks.pop(0)
            if pending is self._pending:
                self._add_text(pending, pending.added, block.start)
                pending.added = block.end
            else:
                pending.turn = self._builder.turn
            self._running = self._add_code(pending, block)
            if pending is self._pending and not pending.blocks:
                self._add_text(pending, pending.added, len(pending.text))
                pending.added = len(pending.text)
            if not every:
                return

    def add_report(
        self, output: str, pointer: str, executor: str, status: EventStatus | None = None
    ) -> None:
        """Add the report of a program that runs code as the output of the pending code."""
        if self._running is not None:
            running = self._running
            self.flush()
            self._builder.answer(running, ToolResult(output, pointer, status=status))
            return
        if self._pending is not None and _starts_with(output, _NO_CODE_PREFIXES):
            self.flush()
        pending, self._pending = self._pending, None
        if pending is not None:
            self._add_runs(pending, output, pointer, status or infer_status(output))
        elif status is not None or is_run_result(output):
            self._builder.add_result(ToolResult(output, pointer, actor=executor, status=status))
        else:
            self._builder.begin_turn()
            self._builder.add_message(Kind.SYSTEM, output, pointer, executor)

    def _add_runs(
        self, pending: PendingMessage, output: str, pointer: str, status: EventStatus
    ) -> None:
        position = 0
        draft: EventDraft | None = None
        for block in pending.blocks:
            self._add_text(pending, position, block.start)
            draft = self._add_code(pending, block)
            # One output for all blocks: after a failure, it does not say which of them failed.
            draft.status = status if status is EventStatus.OK else EventStatus.UNKNOWN
            position = block.end
        assert draft is not None
        draft.set_output(output, pointer, status)
        self._add_text(pending, position, len(pending.text))

    def _add_code(self, pending: PendingMessage, block: CodeBlock) -> EventDraft:
        pointer = pending.pointer_for(block.start, block.end)
        draft = EventDraft(Kind.ACTION, pointer, block.interpreter, pending.actor, block.code)
        self._add_draft(pending, draft)
        return draft

    def _add_text(self, pending: PendingMessage, start: int, end: int) -> None:
        text = pending.text[start:end].strip()
        if text:
            text_pointer = pending.pointer_for(start, end)
            self._add_draft(
                pending, EventDraft(Kind.MESSAGE, text_pointer, actor=pending.actor, text=text)
            )

    def _add_draft(self, pending: PendingMessage, draft: EventDraft) -> None:
        draft.turn, draft.time = pending.turn, pending.time
        self._builder.add_draft(draft)


def _starts_with(text: str, openings: tuple[str, ...]) -> bool:
    # Most texts begin otherwise, and this runs for each turn.
    return text[:1] in _INITIALS and text[:80].lstrip().lower().startswith(openings)
