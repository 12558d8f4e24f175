"""Opening a file of a data set, unpacked on the way if it is packed with gzip or zstd."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, Any, cast

from planproof.errors import InvalidInput
from planproof.readers.decoding.rewinding import Readable, RewoundFile
from planproof.runs.datasets.dataset_files import DataFile

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@contextmanager
def open_data_file(file: DataFile) -> Generator[Readable, None, None]:
    """A file, to be read once from its beginning; what goes wrong with it is `InvalidInput`."""
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
        # The module is there only where it was needed, and its error has no base of its own.
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
            "is packed with zstd.",
            where=name,
            advice="Install what unpacks it: pip install 'planproof[zstd]'.",
        ) from error
    return cast("IO[bytes]", ZstdFile(cast("Any", file)))


def _make_decompression_error(name: str, error: Exception) -> InvalidInput:
    return InvalidInput(
        f"can't be unpacked: {error}.",
        where=name,
        advice="Copy it again; it may have been cut off.",
    )
