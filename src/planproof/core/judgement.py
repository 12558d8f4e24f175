"""What a judge that asks a model gives: findings or a score, and how it came by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from planproof.core.finding import Findings
from planproof.core.usage import Usage
from planproof.core.verdict import Opinion, RejectedEvidence, Samples

PROMPT = "prompt"
"""The one judge whose score and words are a model's own; it gives no findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCoverage:
    """How much of a trace a model was shown.

    `events` had at least a line, `shortened` are those of them whose text was cut; the whole took
    so many `windows`, and so many `images` went along.
    """

    events: int
    shortened: int = 0
    windows: int = 1
    images: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Findings from which the score is computed; or, without them, the model's score and reason.

    `models` are those that answered. `notes` belong to the coverage of the trace. `warnings` are
    about the judgement: rules that a reason breaks, instructions that were found in the trace.
    """

    findings: Findings | None = None
    score: float | None = None
    reason: str = ""
    models: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    shown: PromptCoverage | None = None
    notes: tuple[str, ...] = ()
    rejected: tuple[RejectedEvidence, ...] = ()
    warnings: tuple[str, ...] = ()
    samples: Samples | None = None
    panel: tuple[Opinion, ...] = ()


def with_totals(chosen: Judgement, judgements: Sequence[Judgement]) -> Judgement:
    """A judgement with what all of them cost and warn of."""
    return replace(
        chosen,
        models=tuple(dict.fromkeys(name for judgement in judgements for name in judgement.models)),
        usage=sum((judgement.usage for judgement in judgements), Usage()),
        warnings=tuple(
            dict.fromkeys(word for judgement in judgements for word in judgement.warnings)
        ),
    )
