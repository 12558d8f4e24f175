"""Code in messages: it counts as run only if the next turn is what came of running it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.call_outcomes import infer_status
from planproof.readers.toolkit.code_fences import CodeBlock, find_code_blocks
from planproof.readers.toolkit.text_pointers import PointerFactory
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_EXECUTOR = re.compile(r"terminal|executor|code[_ ]?runner|interpreter|sandbox", re.IGNORECASE)
_RUN_RESULT_PREFIXES = ("exitcode:", "exit code:", "code output:", "the script ran")
_NO_CODE_PREFIXES = ("there is no code", "no code block")
_INITIALS = frozenset("cCeEnNtT")


def is_executor(name: str) -> bool:
    """Whether a speaker of this name is a program that runs code."""
    return _EXECUTOR.search(name) is not None


def is_run_result(text: str) -> bool:
    """Whether a text begins like the report of a program that ran code."""
    return _starts_with(text, _RUN_RESULT_PREFIXES)


def is_execution_report(text: str) -> bool:
    """Whether a program that runs code says that it ran some, or that there was none to run."""
    return _starts_with(text, _RUN_RESULT_PREFIXES) or _starts_with(text, _NO_CODE_PREFIXES)


@dataclass(slots=True)
class _PendingMessage:
    """A message with code, of which it is not known yet whether it was run."""

    text: str
    pointer_for: PointerFactory
    actor: str
    blocks: list[CodeBlock]
    turn: int
    time: str | None


class CodeRuns:
    """Holds the code of a message back until the next turn shows what became of it."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._pending: _PendingMessage | None = None

    @property
    def has_pending(self) -> bool:
        """Whether there is code that the next turn may have run."""
        return self._pending is not None

    def is_pending_by(self, actor: str) -> bool:
        """Return whether the code that waits is this actor's own: nobody reports on that."""
        return self._pending is not None and self._pending.actor == actor

    def defer_code(self, text: str, pointer_for: PointerFactory, actor: str) -> bool:
        """Hold a message back if there is code in it; False when there is none."""
        code_blocks = (
            [block for block in find_code_blocks(text) if block.interpreter] if "`" in text else []
        )
        if not code_blocks:
            return False
        builder = self._builder
        builder.mark_deferred()
        self._pending = _PendingMessage(
            text, pointer_for, actor, code_blocks, builder.turn, builder.time
        )
        return True

    def flush(self) -> None:
        """Write the code that nobody ran as what it is: something said."""
        if self._pending is not None:
            pending, self._pending = self._pending, None
            self._add_text(pending, 0, len(pending.text))

    def add_report(
        self, output: str, pointer: str, executor: str, status: EventStatus | None = None
    ) -> None:
        """Take what a program says that runs code; the code that was held back is what it ran."""
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
        self, pending: _PendingMessage, output: str, pointer: str, status: EventStatus
    ) -> None:
        position = 0
        draft: EventDraft | None = None
        for block in pending.blocks:
            self._add_text(pending, position, block.start)
            block_pointer = pending.pointer_for(block.start, block.end)
            draft = EventDraft(
                Kind.ACTION, block_pointer, block.interpreter, pending.actor, block.code
            )
            # One output for all blocks: when it failed, it does not say in which of them.
            draft.status = status if status is EventStatus.OK else EventStatus.UNKNOWN
            self._add_draft(pending, draft)
            position = block.end
        assert draft is not None
        draft.set_output(output, pointer, status)
        self._add_text(pending, position, len(pending.text))

    def _add_text(self, pending: _PendingMessage, start: int, end: int) -> None:
        text = pending.text[start:end].strip()
        if text:
            text_pointer = pending.pointer_for(start, end)
            self._add_draft(
                pending, EventDraft(Kind.MESSAGE, text_pointer, actor=pending.actor, text=text)
            )

    def _add_draft(self, pending: _PendingMessage, draft: EventDraft) -> None:
        draft.turn, draft.time = pending.turn, pending.time
        self._builder.add_draft(draft)


def _starts_with(text: str, openings: tuple[str, ...]) -> bool:
    head = text[:80].lstrip()
    # Most texts begin otherwise, and every turn is asked.
    return head[:1] in _INITIALS and head.lower().startswith(openings)
