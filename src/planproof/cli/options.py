"""Command line options shared by several commands: models, stores, data sets, engines."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, get_type_hints

import typer

from planproof.cli.inputs import read_text
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.catalogue import Catalogue
    from planproof.core.contract import Contract
    from planproof.core.judge import AnyJudge, ModelOptions
    from planproof.core.limits import Limits
    from planproof.core.model import Model
    from planproof.core.plan import InForce
    from planproof.llm.model_settings import ModelSettings
    from planproof.readers.profile_reader import ProfileReader
    from planproof.runs.datasets.data_set import DataSet
    from planproof.runs.engines.case_judging import CaseEvaluator
    from planproof.runs.execution import RemoteEngine
    from planproof.runs.run_records import Run
    from planproof.runs.store.store_protocol import Store
    from planproof.runs.summary import SummaryBuilder

ModelOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help="Model, for example openai:NAME, anthropic:NAME or ollama:NAME; can be repeated, then "
        "the lowest verdict counts. API keys come from the environment.",
    ),
]
BaseUrlOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Base URL of an OpenAI-compatible server."),
]
SamplesOption: TypeAlias = Annotated[
    int,
    typer.Option(
        "--samples", metavar="N", min=1, max=25, help="Ask N times and combine the answers."
    ),
]
BudgetOption: TypeAlias = Annotated[
    int,
    typer.Option("--budget", metavar="N", min=4_000, help="Maximum characters per request."),
]
DeadlineOption: TypeAlias = Annotated[
    float, typer.Option("--deadline", metavar="S", min=1, help="Maximum seconds per case.")
]
ConcurrencyOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="N",
        min=1,
        help="Concurrent model requests (8); with `rules`, processes (one per core).",
    ),
]
RpmOption: TypeAlias = Annotated[
    float | None, typer.Option("--rpm", metavar="N", min=0.1, help="Maximum requests per minute.")
]
TpmOption: TypeAlias = Annotated[
    float | None, typer.Option("--tpm", metavar="N", min=1, help="Maximum tokens per minute.")
]
NoCacheOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Judge again: don't use cached answers or stored verdicts.",
    ),
]
MaxCostOption: TypeAlias = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", min=0, help="Send no request beyond this cost."),
]
DoubtOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--doubt",
        metavar="X",
        min=0,
        help="Maximum doubt that `cascade` accepts without asking a model.",
    ),
]
ImageUrlsOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-image-urls", help="Send image URLs to the model; planproof does not fetch them."
    ),
]
TemplateOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--template", metavar="FILE", help="Custom template for the `prompt` judge."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudgeOptions:
    """Options for judges that ask a model."""

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
        """The models given with `--model`."""
        return tuple(self.model or ())

    def make_judge(
        self, name: str | None, configuration: Configuration, catalogue: Catalogue | None = None
    ) -> AnyJudge:
        """Open the judge named by option or configuration; `audit` if only a model is given.

        `catalogue` are the tools for a model that compiles contracts, unless an option names them.
        """
        from planproof.llm.judge_registry import asks_model
        from planproof.llm.open_judge import open_judge

        chosen = self.resolve_judge_name(name, configuration)
        options = self.make_model_options(chosen, configuration)
        if options.catalogue is None:
            options = replace(options, catalogue=catalogue)
        return open_judge(
            chosen,
            self.models,
            vocabulary=configuration.vocabulary,
            options=options,
            samples=self.samples,
            base_url=self.base_url,
            settings=self._make_model_settings() if asks_model(chosen) else None,
        )

    def open_model(self) -> Model:
        """Open the model given with `--model`, for callers that need no judge."""
        from planproof.llm.providers import open_model

        (name,) = self.models
        return open_model(name, base_url=self.base_url, settings=self._make_model_settings())

    def make_offline_judge(self, name: str | None, configuration: Configuration) -> AnyJudge:
        """Make the same judge for showing its questions; opens no model and needs no key."""
        from planproof.llm.judge_registry import asks_model
        from planproof.llm.open_judge import UnopenedModel, open_judge

        chosen = self.resolve_judge_name(name, configuration)
        if not asks_model(chosen):
            raise typer.BadParameter(f"the judge `{chosen}` does not use a model.")
        models = [UnopenedModel(model) for model in self.models or ("none",)]
        return open_judge(
            chosen,
            models,
            vocabulary=configuration.vocabulary,
            options=self.make_model_options(chosen, configuration),
            samples=self.samples,
        )

    def resolve_judge_name(self, name: str | None, configuration: Configuration) -> str:
        """Return the name of the judge that the options and the configuration choose."""
        from planproof.llm.judge_registry import DEFAULT_JUDGE

        return name or configuration.judge or ("audit" if self.models else DEFAULT_JUDGE)

    def make_model_options(self, judge: str, configuration: Configuration) -> ModelOptions:
        """Return the options for a judge that asks a model."""
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
            raise typer.BadParameter("--template requires --judge prompt.")
        return replace(options, template=read_text(self.template, configuration.limits))

    def _make_model_settings(self) -> ModelSettings:
        from planproof.llm.model_settings import ModelSettings, SpendingLimit
        from planproof.runs.engines.local import DEFAULT_MODEL_CONCURRENCY

        cache = None
        if not self.no_cache:
            from planproof.llm.answer_cache import get_default_cache_path

            cache = get_default_cache_path()
        return ModelSettings(
            concurrency=self.concurrency or DEFAULT_MODEL_CONCURRENCY,
            rpm=self.rpm,
            tpm=self.tpm,
            cache=cache,
            spending=SpendingLimit(self.max_cost),
        )


ContractOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--contract",
        metavar="FILE",
        help="Check against this contract; its steps are the plan. With --judge cascade, a model "
        "is asked about what it leaves open.",
    ),
]
VariableOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--var", metavar="NAME=VALUE", help="Value of a variable of the contract; can be repeated."
    ),
]
AllowDriftOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-drift",
        help="Use the contract even if the given plan or tools have changed since.",
    ),
]


ToolsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--tools",
        metavar="FILE",
        help="The agent's tools, for --judge contract with a model; default for `run`: those that "
        "its cases call. With --contract: they must be those that it was compiled for.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions(ModelJudgeOptions):
    """Options of commands that judge by a contract too."""

    contract: ContractOption = None
    var: VariableOption = None
    allow_drift: AllowDriftOption = False
    tools: ToolsOption = None

    def make_judge(
        self, name: str | None, configuration: Configuration, catalogue: Catalogue | None = None
    ) -> AnyJudge:
        """Make the judge that checks the contract; without one, the judge that is named."""
        if self.contract is None and (self.var or self.allow_drift):
            raise typer.BadParameter("--var and --allow-drift require --contract.")
        if self.tools is not None and not (self.contract or self.compiles(name, configuration)):
            raise typer.BadParameter(
                "--tools requires --contract, or --judge contract --model NAME."
            )
        if self.contract is None or name == "cascade":
            return ModelJudgeOptions.make_judge(self, name, configuration, catalogue)
        if name not in (None, "contract") or self.models:
            raise typer.BadParameter(
                "--contract is checked without a model; with --judge cascade --model NAME a model "
                "is asked about the steps that the contract leaves open."
            )
        from planproof.checking.contract_judge import ContractJudge
        from planproof.core.vocabulary import Vocabulary

        return ContractJudge(
            self._read_contract(self.contract),
            configuration.vocabulary or Vocabulary(),
            parse_variables(self.var),
            allow_drift=self.allow_drift,
        )

    def make_model_options(self, judge: str, configuration: Configuration) -> ModelOptions:
        """Return the options for a judge that asks a model, with the contract."""
        from planproof.checking.contract_judge import check_variables
        from planproof.contracts.catalogues import read_catalogue

        options = ModelJudgeOptions.make_model_options(self, judge, configuration)
        if self.tools is not None:
            options = replace(options, catalogue=read_catalogue(self.tools))
        if self.contract is None:
            return options
        contract, variables = self._read_contract(self.contract), parse_variables(self.var)
        check_variables(contract, variables)
        return replace(
            options,
            contract=contract,
            variables=variables,
            allow_drift=self.allow_drift,
        )

    def _read_contract(self, path: Path) -> Contract:
        """Read the contract; raise an error if it was compiled for other tools than the given."""
        from planproof.contracts.catalogues import read_catalogue
        from planproof.contracts.contract_validation import read_valid_contract

        contract = read_valid_contract(path)
        origin = contract.origin
        if self.tools is None or self.allow_drift or origin.catalogue != "complete":
            return contract
        if origin.catalogue_digest not in (None, read_catalogue(self.tools).digest):
            raise InvalidInput(
                "these are not the tools that the contract was compiled for.",
                where=str(self.tools),
                advice="Compile the plan again, or pass --allow-drift to judge by the contract.",
            )
        return contract

    def compiles(self, name: str | None, configuration: Configuration) -> bool:
        """Return whether a model is to compile the plans of the cases."""
        return self.contract is None and self.resolve_judge_name(name, configuration) == "contract"


def parse_variables(texts: list[str] | None) -> dict[str, str]:
    """Return the variables given with `--var`."""
    variables: dict[str, str] = {}
    for text in texts or ():
        name, separator, value = text.partition("=")
        if not (name and separator):
            raise typer.BadParameter(f"--var {text}: expected NAME=VALUE.")
        variables[name] = value
    return variables


_T = TypeVar("_T")


def option_groups(**groups: type[Any]) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Decorate a command so that the fields of a dataclass become its options.

    Each field is one option; the command receives the dataclass as a single parameter.
    """

    def decorate(command: Callable[..., _T]) -> Callable[..., _T]:
        @wraps(command)
        def wrapper(*args: Any, **options: Any) -> _T:
            for name, group in groups.items():
                options[name] = group(
                    **{part.name: options.pop(part.name) for part in fields(group)}
                )
            return command(*args, **options)

        command_signature = signature(command, eval_str=True)
        options: list[Parameter] = []
        for parameter in command_signature.parameters.values():
            group = groups.get(parameter.name)
            options += [parameter] if group is None else _make_option_parameters(group)
        wrapper.__dict__["__signature__"] = command_signature.replace(parameters=options)
        return wrapper

    return decorate


