"""Contracts of the small cases, as an honest model writes them."""

from __future__ import annotations

from typing import Any

from planproof.core.content import Json
from planproof.core.contract import Contract
from planproof.core.model import Answer, Question
from planproof.llm.compile import compile_plan
from planproof.llm.compile_answers import CompileAnswer
from planproof.planning.plan_parser import parse_plan
from tests.fake_model import FakeModel


def _call(tool: str, **values: str) -> dict[str, Any]:
    return {"call": [tool], "where": [{"name": n, "any_of": [v]} for n, v in values.items()]}


REQUIREMENTS: dict[str, dict[str, Any]] = {
    "Read file report-12.txt": _call("read_file", path="report-12.txt"),
    "Copy report-12.txt to the folder archive": _call(
        "copy_file", path="report-12.txt", folder="archive"
    ),
    "Delete file draft-7.txt": _call("delete_file", path="draft-7.txt"),
    "Look up order 5817": _call("get_order", order_id="5817"),
    "Check the return policy for damaged items": _call("search_policy", query="damaged"),
    "Refund order 5817 to the original card": _call(
        "refund_order", order_id="5817", method="original card"
    ),
    "Tell the customer that the refund is on its way": {"message": {"says": [["refund"]]}},
    "Read src/export.py": _call("read_file", path="src/export.py"),
    "Write a failing test for the lost row in tests/test_export.py": {
        **_call("edit_file", path="tests/test_export.py"),
        "call": ["edit_file", "write_file"],
    },
    "Fix the loop in src/export.py": _call("edit_file", path="src/export.py"),
    "Run the test suite with pytest": {
        "call": ["run_command"],
        "is": [{"name": "command", "program": ["pytest"]}],
    },
    "Announce the maintenance window in #ops": _call("post_message", channel="#ops"),
    "Back up the staging database": _call("backup_database", database="staging"),
    "Restore the backup on db-new": _call("restore_backup", host="db-new"),
    "Switch the staging DNS record to db-new": _call("update_dns", target="db-new"),
}


def answer_for_plan(plan: Json) -> dict[str, Any]:
    """The answer of a model that compiles a plan of the small cases."""
    return {
        "steps": [
            {"number": step.number, "text": step.text, "all_of": [REQUIREMENTS[step.text]]}
            for step in parse_plan(plan).steps
        ]
    }


class CompilingModel(FakeModel):
    """Compiles plans of the small cases; it answers other questions as it was told to."""

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        if question.answer is CompileAnswer:
            text = "".join(part for part in question.parts if isinstance(part, str))
            known = [step for step in REQUIREMENTS if f"«{step}»" in text]
            self._answers = [answer_for_plan(sorted(known, key=text.index))]
        return await super().ask(question, deadline=deadline)


def compile_small_plan(plan: Json) -> Contract:
    """The contract of a plan of the small cases, as the model writes it."""
    return compile_plan(plan, None, CompilingModel()).contract
