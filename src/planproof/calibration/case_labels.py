"""Labels of cases: whether the plan was followed, or the score that a person gave."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.errors import InvalidInput

_FLAWED_AT_MOST = 0.5
_ADVICE = (
    'Write a label as {"followed": false} or {"score": 0.75}; `flaw`, `step` and `group` are '
    "optional."
)
_FILE_ADVICE = 'Write labels as {"id": "case-1", "score": 0.75}, or with `followed` for `score`.'


@dataclass(frozen=True, slots=True)
class Label:
    """What is known about a case.

    `score` is None if it is only known whether the plan was followed. `flaw` names the kind of
    deviation, `step` the number of the step that deviates, and `group` is for tables.
    """

    followed: bool
    score: float | None = None
    flaw: str = ""
    step: str = ""
    group: str = ""

    @property
    def is_flawed(self) -> bool:
        """True if a judge should catch the case: a label of 0.75 is neither followed nor flawed."""
        return not self.followed and (self.score is None or self.score <= _FLAWED_AT_MOST)


Labels: TypeAlias = Mapping[str, Label]
"""Labels by case id."""


def parse_label(value: Json, where: str) -> Label:
    """Return the label in a JSON object; raise `InvalidInput` if it is not one."""
    fields = value if is_object(value) else {}
    followed, score = fields.get("followed"), fields.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float | None):
        raise InvalidInput("is not a valid label.", where=where, advice=_ADVICE)
    if score is not None and not 0 <= score <= 1:
        raise InvalidInput("the score must be from 0 to 1.", where=where, advice=_ADVICE)
    if followed is None and score is not None:
        followed = score >= 1
    if not isinstance(followed, bool):
        raise InvalidInput("is not a valid label.", where=where, advice=_ADVICE)
    texts: dict[str, str] = {}
    for name in ("flaw", "step", "group"):
        text = fields.get(name)
        if isinstance(text, bool) or not isinstance(text, str | int | None):
            raise InvalidInput(f"`{name}` must be text.", where=where, advice=_ADVICE)
        texts[name] = "" if text is None else str(text)
    return Label(followed, None if score is None else float(score), **texts)


def read_labels(lines: Iterable[str], name: str) -> dict[str, Label]:
    """Read labels by case id from JSON Lines."""
    labels: dict[str, Label] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            value: Json = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(
                f"is not valid JSON: {error}.", where=where, advice=_FILE_ADVICE
            ) from error
        id_ = value.get("id") if is_object(value) else None
        if not isinstance(id_, str):
            raise InvalidInput("is not a valid label.", where=where, advice=_FILE_ADVICE)
        if id_ in labels:
            raise InvalidInput(
                f"`{id_}` already has a label.", where=where, advice="Remove one of them."
            )
        labels[id_] = parse_label(value, where)
    return labels
