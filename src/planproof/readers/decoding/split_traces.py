"""Several traces in one file: each is a source of its own, which everything else can work on.

An Inspect log has samples, JSON Lines, arrays and objects may hold whole histories, and a file of
spans may hold more than one trace id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.suggestions import did_you_mean
from planproof.core.trace import Skipped
from planproof.errors import InvalidInput, UnknownName
from planproof.readers.decoding.archives import Archive
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.trace_ids import by_trace_id
from planproof.readers.recognition import claimant
from planproof.readers.toolkit.entries import LOOKED_AT

_IDS = ("instance_id", "id", "task_id", "trace_id")
_HOLDERS = ("samples", "logs")
_LONGEST_ID = 100
_NAMED_IN_ERRORS = 5


@dataclass(frozen=True, slots=True)
class Member:
    """One trace of several. Its source is made when it is asked for, and not kept."""

    id: str
    _make: Callable[[], Source]

    @property
    def source(self) -> Source:
        """The trace as a source of its own, with pointers that begin at it."""
        return self._make()


def members(source: Source) -> tuple[Member, ...]:
    """The traces in this source; none when it is a single trace."""
    if source.form == "archive":
        return _samples(source.document)
    if source.form == "text":
        return ()
    if apart := by_trace_id(source):
        return _named(source, ((id_, value, ()) for id_, value in apart.items()))
    values = _values(source)
    if not values or not _may_be_trace(values[0][1]) or claimant(source) is not None:
        return ()
    looked_at = values[:LOOKED_AT]
    known = sum(_may_be_trace(value) and _is_trace(value) for _, value in looked_at)
    # Keys may be those of anything; what stands under all of them, if it is traces, is theirs.
    needed = len(looked_at) if isinstance(values[0][0], str) else len(looked_at) / 2
    if known < needed:
        return ()
    notes = _notes_by_line(source)
    return _named(
        source,
        (
            (place, value, ())
            if isinstance(place, str)
            else (id_of(value), value, notes.get(place, ()))
            for place, value in values
        ),
    )


def pick(source: Source, wanted: str | None = None) -> Source:
    """The trace with this id or, counted from 1, this number; without either, the only one."""
    found = members(source)
    if wanted is None:
        if len(found) > 1:
            raise several(source, found)
        return found[0].source if found else source
    if not found:
        if wanted == "1":
            return source
        raise InvalidInput("holds a single trace.", where=source.name, advice="Leave out `pick`.")
    for member in found:
        if member.id == wanted:
            return member.source
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted[:12]) <= len(found):
        return found[int(wanted[:12]) - 1].source
    raise UnknownName(
        f"none of the {len(found):,} traces has the id or the number `{wanted}`.",
        where=source.name,
        advice=did_you_mean(wanted, [member.id for member in found])
        if len(found) <= 20
        else f"They are {_some(found)}; `planproof inspect` lists them.",
    )


def several(source: Source, found: Sequence[Member]) -> InvalidInput:
    """The error for a source that holds several traces where one is needed."""
    return InvalidInput(
        f"holds {len(found):,} trace{'s' if len(found) > 1 else ''}: {_some(found)}.",
        where=source.name,
        advice="Take one with --pick, or all of them with `planproof run`.",
    )


def id_of(value: Json) -> str | None:
    """What a trace is called in the file that holds it."""
    if not is_object(value):
        return None
    for key in _IDS:
        found = value.get(key)
        if isinstance(found, (str, int)) and not isinstance(found, bool) and found != "":
            epoch = value.get("epoch")
            named = (
                f"{found}_epoch_{epoch}" if key == "id" and isinstance(epoch, int) else f"{found}"
            )
            return named if len(named) <= _LONGEST_ID else None
    return None


def _samples(archive: Archive) -> tuple[Member, ...]:
    def sample(number: int, name: str) -> Source:
        return Source.of_bytes(archive.read(number), name=name, limits=archive.limits)

    return tuple(
        Member(id_, partial(sample, number, f"{archive.name}#{id_}"))
        for number, id_ in enumerate(unique(archive.names))
    )


def _named(
    source: Source, found: Iterable[tuple[str | None, Json, tuple[Skipped, ...]]]
) -> tuple[Member, ...]:
    parts = list(found)
    return tuple(
        Member(id_, partial(Source, f"{source.name}#{id_}", "json", value, notes))
        for id_, (_, value, notes) in zip(unique(i for i, _, _ in parts), parts, strict=True)
    )


def unique(ids: Iterable[str | None]) -> Iterator[str]:
    """The same ids, those that came before with a number added, and the number where none is."""
    given: set[str] = set()
    for number, id_ in enumerate(ids, 1):
        name = base = id_ or str(number)
        again = 2
        while name in given:
            name = f"{base}-{again}"
            again += 1
        given.add(name)
        yield name


def _values(source: Source) -> list[tuple[int | str, Json]]:
    """What could be traces of their own, with line, number or key."""
    document = source.document
    if source.form == "jsonl":
        return list(document)
    if is_object(document):
        for key in _HOLDERS:
            if isinstance(document.get(key), (dict, list)):
                document = document[key]
                break
    if is_object(document):
        # One object under a name is a wrapper, under a number it is the only run.
        runs = len(document) > 1 or all(map(str.isdigit, document))
        return list(document.items()) if runs else []
    return list(enumerate(document)) if is_list(document) else []


def _may_be_trace(value: Json) -> bool:
    """Whether a value has room for the events of a run: a list, or an object that holds one."""
    if is_object(value):
        return any(
            is_list(held) or (is_object(held) and _has_list(held)) for held in value.values()
        )
    return is_list(value) and any(is_object(entry) for entry in islice(value, LOOKED_AT))


def _is_trace(value: Json) -> bool:
    """Whether a reader claims it, and not just as an event that could stand alone."""
    reader = claimant(Source("", "json", value))
    return reader is not None and reader is not claimant(Source("", "json", [value]))


def _has_list(value: dict[str, Json]) -> bool:
    return any(map(is_list, value.values()))


def _notes_by_line(source: Source) -> dict[int, tuple[Skipped, ...]]:
    """What was noted in parsing a line, said of the whole that the line now is."""
    notes: dict[int, tuple[Skipped, ...]] = {}
    if source.form == "jsonl":
        for note in source.skipped:
            line = int(note.pointer[1:] or 0)
            notes[line] = (*notes.get(line, ()), Skipped("", note.why))
    return notes


def _some(found: Sequence[Member]) -> str:
    ids = [member.id for member in found[:_NAMED_IN_ERRORS]]
    return ", ".join(ids) + (", …" if len(found) > len(ids) else "")
