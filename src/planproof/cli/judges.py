"""`planproof judges`: list the available judges."""

from __future__ import annotations

import typer


def judges() -> None:
    """List the judges, for --judge.

    More can be registered by other packages, as entry points in the group `planproof.judges`.
    """
    from planproof.extensions import list_names

    for name in list_names("judges"):
        typer.echo(name)
