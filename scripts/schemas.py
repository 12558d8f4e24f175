"""Build the JSON schemas of case files, verdicts, profiles and contracts from the types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import DataclassSchema

from planproof.contracts.contract_schema import build_contract_schema
from planproof.core.verdict import Verdict
from planproof.readers.profile_files import build_profile_schema
from planproof.server.api.schemas import CaseFile

FOLDER = Path(__file__).parents[1] / "docs" / "schemas"
PACKAGE_FOLDER = FOLDER.parents[1] / "src" / "planproof" / "contracts"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _ClosedSchema(GenerateJsonSchema):
    """Make every field of a verdict required, and allow no others."""

    def dataclass_schema(self, schema: DataclassSchema) -> dict[str, Any]:
        json_schema = super().dataclass_schema(schema)
        for field in json_schema["properties"].values():
            field.pop("default", None)
        return {
            **json_schema,
            "required": list(json_schema["properties"]),
            "additionalProperties": False,
        }


def build_case_schema() -> dict[str, Any]:
    """Return the schema of a case file."""
    return {"$schema": _DIALECT, **CaseFile.model_json_schema()}


def build_verdict_schema() -> dict[str, Any]:
    """Return the schema of a full verdict: only a scored one has a score and a level."""
    schema = TypeAdapter(Verdict).json_schema(mode="serialization", schema_generator=_ClosedSchema)
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


def render_schemas() -> dict[Path, str]:
    """Return the text of each schema file by name."""
    contract = {"$schema": _DIALECT, "title": "planproof contract", **build_contract_schema()}
    schema_by_file = {
        FOLDER / "case.schema.json": build_case_schema(),
        FOLDER / "verdict.schema.json": build_verdict_schema(),
        FOLDER / "profile.schema.json": {"$schema": _DIALECT, **build_profile_schema()},
        FOLDER / "contract-1.schema.json": contract,
        PACKAGE_FOLDER / "contract-1.schema.json": contract,
    }
    return {path: json.dumps(schema, indent=2) + "\n" for path, schema in schema_by_file.items()}
