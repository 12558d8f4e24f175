"""Walking a JSON document for the shapes that events have."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.pointer import escape
from planproof.readers.accounting import ASIDE
from planproof.readers.general.chat import Chat, is_turn
from planproof.readers.general.records import Records
from planproof.readers.general.spans import read_spans
from planproof.readers.intercode import read_arrays
from planproof.readers.toolkit.conversation import is_message
from planproof.readers.toolkit.span import is_span
from planproof.readers.toolkit.trace_builder import Transcript

_HOLDERS = (
    "messages traj trajectory turn_history history chat_history conversation turns steps events "
    "spans child_spans resourceSpans scopeSpans execution_trace trace traces logs log values "
    "records runs samples items data actions output outputs".split()
)
_LOOKED_AT = 20


class Walk:
    """One walk through one document."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._chat = Chat(transcript)
        self._records = Records(transcript, self._chat)

    def value(self, value: Json, pointer: str) -> None:
        """Take what is recognised in a value, or look further inside it."""
        if is_list(value):
            self.entries([(f"{pointer}/{index}", item) for index, item in enumerate(value)])
        elif is_object(value) and not self._take(value, pointer):
            self._look_inside(value, pointer)

    def entries(self, entries: list[tuple[str, Json]]) -> None:
        """Take the entries of a list or the lines of a file."""
        head = [value for _, value in entries[:_LOOKED_AT]]
        if any(is_span(value) for value in head):
            read_spans(self._transcript, entries)
            return
        silent: list[str] = []
        for pointer, value in entries:
            before = self._transcript.writes
            self.value(value, pointer)
            if self._transcript.writes == before and is_object(value):
                silent.append(pointer)
        if len(silent) < len(entries):
            for pointer in silent:
                self._transcript.skip(pointer, "nothing in it looks like an event")

    def finish(self) -> None:
        """Write what still waited for the next entry."""
        self._chat.flush()

    def _take(self, value: dict[str, Json], pointer: str) -> bool:
        if is_span(value):
            read_spans(self._transcript, [(pointer, value)])
            return True
        if is_message(value) or is_turn(value):
            self._chat.turn(value, pointer)
            return True
        return read_arrays(self._transcript, value, pointer) or self._records.take(value, pointer)

    def _look_inside(self, value: dict[str, Json], pointer: str) -> None:
        if value and all(key.isascii() and key.isdigit() and len(key) < 10 for key in value):
            keys = sorted(value, key=int)
            self.entries([(f"{pointer}/{key}", value[key]) for key in keys])
            return
        before = len(self._transcript.drafts)
        for key in _HOLDERS:
            if isinstance(value.get(key), (dict, list)):
                self.value(value[key], f"{pointer}/{key}")
                self.finish()
                # The same run is often told twice, under two keys.
                if len(self._transcript.drafts) > before:
                    return
        for key, child in value.items():
            if key not in ASIDE and key not in _HOLDERS and isinstance(child, (dict, list)):
                self.value(child, f"{pointer}/{escape(key)}")