def _make_option_parameters(group: type[Any]) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            part.name, Parameter.KEYWORD_ONLY, default=part.default, annotation=hints[part.name]
        )
        for part in fields(group)
    ]


StoreOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        envvar="PLANPROOF_STORE",
        help="Where runs are stored: a file, postgresql://USER@HOST/NAME, or `none`; default: "
        "`store` of the configuration, or .planproof/planproof.db.",
    ),
]
TagOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="NAME=VALUE", help="Tag of a run; can be repeated."),
]
RunArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Run id or prefix, `latest`, or NAME=VALUE for the latest run with this tag.",
    ),
]


@contextmanager
def open_or_create_store(
    url: str | None, configuration: Configuration
) -> Generator[Store, None, None]:
    """Open the store that records a run; create it if it does not exist."""
    from planproof.runs.store.open_store import open_store

    store = open_store(url or configuration.store)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def open_existing_store(
    url: str | None, configuration: Configuration
) -> Generator[Store, None, None]:
    """Open a store for reading runs; a store that is a file must already exist, and be intact."""
    from planproof.runs.store.open_store import resolve_store_file
    from planproof.runs.store.sql_store import SqlStore

    file = resolve_store_file(url or configuration.store)
    if file is not None and not file.exists():
        raise InvalidInput(
            "store not found.",
            where=str(file),
            advice="Create one with `planproof run DATA`, or name another with --store.",
        )
    with open_or_create_store(url, configuration) as store:
        if isinstance(store, SqlStore):
            store.database.check_integrity()
        yield store


