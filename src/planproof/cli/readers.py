"""`planproof readers`: which formats of traces are known."""

from __future__ import annotations

import typer


def readers() -> None:
    """List the readers, for --reader.

    More can be registered by other packages, as entry points in the group `planproof.readers`.
    """
    from planproof.extensions import registered

    for name in registered("readers"):
        typer.echo(name)
