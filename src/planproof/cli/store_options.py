"""Where the commands keep runs and find them again."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.runs.store.store_protocol import Store

StoreOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        envvar="PLANPROOF_STORE",
        help="Where runs are kept: a file, postgresql://USER@HOST/NAME, or `none`. "
        "Without it: `store` of the configuration, or .planproof/planproof.db.",
    ),
]
TagOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="NAME=VALUE", help="Tag of a run; can be given several times."),
]
RunArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Id of a run, the beginning of it, `latest`, or NAME=VALUE: the last with this tag.",
    ),
]


@contextmanager
def open_or_create_store(
    url: str | None, configuration: Configuration
) -> Generator[Store, None, None]:
    """The store in which a run is kept; it is made if need be."""
    from planproof.runs.store.open_store import open_store

    store = open_store(url or configuration.store)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def open_existing_store(
    url: str | None, configuration: Configuration
) -> Generator[Store, None, None]:
    """The store in which runs are looked up; one that is a file must be there already."""
    from planproof.runs.store.open_store import resolve_store_file

    file = resolve_store_file(url or configuration.store)
    if file is not None and not file.exists():
        raise InvalidInput(
            "there is no store.",
            where=str(file),
            advice="`planproof run DATA` makes one; --store names another.",
        )
    with open_or_create_store(url, configuration) as store:
        yield store
