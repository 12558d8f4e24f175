"""What DeepEval knows of a run, as a trace: its spans, or the tools that a test case lists."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.integrations.hosts import to_json_value

_ACTION_SPAN_TYPES = ("tool", "retriever")


def build_trace(test_case: Any) -> Json:
    """The trace of a test case: recorded by DeepEval, given in `metadata`, or the tools called."""
    recorded = to_json_value(getattr(test_case, "_trace_dict", None))
    if recorded is None:
        metadata = get_metadata(test_case)
        recorded = to_json_value(metadata.get("trace")) if is_object(metadata) else None
    if is_object(recorded) and is_list(recorded.get("children")) and "type" in recorded:
        return {"events": list(_EventBuilder(test_case).build_from_spans(recorded))}
    if recorded is not None:
        return recorded
    return {"events": list(_EventBuilder(test_case).build_from_tools())}


def get_metadata(test_case: Any) -> Any:
    """What whoever made the test case put beside it."""
    # Earlier releases call it `additional_metadata`.
    key = "metadata" if hasattr(test_case, "metadata") else "additional_metadata"
    return getattr(test_case, key, None)


class _EventBuilder:
    """Writes the events of one test case in the native form."""

    def __init__(self, test_case: Any) -> None:
        self._case = test_case
        self._ids = (f"e{number}" for number in count(1))

    def build_from_spans(self, root: dict[str, Json]) -> Iterator[Json]:
        """What spans record: a tool's or a retriever's are actions, a model's is reasoning."""
        yield from self._build_task_message()
        stack: list[tuple[dict[str, Json], str | None, bool]] = [(root, None, False)]
        while stack:
            span, parent_id, is_inner = stack.pop()
            event = self._build_span_event(span, parent_id, is_inner=is_inner)
            if event is not None:
                yield event
                if event["kind"] == "action":
                    parent_id = event["id"]
            inner = is_inner or _get_span_type(span) == "agent"
            children = _filter_objects(span.get("children"))
            stack += [(child, parent_id, inner) for child in reversed(children)]
        yield from self._build_answer_message()

    def build_from_tools(self) -> Iterator[Json]:
        """What the test case lists: calls one by one, each with the reasoning that led to it."""
        called = to_json_value(getattr(self._case, "tools_called", None))
        if called is None:
            return  # nobody knows what was done
        yield from self._build_task_message()
        for call in called:
            if call.get("reasoning"):
                yield self._build_event("reasoning", text=call["reasoning"])
            yield self._build_event(
                "action",
                name=call["name"],
                arguments=call.get("inputParameters", call.get("input_parameters")),
                output=_to_text(call.get("output")),
            )
        yield from self._build_answer_message()

    def _build_span_event(
        self, span: dict[str, Json], parent_id: str | None, *, is_inner: bool
    ) -> Json:
        span_type = _get_span_type(span)
        # The outermost agent is the one that is judged; it hands over to those within.
        if span_type in _ACTION_SPAN_TYPES or (span_type == "agent" and is_inner):
            return self._build_event(
                "action",
                name=span.get("name"),
                arguments=span.get("input"),
                output=_to_text(span.get("output")),
                status="error" if span.get("error") else None,
                parent=parent_id,
            )
        output = _to_text(span.get("output")) if span_type == "llm" else None
        # What the model says last is the answer.
        if output and output != self._case.actual_output:
            return self._build_event("reasoning", text=output, parent=parent_id)
        return None

    def _build_task_message(self) -> Iterator[Json]:
        yield self._build_event("message", actor="user", text=self._case.input)

    def _build_answer_message(self) -> Iterator[Json]:
        if self._case.actual_output:
            yield self._build_event("message", text=self._case.actual_output)

    def _build_event(self, kind: str, **fields: Json) -> dict[str, Json]:
        present = {name: value for name, value in fields.items() if value is not None}
        return {"id": next(self._ids), "kind": kind, "actor": "assistant", **present}


def _get_span_type(span: dict[str, Json]) -> str:
    return str(span.get("type", "")).lower()


def _filter_objects(values: Json) -> list[dict[str, Json]]:
    return [value for value in values if is_object(value)] if is_list(values) else []


def _to_text(value: Json) -> str | None:
    if value is None or isinstance(value, str):
        return value
    import json  # noqa: PLC0415 - only for values that are no text

    return json.dumps(value, ensure_ascii=False)
