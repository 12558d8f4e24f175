"""Find and open the files of a data set: files, folders, globs, standard input."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import has_magic, iglob
from pathlib import Path
from typing import IO, Any, cast

from planproof.errors import InvalidInput
from planproof.readers.decoding.rewinding import Readable, RewoundFile


@dataclass(slots=True)
class ReadProgress:
    """Counts the bytes read from finished files and from the open one."""

    bytes_done: int = 0
    _open: IO[bytes] | None = None

    @contextmanager
    def track(self, file: IO[bytes]) -> Generator[None, None, None]:
        """Track the read position of a file while it is open."""
        self._open = file
        try:
            yield
        finally:
            self._open = None

    @property
    def bytes_read(self) -> int:
        """Number of bytes read."""
        return self.bytes_done + (0 if self._open is None else self._open.tell())


def get_file_size(path: Path) -> int:
    """Return the size of a file in bytes; 0 if it can't be determined."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


STANDARD_INPUT = "-"
COMPRESSED_SUFFIXES = (".gz", ".zst")
TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")
TEXT_SUFFIXES = (".log", ".txt")
SUFFIXES = (".json", ".jsonl", ".ndjson", ".eval", *TEXT_SUFFIXES, *TABLE_SUFFIXES)
"""Suffixes of the files searched for in a folder, compressed or not."""

_SIDECAR_PARTS = ("plan", "task")
_SIDECAR_SUFFIXES = (".txt", ".md", ".json")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a data set.

    `name` is used in messages; `id` names the only case of a file from a folder or a glob. `plan`
    and `task` are its sidecar files. `progress` tracks how far it has been read.
    """

    path: Path
    name: str
    id: str | None = None
    plan: Path | None = None
    task: Path | None = None
    progress: ReadProgress = field(default_factory=ReadProgress, compare=False)

    @property
    def is_standard_input(self) -> bool:
        """True for `-`, standard input."""
        return str(self.path) == STANDARD_INPUT

    @property
    def suffix(self) -> str:
        """The suffix of the name, without that of a compression."""
        return _strip_compression_suffix(self.path).suffix.lower()


def find_files(paths: Sequence[str]) -> Iterator[DataFile]:
    """Yield the files in the order given, with folders and globs sorted by name."""
    check_paths(paths)
    for name in paths:
        path = Path(name)
        if name == STANDARD_INPUT:
            yield DataFile(path, "standard input")
        elif path.is_dir():
            yield from _find_in_folder(path)
        elif has_magic(name) and not path.exists():
            yield from _find_in_glob(name)
        else:
            yield _make_data_file(path)


def check_paths(paths: Sequence[str]) -> None:
    """Raise an error if a file or folder does not exist."""
    for name in paths:
        if name != STANDARD_INPUT and not has_magic(name) and not Path(name).exists():
            raise InvalidInput(
                "can't be read: No such file or directory.", where=name, advice="Check the path."
            )


def is_single(paths: Sequence[str]) -> bool:
    """Return True if the data set is a single file: then an error in it is fatal."""
    [first, *more] = paths
    path = Path(first)
    return not more and not path.is_dir() and (path.exists() or not has_magic(first))


def can_be_read_again(name: str) -> bool:
    """Return True if the path can be read twice, unlike a pipe."""
    return name != STANDARD_INPUT and not Path(name).is_fifo()


def _find_in_folder(folder: Path) -> Iterator[DataFile]:
    has_files = False
    for path in _walk(folder):
        if (
            path.suffix
            and _strip_compression_suffix(path).suffix.lower() in SUFFIXES
            and not _is_sidecar(path)
        ):
            has_files = True
            yield _make_data_file(path, id_=_strip_suffixes(path).relative_to(folder).as_posix())
    if not has_files:
        raise InvalidInput(
            "contains no case or trace files.",
            where=str(folder),
            advice=f"Files in a folder are found by suffix: {', '.join(SUFFIXES)}, also followed "
            "by .gz or .zst. Pass other files by name.",
        )


def _find_in_glob(pattern: str) -> Iterator[DataFile]:
    has_files = False
    for name in sorted(iglob(pattern, recursive=True)):  # noqa: PTH207 - Path takes no absolute one
        path = Path(name)
        if path.is_file() and not _is_sidecar(path):
            has_files = True
            yield _make_data_file(path, id_=_strip_suffixes(path).as_posix())
    if not has_files:
        raise InvalidInput("no file matches.", where=pattern, advice="Check the pattern.")


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder by name, without hidden ones and links to folders."""
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


def _make_data_file(path: Path, id_: str | None = None) -> DataFile:
    plan, task = (_find_sidecar(path, part) for part in _SIDECAR_PARTS)
    return DataFile(path, str(path), id_, plan, task)


def _find_sidecar(path: Path, part: str) -> Path | None:
    """Return the file `NAME.plan.txt` (or `.md`, `.json`) next to `NAME.json`, if any."""
    stem = _strip_suffixes(path)
    candidates = (stem.with_name(f"{stem.name}.{part}{suffix}") for suffix in _SIDECAR_SUFFIXES)
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _is_sidecar(path: Path) -> bool:
    """Return True if a file holds the plan or the task of another one."""
    return path.suffix in _SIDECAR_SUFFIXES and Path(path.stem).suffix[1:] in _SIDECAR_PARTS


def _strip_compression_suffix(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED_SUFFIXES else path


def _strip_suffixes(path: Path) -> Path:
    return _strip_compression_suffix(path).with_suffix("")


_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@contextmanager
def open_data_file(file: DataFile) -> Generator[Readable, None, None]:
    """Open a file for reading once from its start; errors become `InvalidInput`."""
    try:
        if file.is_standard_input:
            yield _decompress(sys.stdin.buffer, file.name)
            return
        with file.path.open("rb") as raw, file.progress.track(raw):
            yield _decompress(raw, file.name)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _make_decompression_error(file.name, error) from error
    except OSError as error:
        raise InvalidInput(
            f"can't be read: {error.strerror or error}.", where=file.name, advice="Check the path."
        ) from error
    except Exception as error:
        # The module is imported only when needed, and its error has no specific base class.
        if type(error).__name__ == "ZstdError":
            raise _make_decompression_error(file.name, error) from error
        raise


def _decompress(file: IO[bytes], name: str) -> Readable:
    head = file.read(len(_ZSTD))
    rewound = RewoundFile(head, file)
    if head.startswith(_GZIP):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=cast("Any", rewound)))
    if head.startswith(_ZSTD):
        return _open_zstd(rewound, name)
    return rewound


def _open_zstd(file: Readable, name: str) -> Readable:
    try:
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdFile  # noqa: PLC0415 - when used
        else:
            from backports.zstd import ZstdFile  # noqa: PLC0415 - in an extra
    except ImportError as error:
        raise InvalidInput(
            "is compressed with zstd, and zstd support is not installed.",
            where=name,
            advice="Install it with pip install 'planproof[zstd]'.",
        ) from error
    return cast("IO[bytes]", ZstdFile(cast("Any", file)))


def _make_decompression_error(name: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"can't be decompressed: {error}.",
        where=name,
        advice="Copy the file again; it may be truncated.",
    )