DataArgument: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="Files, folders or globs of cases or traces; - reads standard input.",
    ),
]
MapOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=POINTER",
        help="JSON Pointer to task, plan, trace, id or metadata in a record: plan=/meta/plan.",
    ),
]
WhereOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only matching records: team=search, /meta/turns>=10, task~refund, /meta/label.",
    ),
]
SampleOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--sample", metavar="N", min=1, help="Judge a random sample of N cases."),
]
SeedOption: TypeAlias = Annotated[
    int, typer.Option("--seed", metavar="N", help="Seed of the random sample.")
]
LimitOption: TypeAlias = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="Judge only the first N cases.")
]
ShardOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--shard", metavar="I/N", help="Judge part I of N, to split the data over several machines."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """Options that select and map the cases of a data set."""

    map_: MapOption = None
    where: WhereOption = None
    sample: SampleOption = None
    seed: SeedOption = 0
    limit: LimitOption = None
    shard: ShardOption = None

    def make_data_set(
        self, paths: list[str], limits: Limits, profiles: tuple[ProfileReader, ...] = ()
    ) -> DataSet:
        """Build the data set from the paths and the options."""
        from planproof.runs.datasets.data_set import DataSet
        from planproof.runs.datasets.field_mapping import parse_map
        from planproof.runs.datasets.selection import Selection, parse_condition, parse_shard

        files, mapped = self._split_paths_and_mappings(paths)
        return DataSet(
            paths=tuple(files),
            mapping=parse_map(mapped),
            selection=Selection(
                where=tuple(map(parse_condition, self.where or ())),
                sample=self.sample,
                seed=self.seed,
                limit=self.limit,
                shard=None if self.shard is None else parse_shard(self.shard),
            ),
            limits=limits,
            profiles=profiles,
        )

    def make_progress_estimate(
        self, cases: DataSet, tally: SummaryBuilder
    ) -> Callable[[], float | None]:
        """Return a function that estimates the share of the data set done; None if unknown."""
        maximums = [count for count in (self.sample, self.limit) if count is not None]
        if maximums:
            shares = int(self.shard.partition("/")[2]) if self.shard else 1
            return lambda: min(1.0, tally.cases * shares / max(1, min(maximums)))
        size = cases.size()
        # With a cluster engine the data is not read here, so the share is unknown.
        return lambda: cases.bytes_read() / size or None if size else None

    def format_source(self, paths: list[str]) -> str:
        """Return the name of the data set in a run: equal names mean equal cases."""
        files, mapped = self._split_paths_and_mappings(paths)
        words = [path if path == "-" else str(Path(path).absolute()) for path in files]
        words += [f"--map={pair}" for pair in mapped]
        words += [f"--where={condition}" for condition in self.where or ()]
        words += [] if self.sample is None else [f"--sample={self.sample}", f"--seed={self.seed}"]
        words += [] if self.limit is None else [f"--limit={self.limit}"]
        words += [] if self.shard is None else [f"--shard={self.shard}"]
        return shlex.join(words)

    def _split_paths_and_mappings(self, paths: list[str]) -> tuple[list[str], list[str]]:
        """Separate files from mappings: several may follow --map, which are parsed as paths."""
        from planproof.runs.datasets.field_mapping import is_field_mapping

        mappings = self.map_ or []
        trailing_mappings = [path for path in paths if mappings and is_field_mapping(path)]
        return [path for path in paths if path not in trailing_mappings], [
            *mappings,
            *trailing_mappings,
        ]


class Engine(StrEnum):
    """Engine that judges the cases."""

    LOCAL = "local"
    RAY = "ray"


EngineOption: TypeAlias = Annotated[
    Engine, typer.Option("--engine", help="Judge on this machine or on a Ray cluster.")
]
RayAddressOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        metavar="ADDRESS",
        envvar="RAY_ADDRESS",
        show_envvar=False,
        help="Running Ray cluster, HOST:6379 or auto; default: start a local one.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Options that select the engine."""

    engine: EngineOption = Engine.LOCAL
    ray_address: RayAddressOption = None

    def make_remote_engine(
        self, cases: DataSet, evaluator_factory: EvaluatorFactory, run: Run, store: str | None
    ) -> RemoteEngine | None:
        """Make the engine that judges the run on a cluster; None for the local engine."""
        if self.engine is Engine.LOCAL:
            return None
        if evaluator_factory.judge_options.max_cost is not None:
            raise typer.BadParameter(
                "--max-cost can't be enforced across workers; use --engine local."
            )
        from planproof.evaluation import is_async_judge
        from planproof.runs.engines.ray import RayJob, judge_on_ray

        uses_model = is_async_judge(evaluator_factory().judge)
        concurrency = evaluator_factory.judge_options.concurrency
        job = RayJob(
            data=cases,
            make_evaluator=evaluator_factory,
            done_count=run.cases,
            store=None
            if evaluator_factory.judge_options.no_cache
            else self._find_shared_store(store),
            fingerprint=run.fingerprint,
            address=self.ray_address,
            workers=None if uses_model else concurrency,
            concurrency=concurrency if uses_model else 1,
        )
        return partial(judge_on_ray, job)

    def _find_shared_store(self, store: str | None) -> str | None:
        """Return the address of the store if the workers can open it too."""
        from planproof.runs.store.open_store import NULL_STORE, resolve_store_file

        if (file := resolve_store_file(store)) is not None:
            return str(file) if self.ray_address is None else None
        return None if store == NULL_STORE else store


@dataclass(frozen=True, slots=True)
class EvaluatorFactory:
    """Factory for the evaluator of a run, called here and on every worker of a cluster."""

    judge_options: ModelJudgeOptions
    name: str | None
    reader: str | None
    plan_in_force: InForce
    configuration: Configuration
    profiles: tuple[ProfileReader, ...] = ()
    catalogue: Catalogue | None = None

    def __call__(self) -> CaseEvaluator:
        """Make the judge together with its options for reading cases."""
        from planproof.runs.engines.case_judging import CaseEvaluator

        return CaseEvaluator(
            self.judge_options.make_judge(self.name, self.configuration, self.catalogue),
            self.reader,
            self.configuration.vocabulary,
            self.configuration.limits,
            self.plan_in_force,
            self.profiles,
        )
