"""Records of a logger: each begins with a time and a level, and tells of a call or a thought."""

from __future__ import annotations

import re

from planproof.core.trace import Kind
from planproof.readers.toolkit.checklists import checklists
from planproof.readers.toolkit.text_pointers import Place
from planproof.readers.toolkit.tool_calls import Call, arguments_of
from planproof.readers.toolkit.trace_builder import Draft, Result, Transcript

_START = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d{0,9})\s{0,4}[|\-\[]?\s{0,4}"
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|SUCCESS|TRACE)\b\s{0,8}\]?\s{0,4}[|:\-]\s{0,4}"
    r"(?:[\w.]{1,80}:[\w<>]{1,80}:\d{1,7}\s{0,4}-\s{0,4})?"
)
_PREPARED = re.compile(r"Tools being prepared: ")
_NAME = re.compile(r"'([\w.\-]{1,80})'")
_STARTED = re.compile(
    r"(?:Activating|Using|Calling) tool\W{1,5}([\w.\-]{1,80})|Tool call: (\w{1,80})"
)
_GIVEN = re.compile(r"Tool arguments:\s{0,4}")
_DONE = re.compile(r"Tool '([\w.\-]{1,80})' completed[^\n]{0,40}Result:\s{0,4}")
_THOUGHT = re.compile(r"thoughts?:\s{0,4}", re.IGNORECASE)
_PROMPT = re.compile(r"Enter your prompt[^:\n]{0,80}:\s{0,4}")
_HEAD = 200


def has_records(text: str) -> bool:
    """Whether a line of a text begins a record."""
    return any(_START.match(line, 0, _HEAD) for line in text.split("\n") if line[:1].isdigit())


def log_lines(lines: list[str]) -> list[tuple[int, re.Match[str]]] | None:
    """The lines that begin a record; None when this is no log."""
    found = [(i, m) for i, line in enumerate(lines) if (m := _START.match(line, 0, _HEAD))]
    filled = sum(1 for line in lines[: found[0][0]] if line.strip()) if found else 0
    return found if len(found) > 1 and filled * 2 <= len(found) else None


def read_log(
    transcript: Transcript,
    lines: list[str],
    starts: list[tuple[int, re.Match[str]]],
    place: Place,
) -> None:
    """Write the records of a log: the calls, thoughts and plans in it, and the rest as notices."""
    log = _Log(transcript, place)
    _read_before(transcript, lines[: starts[0][0]], place)
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, match), end in zip(starts, ends, strict=True):
        last = end
        while last > start + 1 and not lines[last - 1].strip():
            last -= 1
        transcript.time = match[1]
        text = "\n".join([lines[start][match.end() :], *lines[start + 1 : last]]).strip()
        log.record(text, start + 1, last)


def _read_before(transcript: Transcript, lines: list[str], place: Place) -> None:
    """What stands above the first record: the user's prompt, and noise."""
    for number, line in enumerate(lines, 1):
        prompt = _PROMPT.match(line, 0, _HEAD)
        if prompt is not None:
            transcript.begin_turn()
            where = place(number, len(lines))
            text = "\n".join([line[prompt.end() :], *lines[number:]]).strip()
            transcript.say(Kind.MESSAGE, text, where, "user")
            return
    if any(line.strip() for line in lines):
        transcript.skip(place(1, len(lines)), "stands before the first record of the log")


class _Log:
    """Puts together what a log tells of a call in several records."""

    def __init__(self, transcript: Transcript, place: Place) -> None:
        self._transcript = transcript
        self._place = place
        self._prepared: list[str] = []
        self._prepared_at = 0
        self._announced: Draft | None = None

    def record(self, text: str, first: int, last: int) -> None:
        """Write one record, which stands in these lines."""
        transcript, pointer = self._transcript, self._place(first, last)
        head = text[:_HEAD]
        if prepared := _PREPARED.search(head):
            transcript.begin_turn()
            self._prepared, self._prepared_at = _NAME.findall(head, prepared.end()), first
        elif given := _GIVEN.search(head):
            arguments, bare = arguments_of(text[given.end() :])
            name = self._prepared[0] if self._prepared else "tool"
            if self._prepared:
                # From the record that names the tool to the one with its arguments.
                pointer = self._place(self._prepared_at, last)
            self._announced = transcript.call(Call(name, arguments, bare), pointer, "assistant")
        elif done := _DONE.search(head):
            self._announced = None
            transcript.answer(Result(text[done.end() :], pointer, name=done[1], actor="tool"))
            if not self._prepared:
                # The log names no turns: what follows a result was issued later.
                transcript.begin_turn()
        elif started := _STARTED.search(head):
            self._started(started[1] or started[2], pointer)
        elif thought := _THOUGHT.search(head):
            transcript.begin_turn()
            transcript.say(Kind.REASONING, text[thought.end() :], pointer, "assistant")
        else:
            self._noted(text, pointer)

    def _started(self, name: str, pointer: str) -> None:
        """Older versions tell of the arguments of the first call only, or of none."""
        announced, self._announced = self._announced, None
        if announced is None or announced.name != name:
            self._transcript.call(Call(name), pointer, "assistant")

    def _noted(self, text: str, pointer: str) -> None:
        lists = list(checklists(text))
        if lists:
            self._transcript.plan(text[lists[0][0] : lists[-1][1]], pointer, "log")
        else:
            self._transcript.say(Kind.SYSTEM, text, pointer, "log")
