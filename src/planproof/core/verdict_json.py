"""Reading a verdict back from the JSON that `Verdict.full()` gives."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, cast

from planproof.core.content import Json
from planproof.core.pointer import escape
from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def parse_verdict(value: Json) -> Verdict:
    """The verdict in a JSON value: the inverse of `Verdict.full()`."""
    from msgspec import ValidationError, convert  # noqa: PLC0415 - only here

    try:
        return convert(value, Verdict)
    except ValidationError as error:
        raise InvalidInput(
            f"is no full verdict: {error}.",
            advice="Give what `--format full` prints or `planproof run` writes.",
        ) from error


def validate_verdict(value: Json) -> Verdict | tuple[str, ...]:
    """The verdict without the id and metadata of its case, or all that is wrong with its shape."""
    from pydantic import ValidationError  # noqa: PLC0415 - heavy, and only here

    if not isinstance(value, dict):
        return ("The verdict is no JSON object.",)
    # Whatever the case's own id and metadata hold, no check rests on them.
    bare: dict[str, Json] = {**cast("dict[str, Json]", value), "id": None, "metadata": {}}
    try:
        return _adapter().validate_json(json.dumps(bare), strict=True)
    except ValidationError as error:
        return tuple(
            "".join(f"/{escape(str(part))}" for part in problem["loc"]) + f": {problem['msg']}."
            for problem in error.errors(include_url=False, include_input=False)
        )
    except (ValueError, TypeError, RecursionError) as error:
        return (f"The verdict is no JSON value: {error}",)


@cache
def _adapter() -> TypeAdapter[Verdict]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - heavy, and only here

    return TypeAdapter(Verdict)
