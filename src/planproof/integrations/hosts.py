"""What the metrics for other frameworks share: a judge by name, and a host's objects as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from planproof.content import Json
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from planproof.judges.asking import Model
    from planproof.judges.protocol import AnyJudge
    from planproof.plan import Plan

GivenPlan: TypeAlias = "str | Path | Plan | Json"


def judge_for(judge: str | AnyJudge | None, model: str | Model | None) -> str | AnyJudge | None:
    """The judge as it is given, or the one of this name that asks the model: `audit` if none is."""
    if model is None:
        return judge
    if judge is not None and not isinstance(judge, str):
        raise InvalidInput("a judge that is open already takes no model.", advice="Name it.")
    from planproof.opening import open_judge  # noqa: PLC0415 - only where a model is asked

    return open_judge(judge or "audit", [model])


def as_json(value: object) -> Json:
    """What a host hands over, messages and spans of its own among it, as JSON values."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - not before it is used

    try:
        return to_jsonable_python(value, fallback=str, bytes_mode="base64", inf_nan_mode="strings")
    except ValueError as error:
        raise InvalidInput(
            f"what the framework recorded can't be written as JSON: {error}.",
            advice="Give the trace as JSON values.",
        ) from error
