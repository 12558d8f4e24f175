"""Options of the engine that judges a run: this machine, or a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from planproof.cli.model_options import AskingOptions

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.plan import InForce
    from planproof.runs.datasets.data_set import DataSet
    from planproof.runs.engines.case_judging import Judging
    from planproof.runs.execution import Elsewhere
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

    def elsewhere(
        self, cases: DataSet, making: MakingJudge, run: Run, store: str | None
    ) -> Elsewhere | None:
        """What judges the run on a cluster; None where this machine does."""
        if self.engine is Engine.LOCAL:
            return None
        if making.asked.max_cost is not None:
            raise typer.BadParameter(
                "--max-cost can't be held over several workers: use --engine local."
            )
        from planproof.evaluation import awaits
        from planproof.runs.engines.ray import RayJob, judged_on_ray

        asks = awaits(making().judge)
        at_once = making.asked.concurrency
        job = RayJob(
            data=cases,
            judging=making,
            done=run.cases,
            store=None if making.asked.no_cache else self._reachable(store),
            fingerprint=run.fingerprint,
            address=self.ray_address,
            workers=None if asks else at_once,
            at_once=at_once if asks else 1,
        )
        return partial(judged_on_ray, job)

    def _reachable(self, store: str | None) -> str | None:
        """The address of the store, if the workers can open it as well."""
        from planproof.runs.store.open_store import NONE, file_of

        if (file := file_of(store)) is not None:
            return str(file) if self.ray_address is None else None
        return None if store == NONE else store


@dataclass(frozen=True, slots=True)
class MakingJudge:
    """Makes the judge of a run, here and on every worker of a cluster."""

    asked: AskingOptions
    name: str | None
    reader: str | None
    plan_in_force: InForce
    configuration: Configuration

    def __call__(self) -> Judging:
        """The judge, and how it reads cases."""
        from planproof.runs.engines.case_judging import Judging

        return Judging(
            self.asked.judge(self.name, self.configuration),
            self.reader,
            self.configuration.vocabulary,
            self.configuration.limits,
            self.plan_in_force,
        )
