"""The schema of model answers, and field types that accept what models write instead."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from planproof.core.content import Json
from planproof.core.json_values import is_list


def convert_number(value: object) -> object:
    """Convert a number to text: models may print step "3" as 3."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def wrap_in_list(value: Json) -> Json:
    """Wrap a single value in a list."""
    return value if is_list(value) else [value]


Text = Annotated[str, BeforeValidator(convert_number)]
Texts = Annotated[list[Text], BeforeValidator(wrap_in_list)]


@cache
def build_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of an answer."""
    return answer.model_json_schema()
