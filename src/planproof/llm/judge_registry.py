"""Find judges by name."""

from __future__ import annotations

from planproof import extensions
from planproof.core.judge import AnyJudge, JudgeFactory, ModelJudgeFactory, ModelOptions
from planproof.core.model import Model
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput

DEFAULT_JUDGE = "rules"


def find_judge(
    name: str = DEFAULT_JUDGE,
    *,
    vocabulary: Vocabulary | None = None,
    model: Model | None = None,
    options: ModelOptions | None = None,
) -> AnyJudge:
    """Return the judge registered under this name; one that asks a model needs `model`."""
    known = vocabulary or Vocabulary()
    if not asks_model(name):
        make: JudgeFactory = extensions.load("judges", name)
        return make(vocabulary=known)
    if model is None:
        raise InvalidInput(
            f"the judge `{name}` needs a model.",
            advice="Name one with --model openai:NAME"
            + (", or give a contract with --contract FILE." if name == "contract" else "."),
        )
    make_model_judge: ModelJudgeFactory = extensions.load("judges", name)
    return make_model_judge(vocabulary=known, model=model, options=options or ModelOptions())


def asks_model(name: str) -> bool:
    """Return True if the judge of this name asks a model."""
    return getattr(extensions.load("judges", name), "asks_model", False) is True
