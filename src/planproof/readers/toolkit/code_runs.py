"""Code in messages: it counts as run only if the next turn is what came of running it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.call_outcomes import outcome_of
from planproof.readers.toolkit.code_fences import Block, blocks
from planproof.readers.toolkit.text_pointers import Place
from planproof.readers.toolkit.trace_builder import Draft, Result, Transcript

_EXECUTOR = re.compile(r"terminal|executor|code[_ ]?runner|interpreter|sandbox", re.IGNORECASE)
_RUN_RESULT = ("exitcode:", "exit code:", "code output:", "the script ran")
_NO_RUN = ("there is no code", "no code block")
_INITIALS = frozenset("cCeEnNtT")


def is_executor(name: str) -> bool:
    """Whether a speaker of this name is a program that runs code."""
    return _EXECUTOR.search(name) is not None


def is_run_result(text: str) -> bool:
    """Whether a text begins like the report of a program that ran code."""
    return _begins_with(text, _RUN_RESULT)


def is_report(text: str) -> bool:
    """Whether a program that runs code says that it ran some, or that there was none to run."""
    return _begins_with(text, _RUN_RESULT) or _begins_with(text, _NO_RUN)


@dataclass(slots=True)
class _Held:
    """A message with code, of which it is not known yet whether it was run."""

    text: str
    place: Place
    actor: str
    blocks: list[Block]
    turn: int
    time: str | None


class CodeRuns:
    """Holds the code of a message back until the next turn shows what became of it."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._held: _Held | None = None

    @property
    def waiting(self) -> bool:
        """Whether there is code that the next turn may have run."""
        return self._held is not None

    def is_by(self, actor: str) -> bool:
        """Return whether the code that waits is this actor's own: nobody reports on that."""
        return self._held is not None and self._held.actor == actor

    def hold(self, text: str, place: Place, actor: str) -> bool:
        """Hold a message back if there is code in it; False when there is none."""
        found = [block for block in blocks(text) if block.runs_as] if "`" in text else []
        if not found:
            return False
        transcript = self._transcript
        transcript.note()
        self._held = _Held(text, place, actor, found, transcript.turn, transcript.time)
        return True

    def flush(self) -> None:
        """Write the code that nobody ran as what it is: something said."""
        if self._held is not None:
            held, self._held = self._held, None
            self._say(held, 0, len(held.text))

    def report(
        self, output: str, pointer: str, executor: str, status: EventStatus | None = None
    ) -> None:
        """Take what a program says that runs code; the code that was held back is what it ran."""
        if self._held is not None and _begins_with(output, _NO_RUN):
            self.flush()
        held, self._held = self._held, None
        if held is not None:
            self._ran(held, output, pointer, status or outcome_of(output))
        elif status is not None or is_run_result(output):
            self._transcript.answer(Result(output, pointer, actor=executor, status=status))
        else:
            self._transcript.begin_turn()
            self._transcript.say(Kind.SYSTEM, output, pointer, executor)

    def _ran(self, held: _Held, output: str, pointer: str, status: EventStatus) -> None:
        position = 0
        draft: Draft | None = None
        for block in held.blocks:
            self._say(held, position, block.start)
            place = held.place(block.start, block.end)
            draft = Draft(Kind.ACTION, place, block.runs_as, held.actor, block.code)
            # One output for all blocks: when it failed, it does not say in which of them.
            draft.status = status if status is EventStatus.OK else EventStatus.UNKNOWN
            self._add(held, draft)
            position = block.end
        assert draft is not None
        draft.returned(output, pointer, status)
        self._say(held, position, len(held.text))

    def _say(self, held: _Held, start: int, end: int) -> None:
        text = held.text[start:end].strip()
        if text:
            place = held.place(start, end)
            self._add(held, Draft(Kind.MESSAGE, place, actor=held.actor, text=text))

    def _add(self, held: _Held, draft: Draft) -> None:
        draft.turn, draft.time = held.turn, held.time
        self._transcript.add(draft)


def _begins_with(text: str, openings: tuple[str, ...]) -> bool:
    head = text[:80].lstrip()
    # Most texts begin otherwise, and every turn is asked.
    return head[:1] in _INITIALS and head.lower().startswith(openings)
