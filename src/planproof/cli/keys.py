"""`planproof keys`: add, list and remove API keys of a server."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from planproof.cli.exit_codes import handle_errors
from planproof.cli.inputs import ConfigOption, load_config
from planproof.cli.options import StoreOption

if TYPE_CHECKING:
    from planproof.server.guard.api_keys import Keys

NameArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the key, for example its user.")
]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Create, list and remove the API keys of a server.\n\n"
    "Keys are stored as hashes in the store of the server: a key is shown only once, when it is "
    "created.",
)


def add(
    name: NameArgument,
    *,
    role: Annotated[
        Literal["read", "write"],
        typer.Option("--role", help="`read` allows viewing, `write` allows everything."),
    ] = "read",
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Create a key and print it. It is not shown again.

    \b
    planproof keys add ci --role write
    planproof keys add dashboard --store postgresql://eval@db/planproof

    Exit code: 0 created, 2 bad usage or input.
    """
    from planproof.server.guard.api_keys import Role

    with _open_keys(store, config) as keys:
        key = keys.add(name, Role(role))
    typer.echo(key)
    typer.echo("planproof: store this key now, it is not shown again", err=True)


def list_(*, store: StoreOption = None, config: ConfigOption = None) -> None:
    """List the keys: name, role, and time of creation (UTC).

    \b
    planproof keys list

    Exit code: 0 listed, 2 bad usage or input.
    """
    with _open_keys(store, config) as keys:
        all_keys = keys.list_all()
    if not all_keys:
        typer.echo("planproof: no keys", err=True)
    width = max((len(key.name) for key in all_keys), default=0)
    for key in all_keys:
        typer.echo(f"{key.name:{width}}  {key.role.value:5}  {key.created:%Y-%m-%d %H:%M}")


def remove(name: NameArgument, *, store: StoreOption = None, config: ConfigOption = None) -> None:
    """Remove a key. Running servers reject it within seconds.

    \b
    planproof keys remove ci

    Exit code: 0 removed, 2 bad usage or input.
    """
    with _open_keys(store, config) as keys:
        keys.remove(name)


@contextmanager
def _open_keys(store: str | None, config: ConfigOption) -> Generator[Keys, None, None]:
    from planproof.runs.store.open_store import open_sql_store
    from planproof.server.guard.api_keys import Keys

    sql_store = open_sql_store(store or load_config(config).store)
    try:
        yield Keys(sql_store.database)
    finally:
        sql_store.close()


app.command()(handle_errors(add))
app.command("list")(handle_errors(list_))
app.command()(handle_errors(remove))
