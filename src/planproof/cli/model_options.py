"""Options of the judges that ask a model, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from planproof.cli.inputs import read_text

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.judge import AnyJudge, ModelOptions
    from planproof.core.model import Model
    from planproof.llm.model_settings import ModelSettings

ModelOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help="Model to ask, such as openai:NAME, anthropic:NAME or ollama:NAME; of several the "
        "lower verdict stands. Keys come from the environment.",
    ),
]
BaseUrlOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Address of a server that is like OpenAI's."),
]
SamplesOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--samples", metavar="N", min=1, max=25, help="Ask so many times; disagreement is doubt."
    ),
]
BudgetOption: TypeAlias = Annotated[
    int,
    typer.Option("--budget", metavar="N", min=4_000, help="Characters of a request, at the most."),
]
DeadlineOption: TypeAlias = Annotated[
    float, typer.Option("--deadline", metavar="S", min=1, help="Seconds for a case, at the most.")
]
ConcurrencyOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="N",
        min=1,
        help="Questions to a model at once (8); with `rules`, processes (one a core).",
    ),
]
RpmOption: TypeAlias = Annotated[
    float | None, typer.Option("--rpm", metavar="N", min=0.1, help="Questions a minute.")
]
TpmOption: TypeAlias = Annotated[
    float | None, typer.Option("--tpm", metavar="N", min=1, help="Tokens a minute.")
]
NoCacheOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Judge anew: take no answer from the cache and no verdict from the store.",
    ),
]
MaxCostOption: TypeAlias = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", min=0, help="Ask no further beyond this price."),
]
DoubtOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--doubt", metavar="X", min=0, help="How much doubt `cascade` leaves without asking."
    ),
]
ImageUrlsOption: TypeAlias = Annotated[
    bool,
    typer.Option("--allow-image-urls", help="Pass on addresses of images; they are not fetched."),
]
TemplateOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--template", metavar="FILE", help="Template of your own, for `prompt`."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudgeOptions:
    """What was said on the command line about asking."""

    model: ModelOption = None
    base_url: BaseUrlOption = None
    samples: SamplesOption = 1
    budget: BudgetOption = 120_000
    deadline: DeadlineOption = 120
    concurrency: ConcurrencyOption = None
    rpm: RpmOption = None
    tpm: TpmOption = None
    no_cache: NoCacheOption = False
    max_cost: MaxCostOption = None
    doubt: DoubtOption = 0.03
    allow_image_urls: ImageUrlsOption = False
    template: TemplateOption = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were named."""
        return tuple(self.model or ())

    def make_judge(self, name: str | None, configuration: Configuration) -> AnyJudge:
        """The judge that was named: as an option or in the configuration; `audit` for a model."""
        from planproof.llm.judge_registry import asks_model
        from planproof.llm.open_judge import open_judge

        chosen = self._resolve_judge_name(name, configuration)
        return open_judge(
            chosen,
            self.models,
            vocabulary=configuration.vocabulary,
            options=self._make_model_options(chosen, configuration),
            samples=self.samples,
            base_url=self.base_url,
            settings=self._make_model_settings() if asks_model(chosen) else None,
        )

    def open_model(self) -> Model:
        """The model that was named, for whoever asks it without a judge."""
        from planproof.llm.providers import open_model

        (name,) = self.models
        return open_model(name, base_url=self.base_url, settings=self._make_model_settings())

    def make_offline_judge(self, name: str | None, configuration: Configuration) -> AnyJudge:
        """The same judge for looking at its questions: no model is opened, and no key needed."""
        from planproof.llm.judge_registry import asks_model
        from planproof.llm.open_judge import UnopenedModel, open_judge

        chosen = self._resolve_judge_name(name, configuration)
        if not asks_model(chosen):
            raise typer.BadParameter(f"the judge `{chosen}` asks no model.")
        models = [UnopenedModel(model) for model in self.models or ("none",)]
        return open_judge(
            chosen,
            models,
            vocabulary=configuration.vocabulary,
            options=self._make_model_options(chosen, configuration),
            samples=self.samples,
        )

    def _resolve_judge_name(self, name: str | None, configuration: Configuration) -> str:
        from planproof.llm.judge_registry import DEFAULT_JUDGE

        return name or configuration.judge or ("audit" if self.models else DEFAULT_JUDGE)

    def _make_model_options(self, judge: str, configuration: Configuration) -> ModelOptions:
        from planproof.core.judge import ModelOptions

        options = ModelOptions(
            budget=self.budget,
            deadline=self.deadline,
            doubt=self.doubt,
            image_urls=self.allow_image_urls,
        )
        if self.template is None:
            return options
        if judge != "prompt":
            raise typer.BadParameter("--template goes with --judge prompt.")
        return replace(options, template=read_text(self.template, configuration.limits))

    def _make_model_settings(self) -> ModelSettings:
        from planproof.llm.model_settings import ModelSettings, SpendingLimit
        from planproof.runs.engines.local import DEFAULT_MODEL_CONCURRENCY

        cache = None
        if not self.no_cache:
            from planproof.llm.answer_cache import default_cache_path

            cache = default_cache_path()
        return ModelSettings(
            concurrency=self.concurrency or DEFAULT_MODEL_CONCURRENCY,
            rpm=self.rpm,
            tpm=self.tpm,
            cache=cache,
            spending=SpendingLimit(self.max_cost),
        )
