"""Which files a data set is made of: files, folders, globs, standard input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import has_magic, iglob
from pathlib import Path

from planproof.errors import InvalidInput
from planproof.runs.datasets.read_extent import Extent

STANDARD_INPUT = "-"
COMPRESSED = (".gz", ".zst")
TABLES = (".csv", ".tsv", ".parquet")
TEXT = (".log", ".txt")
SUFFIXES = (".json", ".jsonl", ".ndjson", ".eval", *TEXT, *TABLES)
"""How the names of files end that are looked for in a folder, compressed or not."""

_BESIDE = ("plan", "task")
_WRITTEN = (".txt", ".md", ".json")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a data set.

    `name` is what messages call it; `id`, for a file from a folder or a glob, what its only case
    is called. `plan` and `task` are the files beside it that hold them. `extent` is told how far
    it has been read.
    """

    path: Path
    name: str
    id: str | None = None
    plan: Path | None = None
    task: Path | None = None
    extent: Extent = field(default_factory=Extent, compare=False)

    @property
    def is_standard_input(self) -> bool:
        """Whether it is the `-` that stands for standard input."""
        return str(self.path) == STANDARD_INPUT

    @property
    def kind(self) -> str:
        """How its name ends, without what says that it is compressed."""
        return _bare(self.path).suffix.lower()


def files_of(places: Sequence[str]) -> Iterator[DataFile]:
    """The files that are meant, in the order they are named, folders and globs by name."""
    for place in places:
        if place != STANDARD_INPUT and not has_magic(place) and not Path(place).exists():
            raise InvalidInput(
                "can't be read: No such file or directory.", where=place, advice="Check the path."
            )
    for place in places:
        path = Path(place)
        if place == STANDARD_INPUT:
            yield DataFile(path, "standard input")
        elif path.is_dir():
            yield from _in_folder(path)
        elif has_magic(place) and not path.exists():
            yield from _in_glob(place)
        else:
            yield _file(path)


def is_single(places: Sequence[str]) -> bool:
    """Whether a data set is one file: then what is wrong with it is wrong with all."""
    [first, *more] = places
    path = Path(first)
    return not more and not path.is_dir() and (path.exists() or not has_magic(first))


def can_be_read_again(place: str) -> bool:
    """Whether what stands there can be read twice: not what comes through a pipe."""
    return place != STANDARD_INPUT and not Path(place).is_fifo()


def _in_folder(folder: Path) -> Iterator[DataFile]:
    found = False
    for path in _walk(folder):
        if path.suffix and _bare(path).suffix.lower() in SUFFIXES and not _is_beside(path):
            found = True
            yield _file(path, id_=_stem(path).relative_to(folder).as_posix())
    if not found:
        raise InvalidInput(
            "has no file of cases or traces in it.",
            where=str(folder),
            advice=f"They are those whose names end in {', '.join(SUFFIXES)}, or with .gz or .zst "
            "behind; name files of other names yourself.",
        )


def _in_glob(pattern: str) -> Iterator[DataFile]:
    found = False
    for place in sorted(iglob(pattern, recursive=True)):  # noqa: PTH207 - Path takes no absolute one
        path = Path(place)
        if path.is_file() and not _is_beside(path):
            found = True
            yield _file(path, id_=_stem(path).as_posix())
    if not found:
        raise InvalidInput("no file matches.", where=pattern, advice="Check the pattern.")


def _walk(folder: Path) -> Iterator[Path]:
    """The files in a folder and below it, by name; neither hidden ones nor links to folders."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InvalidInput(f"can't be read: {error.strerror}.", where=str(folder)) from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _walk(entry)
        elif entry.is_file():
            yield entry


def _file(path: Path, id_: str | None = None) -> DataFile:
    plan, task = (_beside(path, what) for what in _BESIDE)
    return DataFile(path, str(path), id_, plan, task)


def _beside(path: Path, what: str) -> Path | None:
    """The file `NAME.plan.txt` (or `.md`, `.json`) that stands beside `NAME.json`."""
    stem = _stem(path)
    places = (stem.with_name(f"{stem.name}.{what}{suffix}") for suffix in _WRITTEN)
    return next((place for place in places if place.is_file()), None)


def _is_beside(path: Path) -> bool:
    """Whether a file holds the plan or the task of another one."""
    return path.suffix in _WRITTEN and Path(path.stem).suffix[1:] in _BESIDE


def _bare(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


def _stem(path: Path) -> Path:
    return _bare(path).with_suffix("")
