"""Runs by what people call them: by id, by tag, or by how they stand to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planproof.errors import InvalidInput
from planproof.runs.run_records import Run, RunState
from planproof.runs.store.store_protocol import Store


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
    if name == "previous":
        found, sort = previous_run(store.runs(), new), f"of {new.source}"
    else:
        tagged = store.runs(tags=tags_of([name]))
        found, sort = next(_before(tagged, new), None), f"with the tag {name}"
    if found is None:
        raise _absent(store, f"{sort} that was finished before {new.id}.")
    return found


def previous_run(runs: Iterable[Run], new: Run) -> Run | None:
    """The last finished run over the same data before this one; runs come with the newest first."""
    return next((run for run in _before(runs, new) if run.source == new.source), None)


def _before(runs: Iterable[Run], new: Run) -> Iterator[Run]:
    """Those that were finished, and began no later."""
    for run in runs:
        finished = run.state is RunState.FINISHED
        if finished and run.id != new.id and run.created <= new.created:
            yield run


def _absent(store: Store, sort: str) -> InvalidInput:
    return InvalidInput(
        f"there is no run {sort}", where=store.url, advice="`planproof runs` lists what there is."
    )
