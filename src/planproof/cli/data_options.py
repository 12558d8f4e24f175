"""Options of the data set that a run is over, and what they come to."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from planproof.core.limits import Limits
    from planproof.runs.datasets.data_set import DataSet
    from planproof.runs.summary import SummaryBuilder

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
        help="Where task, plan, trace, id or metadata stand in a record, as plan=/meta/plan.",
    ),
]
WhereOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only records like this: team=search, /meta/turns>=10, task~refund, /meta/label.",
    ),
]
SampleOption: TypeAlias = Annotated[
    int | None, typer.Option("--sample", metavar="N", min=1, help="So many of them, by chance.")
]
SeedOption: TypeAlias = Annotated[
    int, typer.Option("--seed", metavar="N", help="Another seed draws another sample.")
]
LimitOption: TypeAlias = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="The first so many.")
]
ShardOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="The I-th of N shares, for several machines."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataOptions:
    """What was said on the command line about the data set."""

    map_: MapOption = None
    where: WhereOption = None
    sample: SampleOption = None
    seed: SeedOption = 0
    limit: LimitOption = None
    shard: ShardOption = None

    def make_data_set(self, paths: list[str], limits: Limits) -> DataSet:
        """The data set that is meant."""
        from planproof.runs.datasets.data_set import DataSet
        from planproof.runs.datasets.field_mapping import parse_map
        from planproof.runs.datasets.selection import Selection, parse_shard
        from planproof.runs.datasets.where_conditions import parse_condition

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
        )

    def make_progress_estimate(
        self, cases: DataSet, tally: SummaryBuilder
    ) -> Callable[[], float | None]:
        """Says how much of the data set is done, as far as that can be known."""
        maximums = [count for count in (self.sample, self.limit) if count is not None]
        if maximums:
            shares = int(self.shard.partition("/")[2]) if self.shard else 1
            return lambda: min(1.0, tally.cases * shares / max(1, min(maximums)))
        size = cases.size()
        # On a cluster nothing is read here, and nobody knows.
        return lambda: cases.bytes_read() / size or None if size else None

    def format_source(self, paths: list[str]) -> str:
        """What the cases are called in a run: the same words mean the same cases."""
        files, mapped = self._split_paths_and_mappings(paths)
        words = [path if path == "-" else str(Path(path).absolute()) for path in files]
        words += [f"--map={pair}" for pair in mapped]
        words += [f"--where={condition}" for condition in self.where or ()]
        words += [] if self.sample is None else [f"--sample={self.sample}", f"--seed={self.seed}"]
        words += [] if self.limit is None else [f"--limit={self.limit}"]
        words += [] if self.shard is None else [f"--shard={self.shard}"]
        return shlex.join(words)

    def _split_paths_and_mappings(self, paths: list[str]) -> tuple[list[str], list[str]]:
        """Files and mappings: --map may be followed by several, which were taken for files."""
        from planproof.runs.datasets.field_mapping import is_field_mapping

        mappings = self.map_ or []
        trailing_mappings = [path for path in paths if mappings and is_field_mapping(path)]
        return [path for path in paths if path not in trailing_mappings], [
            *mappings,
            *trailing_mappings,
        ]
