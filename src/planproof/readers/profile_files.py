"""Read the profiles that users write: files, and folders of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planproof.errors import InvalidInput, UnknownName, did_you_mean
from planproof.readers.decoding.yaml_files import read_yaml_text

if TYPE_CHECKING:
    from planproof.readers.profile_reader import ProfileReader

PROFILE_SUFFIXES = (".yaml", ".yml")


def read_profiles(profiles: Iterable[Path | ProfileReader]) -> tuple[ProfileReader, ...]:
    """Return the readers of profiles, given as files, as folders of files, or as readers.

    A name may be given once only: a verdict names the reader of its trace.
    """
    readers: dict[str, tuple[ProfileReader, str]] = {}
    for reader, where in _iter_profiles(profiles):
        if reader.name in readers:
            raise InvalidInput(
                f"there is another profile with the name `{reader.name}`: "
                f"{readers[reader.name][1]}.",
                where=where,
                advice="Give each profile its own name.",
            )
        readers[reader.name] = reader, where
    return tuple(reader for reader, _ in readers.values())


def _iter_profiles(
    profiles: Iterable[Path | ProfileReader],
) -> Iterator[tuple[ProfileReader, str]]:
    for profile in profiles:
        if isinstance(profile, Path):
            for file in _list_files(profile):
                yield read_profile(file), str(file)
        else:
            yield profile, f"the profile {profile.name}"


def _list_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in PROFILE_SUFFIXES)
    if not files:
        raise InvalidInput(
            "contains no profiles.", where=str(path), advice="Their names end in .yaml or .yml."
        )
    return files


def read_profile(path: Path) -> ProfileReader:
    """Read one profile file."""
    from planproof.readers.profile_reader import (  # noqa: PLC0415 - only where there are profiles
        ProfileReader,
        parse_profile,
    )

    return ProfileReader(parse_profile(read_yaml_text(path), name=str(path)))


def read_built_in_text(name: str) -> str:
    """Return the text of the file of a built-in profile, which has the profile's name."""
    from planproof.readers.profile_reader import (  # noqa: PLC0415 - only where there are profiles
        load_built_in_profiles,
    )

    if name not in load_built_in_profiles():
        raise UnknownName(
            f"there is no built-in profile `{name}`.",
            advice=did_you_mean(name, load_built_in_profiles()),
        )
    folder = files("planproof.readers").joinpath("profiles")
    return folder.joinpath(f"{name}.yaml").read_text("utf-8")


def build_profile_schema() -> dict[str, Any]:
    """Return the JSON schema of a profile file."""
    from msgspec.json import schema  # noqa: PLC0415 - only for the schema

    from planproof.readers.profile import Profile  # noqa: PLC0415 - only where there are profiles

    return schema(Profile)
