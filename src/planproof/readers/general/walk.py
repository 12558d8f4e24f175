"""Walking a JSON document for the shapes that events have."""

from __future__ import annotations

from planproof.content import Json
from planproof.pointer import escape
from planproof.readers.conversation import is_message
from planproof.readers.general.arrays import read_arrays
from planproof.readers.general.chat import Chat, is_turn
from planproof.readers.general.records import Records
from planproof.readers.general.spans import is_span, read_spans
from planproof.readers.general.stream import is_chunk, read_chunks
from planproof.readers.shapes import is_list, is_object
from planproof.readers.transcript import Transcript

_HOLDERS = (
    "messages",
    "traj",
    "trajectory",
    "turn_history",
    "history",
    "conversation",
    "turns",
    "steps",
    "events",
    "spans",
    "child_spans",
    "resourceSpans",
    "scopeSpans",
    "logs",
    "log",
    "values",
    "execution_trace",
    "trace",
    "traces",
    "data",
    "items",
    "records",
    "runs",
    "samples",
    "output",
    "outputs",
    "chat_history",
    "actions",
)
_ASIDE = frozenset(
    "info metadata meta task tools functions tool_definitions config settings usage expected "
    "ground_truth reference gold evaluation scores score label labels model response_format "
    "test_result instance metrics resource scope system_fingerprint toolUseResult".split()
)


class Walk:
    """One walk through one document."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._chat = Chat(transcript)
        self._records = Records(transcript, self._chat)

    def value(self, value: Json, pointer: str) -> None:
        """Take what is recognised in a value, or look further inside it."""
        if is_list(value):
            self.records([(f"{pointer}/{index}", item) for index, item in enumerate(value)])
        elif is_object(value):
            if not self._one(value, pointer):
                self._inside(value, pointer)

    def records(self, entries: list[tuple[str, Json]]) -> None:
        """Take the entries of a list or the lines of a file."""
        head = [value for _, value in entries[:20]]
        if any(is_span(value) for value in head):
            read_spans(self._transcript, entries)
        elif any(is_chunk(value) for value in head):
            read_chunks(self._transcript, entries)
        else:
            for pointer, value in entries:
                self.value(value, pointer)

    def finish(self) -> None:
        """Write what still waited for the next entry."""
        self._chat.flush()

    def _one(self, value: dict[str, Json], pointer: str) -> bool:
        if is_span(value):
            read_spans(self._transcript, [(pointer, value)])
            return True
        if is_message(value) or is_turn(value):
            self._chat.turn(value, pointer)
            return True
        return read_arrays(self._transcript, value, pointer) or self._records.take(value, pointer)

    def _inside(self, value: dict[str, Json], pointer: str) -> None:
        before = len(self._transcript.drafts)
        if value and all(key.isdigit() for key in value):
            for key in sorted(value, key=int):
                self.value(value[key], f"{pointer}/{key}")
            return
        for key in _HOLDERS:
            if isinstance(value.get(key), (dict, list)):
                self.value(value[key], f"{pointer}/{key}")
                self.finish()
                if len(self._transcript.drafts) > before:
                    return
        for key, child in value.items():
            if key not in _HOLDERS and key not in _ASIDE and isinstance(child, (dict, list)):
                self.value(child, f"{pointer}/{escape(key)}")
