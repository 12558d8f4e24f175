"""Find runs by id, by tag, or relative to another run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planproof.errors import InvalidInput
from planproof.runs.run_records import Run, RunState
from planproof.runs.store.store_protocol import Store


def parse_tags(texts: Iterable[str]) -> dict[str, str]:
    """Parse tags such as NAME=VALUE."""
    tags: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise InvalidInput(f"`{text}` is not a valid tag.", advice="Write NAME=VALUE.")
        tags[name] = value
    return tags


def find_run_by_name(store: Store, name: str) -> Run:
    """Return the run with this name, or the last one with this tag."""
    if "=" not in name:
        return store.find_run(name)
    runs = store.list_runs(limit=1, tags=parse_tags([name]))
    if not runs:
        raise _make_run_not_found_error(store, f"no run with the tag {name}.")
    return runs[0]


def find_base_run(store: Store, name: str, new: Run) -> Run:
    """Return the run to compare with: by name, or the last matching one before the new run.

    `previous` is the last finished run over the same data, `NAME=VALUE` the last with this tag.
    """
    if name != "previous" and "=" not in name:
        return store.find_run(name)
    if name == "previous":
        base, description = find_previous_run(store.list_runs(), new), f"of {new.source}"
    else:
        tagged = store.list_runs(tags=parse_tags([name]))
        base, description = next(_iter_finished_before(tagged, new), None), f"with the tag {name}"
    if base is None:
        raise _make_run_not_found_error(store, f"no finished run {description} before {new.id}.")
    return base


def find_previous_run(runs: Iterable[Run], new: Run) -> Run | None:
    """Return the last finished run over the same data before this one; newest runs come first."""
    return next((run for run in _iter_finished_before(runs, new) if run.source == new.source), None)


def _iter_finished_before(runs: Iterable[Run], new: Run) -> Iterator[Run]:
    """Yield the finished runs that started no later than the new one."""
    for run in runs:
        finished = run.state is RunState.FINISHED
        if finished and run.id != new.id and run.created <= new.created:
            yield run


def _make_run_not_found_error(store: Store, what: str) -> InvalidInput:
    return InvalidInput(what, where=store.url, advice="List the runs with `planproof runs`.")
