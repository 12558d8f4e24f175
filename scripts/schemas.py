"""The JSON schemas of the case file and of the verdict, made from the types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import DataclassSchema

from planproof.verdict import Verdict

FOLDER = Path(__file__).parents[1] / "docs" / "schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class CaseFile(BaseModel):
    """One case. Fields beside these are left alone."""

    user_task: str | list[str | dict[str, Any]] = Field(
        description="Text, or content parts, among which may be images."
    )
    agent_plan: str | list[Any] | dict[str, Any] | None = Field(
        None, description="Text, a list of steps, or JSON of a common shape."
    )
    execution_trace: str | list[Any] | dict[str, Any] = Field(
        description="A raw trace as its tool wrote it, as JSON or as text."
    )
    id: str | int | None = Field(None, description="Handed on to the verdict.")
    metadata: dict[str, Any] | None = Field(
        None, description="Handed on to the verdict, never judged."
    )


class _Closed(GenerateJsonSchema):
    """A verdict always has every field that is named, and no others."""

    def dataclass_schema(self, schema: DataclassSchema) -> dict[str, Any]:
        made = super().dataclass_schema(schema)
        for field in made["properties"].values():
            field.pop("default", None)
        return {**made, "required": list(made["properties"]), "additionalProperties": False}


def case_schema() -> dict[str, Any]:
    """The schema of a case file."""
    return {"$schema": _DIALECT, **CaseFile.model_json_schema()}


def verdict_schema() -> dict[str, Any]:
    """The schema of a full verdict: only a scored one has a score and its level."""
    schema = TypeAdapter(Verdict).json_schema(mode="serialization", schema_generator=_Closed)
    scores = {"type": "number", "minimum": 0, "maximum": 1}
    levels = {"enum": [0.0, 0.25, 0.5, 0.75, 1.0]}
    scored = {"properties": {"outcome": {"const": "scored"}}}
    return {
        "$schema": _DIALECT,
        **schema,
        "if": scored,
        "then": {"properties": {"score": scores, "level": levels}},
        "else": {"properties": {"score": {"type": "null"}, "level": {"type": "null"}}},
    }


def published() -> dict[Path, str]:
    """Each schema as the text of its file."""
    made = {"case.schema.json": case_schema(), "verdict.schema.json": verdict_schema()}
    return {FOLDER / name: json.dumps(schema, indent=2) + "\n" for name, schema in made.items()}
