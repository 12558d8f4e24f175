"""Runs by what people call them: by id, by tag, or by how they stand to another."""

from __future__ import annotations

from collections.abc import Iterable

from planproof.errors import InvalidInput
from planproof.runs.nouns import Run
from planproof.runs.store.protocol import Store


def tags_of(given: Iterable[str]) -> dict[str, str]:
    """The tags in texts such as NAME=VALUE."""
    tags: dict[str, str] = {}
    for each in given:
        name, separator, value = each.partition("=")
        if not separator or not name:
            raise InvalidInput(f"`{each}` is no tag.", advice="Write NAME=VALUE.")
        tags[name] = value
    return tags


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
