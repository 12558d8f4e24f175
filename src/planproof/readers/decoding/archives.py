"""Read the ZIP archives that Inspect writes its logs into, with one sample per entry."""

from __future__ import annotations

import io
import zipfile
import zlib

from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.json_parsing import limit_error

_ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
_ENTRY_SIGNATURE = b"PK\x01\x02"
_ZSTANDARD = 93
_ENCRYPTED_FLAG = 0x1
# The limit for a log, as a multiple of that for one trace: it is never unpacked all at once.
_UNPACK_FACTOR = 16


def is_archive(data: bytes) -> bool:
    """Return whether the bytes are a ZIP file."""
    return data.startswith(_ZIP_SIGNATURES)


class Archive:
    """The samples of an Inspect log, read into memory one at a time, within the limits."""

    def __init__(self, data: bytes, name: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        # Counted before parsing: a parsed directory takes more memory than its bytes.
        if data.count(_ENTRY_SIGNATURE) > limits.entries:
            raise InvalidInput(
                f"is an archive with more than {limits.entries:,} entries.",
                where=name,
                advice="Split the log.",
            )
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise _invalid_archive_error(name, error) from error
        self._samples = [
            entry
            for entry in self._file.infolist()
            if entry.filename.startswith("samples/") and entry.filename.endswith(".json")
        ]
        if not self._samples:
            raise InvalidInput(
                "is a ZIP archive without samples of an Inspect log.",
                where=name,
                advice="Unpack it and pass the trace file.",
            )
        unpacked = sum(entry.file_size for entry in self._samples)
        if unpacked > limits.bytes * _UNPACK_FACTOR:
            raise limit_error(
                f"unpacks to {unpacked:,} bytes, more than {_UNPACK_FACTOR} times the limit of "
                f"{limits.bytes:,}.",
                name,
            )

    @property
    def sample_names(self) -> list[str]:
        """The names of the samples: `<id>_epoch_<n>`."""
        return [_strip_sample_path(entry.filename) for entry in self._samples]

    def read_sample(self, number: int) -> bytes:
        """Return the bytes of one sample, within the limit whatever size the archive declares."""
        entry = self._samples[number]
        where = f"{self.name}#{_strip_sample_path(entry.filename)}"
        if entry.flag_bits & _ENCRYPTED_FLAG:
            raise InvalidInput(
                "is encrypted.", where=where, advice="Write the log without encryption."
            )
        try:
            with self._file.open(entry) as file:
                data = file.read(self.limits.bytes + 1)
        except NotImplementedError as error:
            method = "Zstandard" if entry.compress_type == _ZSTANDARD else "an unknown method"
            raise InvalidInput(
                f"is compressed with {method}, which this Python can't decompress.",
                where=where,
                advice="Write the log as JSON: `inspect log convert --to json`.",
            ) from error
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError) as error:
            raise _invalid_archive_error(where, error) from error
        if len(data) > self.limits.bytes:
            raise limit_error(
                f"unpacks to more than the limit of {self.limits.bytes:,} bytes.", where
            )
        return data


def _invalid_archive_error(where: str, error: Exception) -> InvalidInput:
    what, advice = f"is a ZIP archive that can't be read: {error}.", "It may be truncated."
    return InvalidInput(what, where=where, advice=advice)


def _strip_sample_path(name: str) -> str:
    return name.removeprefix("samples/").removesuffix(".json")
