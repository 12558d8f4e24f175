"""A case that was pasted, and its verdict. Nothing of it is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from urllib.parse import parse_qs

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import read_case
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import select_trace
from planproof.readers.task_content import read_task
from planproof.server.http_problems import RequestRefused

EXAMPLES = {
    "followed": "a plan that was followed",
    "claimed": "a step that is only claimed",
    "reordered": "another order",
}
"""Cases that come with planproof, to try it on."""
_FORM_FIELDS = ("task", "plan", "trace", "judge")


def parse_form_fields(body: bytes) -> dict[str, str]:
    """What a form was filled in with."""
    try:
        form = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=10)
    except ValueError as error:
        raise RequestRefused(400, f"is no form: {error}.", where="body") from error
    # Forms end lines as mail does.
    return {name: form.get(name, [""])[0].replace("\r\n", "\n") for name in _FORM_FIELDS}


def load_example(name: str) -> dict[str, str]:
    """The form filled in with one of the examples; with nothing for any other name."""
    if name not in EXAMPLES:
        return dict.fromkeys(_FORM_FIELDS, "")
    data = files("planproof.cli.demo_cases").joinpath(f"{name}.json").read_text(encoding="utf-8")
    record: dict[str, Json] = json.loads(data)
    return {
        "task": str(record["user_task"]),
        "plan": str(record["agent_plan"]),
        "trace": json.dumps(record["execution_trace"], indent=1, ensure_ascii=False),
        "judge": "",
    }


def parse_pasted_case(fields: Mapping[str, str], limits: Limits) -> Case:
    """The case in a form: task, plan and trace, or a whole case where the trace belongs."""
    if not fields["trace"].strip():
        raise InvalidInput(
            "there is no trace.",
            where="trace",
            advice="Paste what the agent did: messages, spans, a log, or a whole case.",
        )
    data = fields["trace"].encode("utf-8", "surrogatepass")
    source = Source.from_bytes(data, name="trace", limits=limits)
    if is_object(source.document) and "execution_trace" in source.document:
        return read_case(data, name="trace", limits=limits)
    return Case(
        task=read_task(fields["task"]) if fields["task"].strip() else None,
        plan=fields["plan"] if fields["plan"].strip() else None,
        trace=select_trace(source),
    )
