"""`planproof readers`: which formats of traces are known."""

from __future__ import annotations

import typer

_WIDTH = 80


def readers() -> None:
    """List the readers, for --reader, and what each of them reads.

    More can be registered by other packages, as entry points in the group `planproof.readers`;
    they are asked before the built-in ones.
    """
    from textwrap import wrap

    from planproof.extensions import registered

    names = registered("readers")
    widest = max(map(len, names))
    for name in names:
        first, *rest = wrap(_told(name), _WIDTH - widest - 2) or [""]
        typer.echo(f"{name:<{widest}}  {first}".rstrip())
        for line in rest:
            typer.echo(f"{'':<{widest}}  {line}")


def _told(name: str) -> str:
    """What a reader reads, as it says itself; and where one from elsewhere comes from."""
    from planproof.errors import UnknownName
    from planproof.extensions import package_of
    from planproof.readers.recognition import reader_named
    from planproof.reports.plain_text import one_line

    package = package_of("readers", name)
    try:
        said = (reader_named(name).__doc__ or "").strip().partition("\n")[0]
    except UnknownName as error:
        said = f"Left out: {error.what}"
    return one_line(f"{said} (from {package})" if package else said)
