"""Recognise actions reported in prose: "I clicked 'Details'.", followed by what was seen.

Browsing agents are programs that report in this way. A model can also merely claim to have clicked:
only the page seen afterwards makes the claim an action. The program's own words are enough only for
an agent that is known to drive a browser and was just sent to work.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.code_fences import CodeBlock, find_code_blocks
from planproof.readers.toolkit.entries import PointerFactory, make_constant_pointer
from planproof.readers.toolkit.tool_calls import ToolCall, infer_status
from planproof.readers.toolkit.trace_builder import (
    PROSE,
    REPORTED,
    EventDraft,
    ToolResult,
    TraceBuilder,
)

_REPORTED_VERBS = (
    "clicked:click downloaded:download entered:enter executed:execute hovered:hover moved:move "
    "navigated:navigate opened:open paged:page pressed:press ran:run scrolled:scroll "
    "searched:search selected:select submitted:submit_form summarized:summarize typed:type "
    "visited:visit waited:wait went:go"
)
_VERBS = {told: name for told, _, name in (pair.partition(":") for pair in _REPORTED_VERBS.split())}
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
_ACTION_REPORT = re.compile(rf"{_WARNINGS}\s{{0,8}}(?P<told>I (?P<verb>{'|'.join(_VERBS)})\b)")
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
    match = _ACTION_REPORT.match(text)
    if match is not None:
        name, start = _VERBS[match["verb"]], match.start("told")
        cut = _find_sentence_end(text, match.end())
    else:
        page = _PAGE_ADDRESS.match(text)
        if page is None:
            return None
        name, start, cut = "open", 0, page.end()
    reported = by_program and _PROGRAM_REPORT.fullmatch(text[start:cut].strip())
    if not reported and not _PAGE_MENTION.search(text, cut, cut + _SEARCH_LIMIT):
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


def add_reported_action(
    builder: TraceBuilder, action: ReportedAction, pointer: str, actor: str
) -> None:
    """Add a reported action as an action event; only a program's report needs no answer."""
    recognition = REPORTED if is_browser_agent(actor) else PROSE
    draft = builder.add_call(
        ToolCall(action.name, text=action.text, recognition=recognition), pointer, actor
    )
    builder.answer(draft, ToolResult(action.outcome, pointer))
    builder.add_message(Kind.MESSAGE, action.answer, pointer, actor)


_EXECUTOR = re.compile(r"terminal|executor|code[_ ]?runner|interpreter|sandbox", re.IGNORECASE)
_RUN_RESULT_PREFIXES = ("exitcode:", "exit code:", "code output:", "the script ran")
_NO_CODE_PREFIXES = ("there is no code", "no code block")


def is_executor(name: str) -> bool:
    """Return whether a speaker with this name is a program that runs code."""
    return _EXECUTOR.search(name) is not None


def is_run_result(text: str) -> bool:
    """Return whether a text begins like the report of a program that ran code."""
    return _starts_with(text, _RUN_RESULT_PREFIXES)


def is_execution_report(text: str) -> bool:
    """Return whether a program that runs code reports that it ran some, or had none to run."""
    return _starts_with(text, _RUN_RESULT_PREFIXES + _NO_CODE_PREFIXES)


