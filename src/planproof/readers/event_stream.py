"""Read event streams: messages and calls that arrive token by token, joined by their id.

Three dialects are supported: the chunks of LangGraph applications such as DeerFlow, the chunks of
OpenAI chat completions, and the events of Anthropic messages.
"""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import iter_entries, iter_items, take_first_entries
from planproof.readers.toolkit.streamed_parts import StreamAssembler, are_chunks
from planproof.readers.toolkit.tool_calls import ToolCall
from planproof.readers.toolkit.trace_builder import ToolResult, TraceBuilder

_CHUNK_KEYS = frozenset(("finish_reason", "tool_call_chunks", "thread_id"))
_COMPLETION_CHUNK = "chat.completion.chunk"
_MESSAGE_EVENTS = frozenset(
    "message_start content_block_start content_block_delta content_block_stop message_delta "
    "message_stop ping".split()
)


class EventStreamReader:
    """Reads server-sent events or JSON Lines in which each line is a chunk of a message."""

    name = "event-stream"

    def sniff(self, source: Source) -> bool:
        """Return whether the first lines are chunks of one of the dialects."""
        # Only JSON Lines have a pointer for a value that spans several records.
        if source.form != "jsonl":
            return False
        chunks: list[dict[str, Json]] = []
        is_stream = False
        for value in take_first_entries(source):
            if not is_object(value):
                continue
            if _is_completion(value) or _is_message_event(value):
                is_stream = True
            elif _is_chunk(value):
                chunks.append(value)
            elif "event" not in value:
                return False
        return is_stream or are_chunks(chunks)

    def read(self, source: Source) -> Trace:
        """Return the messages and calls of the stream, ordered by their first chunks."""
        builder = TraceBuilder(source.skipped)
        assembler, conversation = StreamAssembler(builder), Conversation(builder)
        message = ""
        for line, value in iter_entries(source):
            if not is_object(value):
                builder.skip(line, "not a chunk of a message")
            elif _is_completion(value):
                assembler.actor = "assistant"
                for where, choice in iter_items(value["choices"], f"{line}/choices"):
                    delta = choice.get("delta") if is_object(choice) else None
                    if is_object(delta):
                        _add_delta(assembler, delta, f"{where}/delta", text_at(value, "id") or "")
            elif _is_message_event(value):
                block = value.get("content_block")
                if is_object(block) and "tool_use_id" in block:
                    # The result of a hosted tool, which ran inside this message: what follows was
                    # issued later.
                    conversation.add_result(block, f"{line}/content_block")
                    message += "+"
                else:
                    message = _add_message_event(assembler, value, line, message)
            else:
                _add_chunk(builder, assembler, value, line)
        assembler.finish()
        return builder.build(self.name)


def _is_chunk(value: dict[str, Json]) -> bool:
    return (
        isinstance(value.get("id"), str)
        and isinstance(value.get("role"), str)
        and not _CHUNK_KEYS.isdisjoint(value)
    )


def _is_completion(value: dict[str, Json]) -> bool:
    return value.get("object") == _COMPLETION_CHUNK and is_list(value.get("choices"))


def _is_message_event(value: dict[str, Json]) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind in _MESSAGE_EVENTS


def _add_chunk(
    builder: TraceBuilder, assembler: StreamAssembler, value: dict[str, Json], line: str
) -> None:
    actor = "user" if value.get("role") == "user" else text_at(value, "agent", "role")
    if text_at(value, "tool_call_id") or value.get("event") == "tool_call_result":
        builder.add_result(
            ToolResult(
                text_at(value, "content") or "",
                f"{line}/content" if "content" in value else line,
                # The id of some calls is empty: their results come in the order of the calls.
                call_id=text_at(value, "tool_call_id"),
                actor=actor,
            )
        )
        return
    assembler.actor = actor
    _add_delta(assembler, value, line, text_at(value, "id") or "")


def _add_delta(
    assembler: StreamAssembler, delta: dict[str, Json], pointer: str, message: str
) -> None:
    """Add what a chunk adds to a message: text, reasoning, calls and arguments."""
    assembler.begin_message(message)
    thought = delta.get("reasoning_content")
    assembler.add_text(message, thought, f"{pointer}/reasoning_content", is_thought=True)
    assembler.add_text(message, delta.get("content"), f"{pointer}/content")
    key = "tool_call_chunks" if is_list(delta.get("tool_call_chunks")) else "tool_calls"
    for chunk_pointer, chunk in iter_items(delta.get(key), f"{pointer}/{key}"):
        if not is_object(chunk):
            continue
        function, where = chunk.get("function"), f"{chunk_pointer}/function"
        if not is_object(function):
            function, where = chunk, chunk_pointer
        given = "arguments" if "arguments" in function else "args"
        call, name = (message, str(chunk.get("index") or 0)), text_at(function, "name")
        if name is not None:
            whole = function.get(given) if is_object(function.get(given)) else None
            assembler.begin_call(call, ToolCall(name, whole, id=text_at(chunk, "id")), where)
        assembler.add_arguments(call, function.get(given), f"{where}/{given}")


def _add_message_event(
    assembler: StreamAssembler, value: dict[str, Json], line: str, message: str
) -> str:
    """Add one event; return the id of the current message."""
    started = value.get("message")
    if is_object(started):
        return text_at(started, "id") or line
    stream = f"{message} {value.get('index')}"
    block, delta = value.get("content_block"), value.get("delta")
    assembler.actor = "assistant"
    if is_object(block):
        name = text_at(block, "name")
        if name is not None:
            assembler.begin_message(message)
            call = ToolCall(name, block.get("input") or None, id=text_at(block, "id"))
            assembler.begin_call((message, stream), call, f"{line}/content_block")
    elif is_object(delta):
        assembler.begin_message(message)
        assembler.add_text(stream, delta.get("thinking"), f"{line}/delta/thinking", is_thought=True)
        assembler.add_text(stream, delta.get("text"), f"{line}/delta/text", turn=message)
        assembler.add_arguments(
            (message, stream), delta.get("partial_json"), f"{line}/delta/partial_json"
        )
    return message
