"""Input of the commands: files or standard input, and the configuration."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal, TypeAlias

import typer

from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.limits import Limits
    from planproof.core.trace import Trace
    from planproof.evaluation import ReadOptions
    from planproof.readers.decoding.source import Source
    from planproof.readers.profile_reader import ProfileReader
    from planproof.runs.datasets.data_set import DataSet

ConfigOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration file; default: the nearest planproof.toml or pyproject.toml.",
    ),
]
JudgeOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--judge", metavar="NAME", help="Judge to use; `planproof judges` lists them."),
]
ReaderOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--reader",
        metavar="NAME",
        help="Trace reader; default: detect it. `planproof readers` lists them.",
    ),
]
ProfileOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--profile",
        metavar="FILE",
        help="Profile of your own format, or a folder of them; asked before all other readers. "
        "Can be given several times.",
    ),
]
TaskOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--task", metavar="FILE", help="The user task; default: the first user message."),
]
PlanOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--plan", metavar="FILE", help="The agent's plan; default: the plan declared in the trace."
    ),
]
PickOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--pick",
        metavar="ID",
        help="Id or number of a trace in a file with several; `planproof inspect` lists them.",
    ),
]
InForceOption: TypeAlias = Annotated[
    Literal["first", "latest"],
    typer.Option(
        "--plan-in-force",
        help="If a trace has several plans: judge by the first, or by each until the next.",
    ),
]
MinScoreOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--min-score", metavar="X", min=0, max=1, help="Exit with code 1 below this score."
    ),
]
MinConfidenceOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--min-confidence",
        metavar="X",
        min=0,
        max=1,
        help="Exit with code 3 if the confidence is below this, or there is none; default: "
        "`min_confidence` of the configuration.",
    ),
]
MinPassOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--min-score",
        metavar="X",
        min=0,
        max=1,
        help="Minimum score to pass; default: `min_score` of the configuration, or 0.75.",
    ),
]


def is_standard_input(path: Path) -> bool:
    """Return True if the path is `-`, which means standard input."""
    return str(path) == "-"


def format_input_name(path: Path) -> str:
    """Return the name of an input for messages."""
    return "standard input" if is_standard_input(path) else str(path)


def read_bytes(path: Path, limits: Limits) -> bytes:
    """Read a file or standard input completely, up to the size limit."""
    with open_input(path) as file:
        try:
            data = file.read(limits.bytes + 1)
        except OSError as error:
            raise _make_read_error(path, error) from error
    if len(data) > limits.bytes:
        raise InvalidInput(
            f"has more than {limits.bytes:,} bytes.",
            where=format_input_name(path),
            advice="Increase `max_bytes` under `limits` in the configuration, or split the file.",
        )
    return data


def read_source(path: Path, limits: Limits) -> Source:
    """Read a trace, several traces, or the trace of a case from a file or standard input."""
    from planproof.core.json_values import is_object
    from planproof.readers.decoding.source import Source

    source = Source.from_bytes(
        read_bytes(path, limits), name=format_input_name(path), limits=limits
    )
    if is_object(source.document) and "execution_trace" in source.document:
        location = f"{source.name}, execution_trace"
        return Source.from_value(source.document["execution_trace"], name=location, limits=limits)
    return source


def read_text(path: Path, limits: Limits) -> str:
    """Read the text of a file or standard input."""
    try:
        return read_bytes(path, limits).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"byte {error.start} is not valid UTF-8.",
            where=format_input_name(path),
            advice="Save the file as UTF-8 text.",
        ) from error


@contextmanager
def open_input(path: Path) -> Generator[BinaryIO, None, None]:
    """Open a file or standard input for reading in chunks."""
    if is_standard_input(path):
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise _make_read_error(path, error) from error
    with file:
        yield file


def _make_read_error(path: Path, error: OSError) -> InvalidInput:
    """Return the error for a file that can't be opened or read."""
    return InvalidInput(
        f"can't be read: {error.strerror}.",
        where=format_input_name(path),
        advice="Check the path.",
    )


def load_config(path: Path | None, start: Path | None = None) -> Configuration:
    """Load the configuration, and print to standard error which file it came from.

    Without `path`, use the nearest configuration file at or above `start` (default: current
    folder).
    """
    from planproof.config import find_configuration, read_configuration

    configuration = (
        find_configuration(start or Path.cwd()) if path is None else read_configuration(path)
    )
    if configuration.path is not None:
        typer.echo(f"planproof: using {configuration.path}", err=True)
    return configuration


def load_profiles(
    paths: list[Path] | None, configuration: Configuration
) -> tuple[ProfileReader, ...]:
    """Read the profiles given with --profile, then those of the configuration.

    Where two have the same name, the one given with the option is used.
    """
    from planproof.readers.profile_files import read_profiles

    given = read_profiles(paths or ())
    names = {reader.name for reader in given}
    configured = read_profiles(configuration.profiles)
    return (*given, *(reader for reader in configured if reader.name not in names))


def resolve_passing_score(min_score: float | None, configuration: Configuration) -> float:
    """Return the passing score: the option, the configured value, or the default."""
    from planproof.runs.summary import PASSING_SCORE

    score = configuration.min_score if min_score is None else min_score
    return PASSING_SCORE if score is None else score


def read_traces(cases: DataSet, options: ReadOptions) -> Iterator[Trace]:
    """Yield the traces of a data set; those that can't be read are counted and left out."""
    from planproof.evaluation import read_trace_and_task

    unread = 0
    for _, line in cases:
        try:
            if line.case is None:
                raise line.error or InvalidInput("has no case.", where=line.where)
            yield read_trace_and_task(line.case, options)[1]
        except InvalidInput:
            unread += 1
    if unread:
        typer.echo(f"planproof: {unread} traces could not be read", err=True)
