"""What DeepEval knows of a run, as a trace: its spans, or the tools that a test case lists."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.integrations.hosts import as_json

_ACTIONS = ("tool", "retriever")


def trace_in(test_case: Any) -> Json:
    """The trace of a test case: recorded by DeepEval, given in `metadata`, or the tools called."""
    recorded = as_json(getattr(test_case, "_trace_dict", None))
    if recorded is None:
        beside = metadata_of(test_case)
        recorded = as_json(beside.get("trace")) if is_object(beside) else None
    if is_object(recorded) and is_list(recorded.get("children")) and "type" in recorded:
        return {"events": list(_Telling(test_case).spans(recorded))}
    if recorded is not None:
        return recorded
    return {"events": list(_Telling(test_case).tools())}


def metadata_of(test_case: Any) -> Any:
    """What whoever made the test case put beside it."""
    # Earlier releases call it `additional_metadata`.
    key = "metadata" if hasattr(test_case, "metadata") else "additional_metadata"
    return getattr(test_case, key, None)


class _Telling:
    """Writes the events of one test case in the native form."""

    def __init__(self, test_case: Any) -> None:
        self._case = test_case
        self._ids = (f"e{number}" for number in count(1))

    def spans(self, root: dict[str, Json]) -> Iterator[Json]:
        """What spans record: a tool's or a retriever's are actions, a model's is reasoning."""
        yield from self._asked()
        waiting: list[tuple[dict[str, Json], str | None, bool]] = [(root, None, False)]
        while waiting:
            span, within, is_inner = waiting.pop()
            event = self._span(span, within, is_inner=is_inner)
            if event is not None:
                yield event
                if event["kind"] == "action":
                    within = event["id"]
            inner = is_inner or _sort(span) == "agent"
            children = _objects(span.get("children"))
            waiting += [(child, within, inner) for child in reversed(children)]
        yield from self._answered()

    def tools(self) -> Iterator[Json]:
        """What the test case lists: calls one by one, each with the reasoning that led to it."""
        called = as_json(getattr(self._case, "tools_called", None))
        if called is None:
            return  # nobody knows what was done
        yield from self._asked()
        for call in called:
            if call.get("reasoning"):
                yield self._event("reasoning", text=call["reasoning"])
            yield self._event(
                "action",
                name=call["name"],
                arguments=call.get("inputParameters", call.get("input_parameters")),
                output=_text(call.get("output")),
            )
        yield from self._answered()

    def _span(self, span: dict[str, Json], within: str | None, *, is_inner: bool) -> Json:
        sort = _sort(span)
        # The outermost agent is the one that is judged; it hands over to those within.
        if sort in _ACTIONS or (sort == "agent" and is_inner):
            return self._event(
                "action",
                name=span.get("name"),
                arguments=span.get("input"),
                output=_text(span.get("output")),
                status="error" if span.get("error") else None,
                parent=within,
            )
        said = _text(span.get("output")) if sort == "llm" else None
        # What the model says last is the answer.
        if said and said != self._case.actual_output:
            return self._event("reasoning", text=said, parent=within)
        return None

    def _asked(self) -> Iterator[Json]:
        yield self._event("message", actor="user", text=self._case.input)

    def _answered(self) -> Iterator[Json]:
        if self._case.actual_output:
            yield self._event("message", text=self._case.actual_output)

    def _event(self, kind: str, **fields: Json) -> dict[str, Json]:
        held = {name: value for name, value in fields.items() if value is not None}
        return {"id": next(self._ids), "kind": kind, "actor": "assistant", **held}


def _sort(span: dict[str, Json]) -> str:
    return str(span.get("type", "")).lower()


def _objects(values: Json) -> list[dict[str, Json]]:
    return [value for value in values if is_object(value)] if is_list(values) else []


def _text(value: Json) -> str | None:
    if value is None or isinstance(value, str):
        return value
    import json  # noqa: PLC0415 - only for values that are no text

    return json.dumps(value, ensure_ascii=False)
