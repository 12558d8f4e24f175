"""Where the commands keep runs and find them again."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.runs.nouns import Run
    from planproof.runs.store.protocol import Store

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


def tags_of(given: list[str] | None) -> dict[str, str]:
    """The tags that options name."""
    tags: dict[str, str] = {}
    for each in given or ():
        name, separator, value = each.partition("=")
        if not separator or not name:
            raise typer.BadParameter(f"`{each}` is no tag: write NAME=VALUE.")
        tags[name] = value
    return tags


@contextmanager
def new_store(url: str | None, configuration: Configuration) -> Generator[Store, None, None]:
    """The store in which a run is kept; it is made if need be."""
    from planproof.runs.store.opening import open_store

    store = open_store(url or configuration.store)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def opened_store(url: str | None, configuration: Configuration) -> Generator[Store, None, None]:
    """The store in which runs are looked up; one that is a file must be there already."""
    from planproof.runs.store.opening import file_of

    file = file_of(url or configuration.store)
    if file is not None and not file.exists():
        raise InvalidInput(
            "there is no store.",
            where=str(file),
            advice="`planproof run DATA` makes one; --store names another.",
        )
    with new_store(url, configuration) as store:
        yield store


def named_run(store: Store, name: str) -> Run:
    """The run of this name, or the last one with this tag."""
    if "=" not in name:
        return store.find(name)
    found = store.runs(limit=1, tags=tags_of([name]))
    if not found:
        raise _absent(store, f"with the tag {name}.")
    return found[0]


def base_run(store: Store, name: str, new: Run) -> Run:
    """The run to compare with: by its own name, or as the last one before the new one.

    `previous` is the last finished run over the same data, `NAME=VALUE` the last with this tag.
    """
    if name != "previous" and "=" not in name:
        return store.find(name)
    earlier = [
        run
        for run in store.runs(tags=None if name == "previous" else tags_of([name]))
        if run.id != new.id and run.created <= new.created and run.state == "finished"
    ]
    same = [run for run in earlier if name != "previous" or run.source == new.source]
    if not same:
        sort = f"of {new.source}" if name == "previous" else f"with the tag {name}"
        raise _absent(store, f"{sort} that was finished before {new.id}.")
    return same[0]


def _absent(store: Store, sort: str) -> InvalidInput:
    return InvalidInput(
        f"there is no run {sort}", where=store.url, advice="`planproof runs` lists what there is."
    )
