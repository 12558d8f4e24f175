"""Scores that people gave: a file with one `{"id", "score"}` a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from planproof.errors import InvalidInput

_FORM = 'A label is {"id": "case-1", "score": 0.75}.'


def read_labels(lines: Iterable[str], name: str) -> dict[str, float]:
    """The scores by the ids of the cases."""
    labels: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            label: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"is not valid JSON: {error}.", where=where, advice=_FORM) from error
        fields = cast("dict[str, Any]", label) if isinstance(label, dict) else {}
        case, score = fields.get("id"), fields.get("score")
        if not isinstance(case, str) or isinstance(score, bool):
            raise InvalidInput("holds no label.", where=where, advice=_FORM)
        if not isinstance(score, int | float) or not 0 <= score <= 1:
            raise InvalidInput("the score must be from 0 to 1.", where=where, advice=_FORM)
        if case in labels:
            raise InvalidInput(
                f"`{case}` has a label already.", where=where, advice="Keep one of them."
            )
        labels[case] = float(score)
    return labels
