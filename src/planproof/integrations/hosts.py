"""Helpers shared by the integrations: open a judge by name, convert objects to JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from planproof.core.judge import AnyJudge
    from planproof.core.model import Model
    from planproof.core.plan import Plan
    from planproof.core.verdict import Verdict
from importlib import import_module
from types import new_class
from typing import Any

from planproof.errors import InvalidConfiguration

PlanInput: TypeAlias = "str | Path | Plan | Json"


def resolve_judge(judge: str | AnyJudge | None, model: str | Model | None) -> str | AnyJudge | None:
    """Return the judge unchanged, or open it by name with the model (default: `audit`)."""
    if model is None:
        return judge
    if judge is not None and not isinstance(judge, str):
        raise InvalidInput(
            "a judge object can't be combined with a model.", advice="Pass the judge by name."
        )
    from planproof.llm.open_judge import open_judge  # noqa: PLC0415 - only if a model is used

    return open_judge(judge or "audit", [model])


def explain_verdict(verdict: Verdict) -> str:
    """Return the reason, and after it the notice if the level has low confidence."""
    from planproof.reports.wording import format_low_confidence  # noqa: PLC0415 - when used

    low_confidence = format_low_confidence(verdict)
    return f"{verdict.reason} ({low_confidence})" if low_confidence else verdict.reason


def to_json_value(value: object) -> Json:
    """Convert a framework's objects, such as messages and spans, to JSON values."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - deferred until used

    try:
        return to_jsonable_python(value, fallback=str, bytes_mode="base64")
    except ValueError as error:
        raise InvalidInput(
            f"the recorded values can't be converted to JSON: {error}.",
            advice="Pass the trace as JSON values.",
        ) from error


def extract_plan(values: object) -> Json:
    """Return the plan from the values a data set stores with a case; None if there is none."""
    return to_json_value(values.get("plan")) if is_object(values) else None


def extract_task(inputs: object) -> str | None:
    """Return the task if the inputs have exactly one text; a task in messages is in the trace."""
    values = list(inputs.values()) if is_object(inputs) else [inputs]
    texts = [value for value in values if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else None


def extract_trace(outputs: object) -> Json:
    """Return an application's trace: `trace` in its outputs, or all; a text is an answer."""
    value = to_json_value(outputs)
    if is_object(value) and "trace" in value:
        return value["trace"]
    return {"answer": value} if isinstance(value, str) else value


def import_framework(module: str, package: str) -> Any:
    """Import a module of a framework; if it is missing, the error names the package to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidConfiguration(
            f"{package} can't be imported: {error}.", advice=f"pip install {package}"
        ) from error


def make_subclass(base: type[Any], methods: type[Any]) -> type[Any]:
    """Create a subclass of a framework class whose methods are overridden by `methods`."""
    return new_class(methods.__name__.lstrip("_"), (methods, base))
