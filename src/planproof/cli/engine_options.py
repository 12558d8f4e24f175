"""Options of the engine that judges a run: this machine, or a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from planproof.cli.model_options import ModelJudgeOptions

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.plan import InForce
    from planproof.runs.datasets.data_set import DataSet
    from planproof.runs.engines.case_judging import CaseEvaluator
    from planproof.runs.execution import RemoteEngine
    from planproof.runs.run_records import Run


class Engine(StrEnum):
    """Where cases are judged."""

    LOCAL = "local"
    RAY = "ray"


EngineOption: TypeAlias = Annotated[
    Engine, typer.Option("--engine", help="Where cases are judged: here, or on a Ray cluster.")
]
RayAddressOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        metavar="ADDRESS",
        envvar="RAY_ADDRESS",
        show_envvar=False,
        help="A cluster that is running, as HOST:6379 or auto; without it, one is started here.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """What was said on the command line about where to judge."""

    engine: EngineOption = Engine.LOCAL
    ray_address: RayAddressOption = None

    def make_remote_engine(
        self, cases: DataSet, evaluator_factory: EvaluatorFactory, run: Run, store: str | None
    ) -> RemoteEngine | None:
        """What judges the run on a cluster; None where this machine does."""
        if self.engine is Engine.LOCAL:
            return None
        if evaluator_factory.judge_options.max_cost is not None:
            raise typer.BadParameter(
                "--max-cost can't be held over several workers: use --engine local."
            )
        from planproof.evaluation import is_async_judge
        from planproof.runs.engines.ray import RayJob, judge_on_ray

        asks = is_async_judge(evaluator_factory().judge)
        at_once = evaluator_factory.judge_options.concurrency
        job = RayJob(
            data=cases,
            make_evaluator=evaluator_factory,
            done_count=run.cases,
            store=None
            if evaluator_factory.judge_options.no_cache
            else self._find_shared_store(store),
            fingerprint=run.fingerprint,
            address=self.ray_address,
            workers=None if asks else at_once,
            concurrency=at_once if asks else 1,
        )
        return partial(judge_on_ray, job)

    def _find_shared_store(self, store: str | None) -> str | None:
        """The address of the store, if the workers can open it as well."""
        from planproof.runs.store.open_store import NULL_STORE, resolve_store_file

        if (file := resolve_store_file(store)) is not None:
            return str(file) if self.ray_address is None else None
        return None if store == NULL_STORE else store


@dataclass(frozen=True, slots=True)
class EvaluatorFactory:
    """Makes the judge of a run, here and on every worker of a cluster."""

    judge_options: ModelJudgeOptions
    name: str | None
    reader: str | None
    plan_in_force: InForce
    configuration: Configuration

    def __call__(self) -> CaseEvaluator:
        """The judge, and how it reads cases."""
        from planproof.runs.engines.case_judging import CaseEvaluator

        return CaseEvaluator(
            self.judge_options.make_judge(self.name, self.configuration),
            self.reader,
            self.configuration.vocabulary,
            self.configuration.limits,
            self.plan_in_force,
        )
