"""What the metrics for other frameworks share: a judge by name, and a host's objects as JSON."""

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
from importlib import import_module
from types import new_class
from typing import Any

from planproof.errors import InvalidConfiguration

PlanInput: TypeAlias = "str | Path | Plan | Json"


def resolve_judge(judge: str | AnyJudge | None, model: str | Model | None) -> str | AnyJudge | None:
    """The judge as it is given, or the one of this name that asks the model: `audit` if none is."""
    if model is None:
        return judge
    if judge is not None and not isinstance(judge, str):
        raise InvalidInput("a judge that is open already takes no model.", advice="Name it.")
    from planproof.llm.open_judge import open_judge  # noqa: PLC0415 - only where a model is asked

    return open_judge(judge or "audit", [model])


def to_json_value(value: object) -> Json:
    """What a host hands over, messages and spans of its own among it, as JSON values."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - not before it is used

    try:
        return to_jsonable_python(value, fallback=str, bytes_mode="base64")
    except ValueError as error:
        raise InvalidInput(
            f"what the framework recorded can't be written as JSON: {error}.",
            advice="Give the trace as JSON values.",
        ) from error


def extract_plan(values: object) -> Json:
    """The plan that stands in what a data set holds beside a case; None if it has none."""
    return to_json_value(values.get("plan")) if is_object(values) else None


def extract_task(inputs: object) -> str | None:
    """The task, if there is one text in the inputs; what is in messages is found in the trace."""
    values = list(inputs.values()) if is_object(inputs) else [inputs]
    texts = [value for value in values if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else None


def extract_trace(outputs: object) -> Json:
    """The trace that an application gave back: `trace` in it, or all of it; no answer alone."""
    value = to_json_value(outputs)
    if is_object(value) and "trace" in value:
        return value["trace"]
    return {"answer": value} if isinstance(value, str) else value


def import_framework(module: str, package: str) -> Any:
    """A module of a framework; says which package to install where it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidConfiguration(
            f"{package} can't be used: {error}.", advice=f"pip install {package}"
        ) from error


def make_subclass(base: type[Any], methods: type[Any]) -> type[Any]:
    """A class of the framework's with these methods, which stand in front of its own."""
    return new_class(methods.__name__.lstrip("_"), (methods, base))
