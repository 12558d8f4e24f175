"""Read a source by a profile: check the profile, detect its format, and find its records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from itertools import chain, islice
from math import inf, isfinite
from typing import Any, cast

from msgspec import Struct

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.trace import Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.yaml_files import YamlDocument
from planproof.readers.profile import Detect, Profile
from planproof.readers.profile_events import CompiledRules, ProfileRun
from planproof.readers.toolkit.printed_text import PrintedValues, split_lines
from planproof.readers.toolkit.profile_paths import (
    CompiledCondition,
    Field,
    Node,
    as_tuple,
    compile_field,
    iter_children,
    parse_path,
    parse_paths,
    value_text,
)
from planproof.readers.toolkit.text_blocks import compile_patterns, matches_any
from planproof.readers.toolkit.trace_builder import TraceBuilder

_SNIFF_RECORDS = 50
_SNIFF_LINES = 400
_MAX_PLACES = 2
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?")
_PATTERN_FIELDS = frozenset("line until last drop parts lines first never".split())
_PATH_FIELDS = frozenset("at records images when up_to document some every restart".split())
_PLAIN_FIELDS = frozenset(
    "planproof title form turns ignore omit marks before test_file source".split()
)


def parse_profile(text: str, *, name: str) -> Profile:
    """Parse a profile file; errors name the line and column."""
    document = YamlDocument(text, name)
    profile = document.convert(Profile)
    try:
        _check_part(profile)
    except InvalidInput as error:
        raise document.error(error.what, advice=error.advice) from error
    if profile.form == "text" and not profile.blocks:
        raise document.error("a profile for text needs `blocks`.")
    if profile.form != "text" and not profile.rules:
        raise document.error("a profile for JSON needs `rules`.")
    if profile.form != "text" and profile.detect == Detect():
        raise document.error(
            "`detect` has no condition, so every file would have this format.",
            "$.detect",
            advice="Name a key that all records, or the document, have.",
        )
    return profile


def _check_part(part: Struct) -> None:
    """Compile all paths and patterns of a part, so that errors in them are found at once."""
    for name in part.__struct_fields__:
        value: Any = getattr(part, name)
        if name in _PLAIN_FIELDS or (name == "name" and isinstance(part, Profile)):
            continue
        if name in _PATTERN_FIELDS:
            check = compile_patterns
        else:
            check = parse_paths if name in _PATH_FIELDS else compile_field
        for item in _list_items(value, keys=check is parse_paths):
            if isinstance(item, Struct):
                _check_part(item)
            elif item is not None and not isinstance(item, bool):
                check(item)


def _list_items(value: Any, *, keys: bool) -> tuple[Any, ...]:
    """Return the items of a tuple or a dict; the keys of a condition are paths."""
    if is_object(value):
        return tuple(value if keys else value.values())
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def is_claimed_by_profile(source: Source) -> bool:
    """Return whether one of the built-in profiles for text claims a source."""
    profiles = load_built_in_profiles().values()
    return source.form == "text" and any(
        ProfileReader(profile).sniff(source)
        for profile in profiles
        if profile.form in ("text", "repr")
    )


@cache
def load_built_in_profiles() -> dict[str, Profile]:
    """Return the profiles that come with planproof, by name."""
    folder = files("planproof.readers").joinpath("profiles")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".yaml"))
    profiles = [
        parse_profile(folder.joinpath(name).read_text("utf-8"), name=name) for name in names
    ]
    return {profile.name: profile for profile in profiles}


class ProfileReader:
    """Reads the format that a profile describes."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.name = profile.name
        self._every = CompiledCondition(profile.detect.every)
        self._some = CompiledCondition(profile.detect.some)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the profile only; it is compiled again where it is needed."""
        return ProfileReader, (self.profile,)

    @cached_property
    def _rules(self) -> CompiledRules:
        return CompiledRules(self.profile)

    @cached_property
    def digest(self) -> str:
        """A hash of the profile: with another one, a trace may be read in another way."""
        # JSON leaves out defaults, but not all of them after a profile was pickled.
        return sha256(repr(self.profile).encode()).hexdigest()

    def sniff(self, source: Source) -> bool:
        """Return whether the source meets the conditions of `detect`."""
        detect, form = self.profile.detect, self.profile.form
        if form in ("text", "repr") and not (
            source.form == "text" and self._sniff_text(source.document)
        ):
            return False
        if form == "text":
            return True
        if source.form == "archive" or (source.form == "text" and form != "repr"):
            return False
        if form == "json" and source.form == "jsonl":
            return False
        whole = Node(source.document, "")
        is_checked = detect.document and (form == "json" or is_object(source.document))
        if is_checked and not CompiledCondition(detect.document).holds(whole, whole):
            return False
        is_found = False
        # One by one: most formats differ in the first record.
        for record in islice(self._unwrap(self._find_records(source)), _SNIFF_RECORDS):
            if not self._every.holds(record, record):
                return False
            is_found = is_found or self._some.holds(record, record)
        return is_found

    def read(self, source: Source) -> Trace:
        """Return the events of the records; what no rule fits is skipped and counted."""
        builder = TraceBuilder(source.skipped)
        run = ProfileRun(self.profile, builder, self._rules)
        if self.profile.form in ("text", "repr") and source.form != "text":
            return run.finish()
        if self.profile.form == "text":
            lines = split_lines(source.document, self.profile.marks)
            run.read_lines(self.profile.blocks, lines, {})
        elif self.profile.form == "repr":
            run.read_printed_values(PrintedValues(source.document), self._iter_values)
        else:
            run.read_records(self._merge_repeats(self._iter_records(source), builder))
        return run.finish()

    def _sniff_text(self, text: str) -> bool:
        head = "\n".join(text.split("\n", _SNIFF_LINES)[:_SNIFF_LINES])
        lines = [line.strip() for _, line in split_lines(head, {})]
        detect = self.profile.detect
        if detect.first and not matches_any(detect.first, next(filter(None, lines), "")):
            return False
        if any(matches_any(detect.never, line) for line in lines):
            return False
        return bool(detect.lines or detect.first) and all(
            any(matches_any(choices, line) for line in lines) for choices in detect.lines
        )

    def _iter_records(self, source: Source) -> Iterator[Node]:
        records = self._find_records(source)
        if self.profile.order is not None:
            records = _order_by(self.profile.order, list(records))
        return self._unwrap(records)

    def _unwrap(self, records: Iterator[Node]) -> Iterator[Node]:
        if self.profile.unwrap is None:
            return records
        find = compile_field(self.profile.unwrap).get
        return (find(record, record) or record for record in records)

    def _find_records(self, source: Source) -> Iterator[Node]:
        records = self._list_records(source)
        if self.profile.form != "jsonl":
            return iter(records)
        # A list among the lines is a batch of records.
        batches = (iter_children(r) if is_list(r.value) else (r,) for r in records)
        return chain.from_iterable(batches)

    def _list_records(self, source: Source) -> Iterable[Node]:
        if source.form == "jsonl":
            return (Node(value, f"L{line}") for line, value in source.document)
        if source.form == "text":
            return self._iter_values(PrintedValues(source.document).values)
        whole = Node(source.document, "")
        if self.profile.form == "json":
            return self._iter_values([whole])
        if is_list(source.document):
            return iter_children(whole)
        if self.profile.records == "*":
            return (whole,)  # JSON Lines of one line are JSON
        records = self._iter_values([whole])
        return chain([next(records, whole)], records)

    def _iter_values(self, values: Iterable[Node]) -> Iterator[Node]:
        paths = tuple(map(parse_path, as_tuple(self.profile.records)))
        found = (path.every(value, value) for value in values for path in paths)
        return chain.from_iterable(found)

    def _merge_repeats(self, records: Iterator[Node], builder: TraceBuilder) -> Iterator[Node]:
        repeats = self.profile.repeats
        if repeats is None:
            return records
        places_by_key: dict[str, list[int]] = {}
        merged: list[Node] = []
        restart, keyed = CompiledCondition(repeats.restart), CompiledCondition(repeats.when)
        key, same_field = compile_field(repeats.key), compile_field(repeats.same)

        def get_same(record: Node) -> Json:
            found = same_field.get(record, record)
            return found and found.value

        for record in records:
            if repeats.restart and restart.holds(record, record):
                places_by_key.clear()
            identity = key.get_text(record, record) if keyed.holds(record, record) else None
            if identity is None:
                merged.append(record)
                continue
            places = places_by_key.setdefault(identity, [])
            # A call and its result may have the same key.
            recent = places[-_MAX_PLACES:]
            same = (at for at in recent if get_same(merged[at]) == get_same(record))
            place = next(same, None)
            if place is None:
                places.append(len(merged))
                merged.append(record)
            else:
                builder.skip(
                    merged[place].pointer,
                    "replaced by a later record with the same key",
                    repeats=True,
                )
                merged[place] = record
        return iter(merged)


def _order_by(key: Field, records: list[Node]) -> Iterator[Node]:
    """Yield records in the order of their values at a path: numbers, or texts such as times."""
    ranks: list[tuple[float, str]] = []
    find = compile_field(key).get
    for node in records:
        found = find(node, node)
        value = None if found is None else found.value
        if isinstance(value, float) and isfinite(value):
            rank = (value, "")
        elif value is not None:
            text = value_text(value)
            rank = (float(text), "") if _NUMBER.fullmatch(text) else (inf, text)
        else:
            rank = ranks[-1] if ranks else (0.0, "")
        ranks.append(rank)
    return iter(records[index] for index in sorted(range(len(records)), key=ranks.__getitem__))
