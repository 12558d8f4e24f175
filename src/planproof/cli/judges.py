"""`planproof judges`: list the available judges."""

from __future__ import annotations

import typer


def judges() -> None:
    """List the judges for --judge.

    Other packages can register judges as entry points in the group `planproof.judges`.
    """
    from planproof.extensions import list_names

    for name in list_names("judges"):
        typer.echo(name)
