"""Open a judge by name with its models: one model or a panel, with one or several samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn, cast

from planproof.core.judge import AnyJudge, ModelJudge, ModelOptions
from planproof.core.model import Model, Question
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput
from planproof.llm.judge_registry import asks_model, find_judge

if TYPE_CHECKING:
    from planproof.llm.model_settings import ModelSettings

_SAMPLE_TEMPERATURE = 0.7
"""Temperature for several samples: at 0 they would all be the same."""


@dataclass(frozen=True, slots=True)
class UnopenedModel:
    """A model known only by name, for showing its questions without asking them."""

    name: str

    @property
    def fingerprint(self) -> str:
        """The name: nothing else is known."""
        return self.name

    async def ask(self, question: Question, *, deadline: float) -> NoReturn:
        """Raise an error: this model can't be asked."""
        del question, deadline
        raise InvalidInput(f"the model `{self.name}` is not open.")


def open_judge(
    name: str,
    models: Sequence[str | Model] = (),
    *,
    vocabulary: Vocabulary | None = None,
    options: ModelOptions | None = None,
    samples: int = 1,
    base_url: str | None = None,
    settings: ModelSettings | None = None,
) -> AnyJudge:
    """Return the judge of this name, ready to ask these models.

    A model is a name such as `openai:NAME`, or an open model. With several models, the lowest
    verdict counts. With several `samples`, steps on which they disagree are ambiguous.
    """
    if not asks_model(name):
        if models:
            raise InvalidInput(
                f"the judge `{name}` uses no model.", advice="Use `audit`, `prompt` or `cascade`."
            )
        return find_judge(name, vocabulary=vocabulary)
    if not models:
        return find_judge(name)  # raises an error that says what is missing
    model_options = options or ModelOptions()
    judges = [
        _open_sampled_judge(
            name,
            _resolve_model(model, base_url, settings, samples),
            vocabulary,
            model_options,
            samples,
        )
        for model in models
    ]
    if len(judges) == 1:
        return judges[0]
    from planproof.llm.panel import Panel  # noqa: PLC0415 - only for panels

    return Panel(tuple(judges))


def _open_sampled_judge(
    name: str, model: Model, vocabulary: Vocabulary | None, options: ModelOptions, samples: int
) -> ModelJudge:
    judges = tuple(
        cast(
            "ModelJudge",
            find_judge(
                name, vocabulary=vocabulary, model=model, options=replace(options, sample=sample)
            ),
        )
        for sample in range(samples)
    )
    if samples == 1:
        return judges[0]
    from planproof.llm.panel import SampledJudge  # noqa: PLC0415 - only for samples

    return SampledJudge(judges)


def _resolve_model(
    model: str | Model, base_url: str | None, settings: ModelSettings | None, samples: int
) -> Model:
    if not isinstance(model, str):
        return model
    from planproof.llm.model_settings import ModelSettings  # noqa: PLC0415 - with the models
    from planproof.llm.providers import open_model  # noqa: PLC0415 - heavy

    model_settings = settings or ModelSettings()
    if samples > 1:
        model_settings = replace(
            model_settings, temperature=max(model_settings.temperature, _SAMPLE_TEMPERATURE)
        )
    return open_model(model, base_url=base_url, settings=model_settings)