class CodeRuns:
    """Turns the code of a message into actions if a later turn shows that it was run."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        # Whether there is code that this turn may report as run.
        self.has_pending = False
        self._text = ""
        self._pointer_for: PointerFactory = make_constant_pointer("")
        self._blocks: deque[CodeBlock] = deque()
        self._message_blocks: list[CodeBlock] = []
        # The message, its index, and the position up to which its text has become other events.
        self._message = EventDraft(Kind.MESSAGE, "")
        self._index = self._position = 0
        self._running: EventDraft | None = None
        # Adds the message in another way, if its code is not run.
        self._add_unrun: Callable[[], None] | None = None

    def is_pending_by(self, actor: str) -> bool:
        """Return whether the pending code is by this actor, who cannot report on running it."""
        return self.has_pending and self._message.actor == actor

    def add_code(
        self,
        text: str,
        pointer_for: PointerFactory,
        actor: str,
        add_unrun: Callable[[], None] | None = None,
    ) -> bool:
        """Add a message whose code the next turn may have run; return False if it has none.

        If the next turn shows that it was not run, `add_unrun` adds the message in its place.
        """
        blocks = [block for block in find_code_blocks(text) if block.interpreter]
        if blocks:
            self.flush()
            self._text, self._pointer_for, self._blocks = text, pointer_for, deque(blocks)
            self._message_blocks = blocks
            self.has_pending, self._position, self._add_unrun = True, 0, add_unrun
            whole = EventDraft(Kind.MESSAGE, pointer_for(0, len(text)), None, actor, text.strip())
            self._message, self._index = (
                self._builder.add_draft(whole),
                len(self._builder.drafts) - 1,
            )
        return bool(blocks)

    def flush(self) -> None:
        """End the turn in which code can be reported as run."""
        if self.has_pending and self._position:
            rest = self._make_draft(self._position, len(self._text))
            self._builder.replace_drafts(self._index, self._index + 1, rest)
        elif self.has_pending and self._add_unrun is not None:
            self._builder.add_again(self._index, self._add_unrun)
        self.has_pending, self._running = False, None

    def start_run(self, *, every: bool = False) -> list[EventDraft]:
        """Add the next code block of the last message with code, or `every` one, as run now.

        It takes its place in the message, unless turns have passed since.
        """
        started: list[EventDraft] = []
        parts: list[EventDraft] = []
        if not self._blocks and self._running is None:
            # All of it has been run and reported on, so it is run again.
            self._blocks.extend(self._message_blocks)
        while self._blocks and (every or not started):
            block = self._blocks.popleft()
            [self._running] = code = self._make_draft(block.start, block.end)
            self._running.kind, self._running.name = Kind.ACTION, block.interpreter
            self._running.text = block.code
            started += code
            if self.has_pending:
                parts += self._make_draft(self._position, block.start) + code
                self._position = block.end
            else:
                self._running.turn, self._running.time = 0, None
                self._builder.add_draft(self._running)
        self._builder.replace_drafts(self._index, self._index, parts)
        self._index += len(parts)
        return started

    def add_report(
        self, output: str, pointer: str, executor: str, status: EventStatus | None = None
    ) -> None:
        """Add the report of a program that runs code as the output of the pending code."""
        has_run = self.has_pending and not _starts_with(output, _NO_CODE_PREFIXES)
        if self._running is None and has_run:
            for draft in self.start_run(every=True):
                # One output for all blocks: after a failure, it does not say which of them failed.
                is_ok = (status or infer_status(output)) is EventStatus.OK
                draft.status = EventStatus.OK if is_ok else EventStatus.UNKNOWN
        if self._running is not None:
            self._builder.answer(self._running, ToolResult(output, pointer, status=status))
        elif status is not None or is_run_result(output):
            self._builder.add_result(ToolResult(output, pointer, actor=executor, status=status))
        else:
            self._builder.begin_turn()
            self._builder.add_message(Kind.SYSTEM, output, pointer, executor)
        # The report answers the whole message: calls next to the code were not made.
        self._add_unrun = None
        self.flush()

    def _make_draft(self, start: int, end: int) -> list[EventDraft]:
        """Return a part of the message as a draft; none if it is blank."""
        text, message = self._text[start:end].strip(), self._message
        draft = EventDraft(Kind.MESSAGE, self._pointer_for(start, end), None, message.actor, text)
        draft.turn, draft.time, draft.parent = message.turn, message.time, message.parent
        return [draft] if text else []


def _starts_with(text: str, openings: tuple[str, ...]) -> bool:
    return text[:80].lstrip().lower().startswith(openings)
