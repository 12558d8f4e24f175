"""Walking a JSON document for the shapes that events have."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.pointer import escape
from planproof.readers.accounting import NON_RUN_KEYS
from planproof.readers.general.chat import Chat, is_turn
from planproof.readers.general.records import RecordWriter
from planproof.readers.general.spans import add_spans
from planproof.readers.intercode import add_arrays
from planproof.readers.toolkit.conversation import is_message
from planproof.readers.toolkit.span import is_span
from planproof.readers.toolkit.trace_builder import TraceBuilder

_CONTAINER_KEYS = (
    "messages traj trajectory turn_history history chat_history conversation turns steps events "
    "spans child_spans resourceSpans scopeSpans execution_trace trace traces logs log values "
    "records runs samples items data actions output outputs".split()
)
_SNIFF_LIMIT = 20


class Walk:
    """One walk through one document."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._chat = Chat(builder)
        self._records = RecordWriter(builder, self._chat)

    def add_value(self, value: Json, pointer: str) -> None:
        """Take what is recognised in a value, or look further inside it."""
        if is_list(value):
            self.add_entries([(f"{pointer}/{index}", item) for index, item in enumerate(value)])
        elif is_object(value) and not self._add_object(value, pointer):
            self._add_children(value, pointer)

    def add_entries(self, entries: list[tuple[str, Json]]) -> None:
        """Take the entries of a list or the lines of a file."""
        head = [value for _, value in entries[:_SNIFF_LIMIT]]
        if any(is_span(value) for value in head):
            add_spans(self._builder, entries)
            return
        silent: list[str] = []
        for pointer, value in entries:
            before = self._builder.change_count
            self.add_value(value, pointer)
            if self._builder.change_count == before and is_object(value):
                silent.append(pointer)
        if len(silent) < len(entries):
            for pointer in silent:
                self._builder.skip(pointer, "nothing in it looks like an event")

    def finish(self) -> None:
        """Write what still waited for the next entry."""
        self._chat.flush()

    def _add_object(self, value: dict[str, Json], pointer: str) -> bool:
        if is_span(value):
            add_spans(self._builder, [(pointer, value)])
            return True
        if is_message(value) or is_turn(value):
            self._chat.add_turn(value, pointer)
            return True
        return add_arrays(self._builder, value, pointer) or self._records.add_record(value, pointer)

    def _add_children(self, value: dict[str, Json], pointer: str) -> None:
        if value and all(key.isascii() and key.isdigit() and len(key) < 10 for key in value):
            keys = sorted(value, key=int)
            self.add_entries([(f"{pointer}/{key}", value[key]) for key in keys])
            return
        before = len(self._builder.drafts)
        for key in _CONTAINER_KEYS:
            if isinstance(value.get(key), (dict, list)):
                self.add_value(value[key], f"{pointer}/{key}")
                self.finish()
                # The same run is often told twice, under two keys.
                if len(self._builder.drafts) > before:
                    return
        for key, child in value.items():
            if (
                key not in NON_RUN_KEYS
                and key not in _CONTAINER_KEYS
                and isinstance(child, (dict, list))
            ):
                self.add_value(child, f"{pointer}/{escape(key)}")
