"""`planproof readers`: list the supported trace formats."""

from __future__ import annotations

import typer

_WIDTH = 80


def readers() -> None:
    """List the readers for --reader, and the formats they read.

    Formats marked as profiles are described by data, not by code: `planproof profile show NAME`
    prints one, and a profile of your own adds a format. Other packages can register readers as
    entry points in the group `planproof.readers`; those are tried before the built-in ones.
    """
    from textwrap import wrap

    from planproof.readers.recognition import list_readers

    names = list_readers()
    widest = max(map(len, names))
    for name in names:
        first, *rest = wrap(_describe_reader(name), _WIDTH - widest - 2) or [""]
        typer.echo(f"{name:<{widest}}  {first}".rstrip())
        for line in rest:
            typer.echo(f"{'':<{widest}}  {line}")


def _describe_reader(name: str) -> str:
    """Return the title of a profile, or the first docstring line of a reader and its package."""
    from planproof.errors import UnknownName
    from planproof.extensions import find_package
    from planproof.readers.profile_reader import ProfileReader
    from planproof.readers.recognition import load_reader
    from planproof.reports.plain_text import to_one_line

    package = find_package("readers", name)
    try:
        reader = load_reader(name)
        if isinstance(reader, ProfileReader):
            return to_one_line(f"Profile: {reader.profile.title}")
        summary = (reader.__doc__ or "").strip().partition("\n")[0]
    except UnknownName as error:
        summary = f"Not available: {error.what}"
    return to_one_line(f"{summary} (from {package})" if package else summary)
