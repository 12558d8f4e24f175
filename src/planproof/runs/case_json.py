"""A case to JSON text and back, so that it can be kept and looked at later."""

from __future__ import annotations

import json
from hashlib import sha256

from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.readers.decoding.source import Source
from planproof.readers.task_content import read_task
from planproof.runs.run_records import StoredCase


def serialize_case(case: Case) -> StoredCase:
    """The case as JSON text, with its content hash."""
    trace: Json = case.trace
    # ASCII only: lone surrogates can be written, and every database can hold it.
    text = json.dumps(
        {
            "user_task": None if case.task is None else _task_to_json(case.task),
            "agent_plan": case.plan,
            "execution_trace": trace.raw_value if isinstance(trace, Source) else trace,
        },
        separators=(",", ":"),
    )
    return StoredCase(sha256(text.encode("ascii")).hexdigest(), text)


def deserialize_case(
    stored: StoredCase,
    *,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Case:
    """The case that was kept, ready to be read again."""
    fields: dict[str, Json] = json.loads(stored.text)
    task = fields["user_task"]
    return Case(
        task=None if task is None else read_task(task),
        plan=fields["agent_plan"],
        trace=fields["execution_trace"],
        id=id,
        metadata=metadata or {},
    )


def _task_to_json(task: Content) -> Json:
    if not task.images:
        return task.text
    images: list[Json] = [
        {"type": "image_url", "image_url": image.url}
        if image.data is None
        else {"type": "image", "source": {"media_type": image.media_type, "data": image.data}}
        for image in task.images
    ]
    return [{"type": "text", "text": task.text}, *images]
