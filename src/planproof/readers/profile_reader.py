"""Read a source by a profile: match records with rules, and count what no rule fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from itertools import islice, zip_longest
from textwrap import dedent
from typing import TypeAlias

from planproof.core.content import Image, Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time
from planproof.core.trace import EventStatus, Kind, RecordCounts, Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.yaml_files import YamlDocument
from planproof.readers.profile import (
    Block,
    CallPart,
    Detect,
    Field,
    Profile,
    ResultPart,
    Rule,
    TextPart,
)
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import (
    PointerFactory,
    make_constant_pointer,
    make_range_pointer,
    point_to_lines,
)
from planproof.readers.toolkit.line_patterns import LinePattern
from planproof.readers.toolkit.printed_text import PrintedValues, split_lines
from planproof.readers.toolkit.profile_paths import (
    CompiledCondition,
    Node,
    Path,
    iter_children,
    parse_path,
    value_text,
)
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_actions import parse_action_text
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments, parse_status
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_SNIFF_RECORDS = 50
_SNIFF_LINES = 400
_AGENT = "assistant"
_Patterns: TypeAlias = tuple[LinePattern, ...]


def parse_profile(text: str, *, name: str) -> Profile:
    """Parse a profile file; errors name the line and column."""
    document = YamlDocument(text, name)
    profile = document.convert(Profile)
    try:
        ProfileReader(profile).compile()
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

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the profile only; it is compiled again where it is needed."""
        return ProfileReader, (self.profile,)

    @cached_property
    def digest(self) -> str:
        """A hash of the profile: with another one, a trace may be read in another way."""
        # JSON leaves out defaults, but not all of them after a profile was pickled.
        return sha256(repr(self.profile).encode()).hexdigest()

    def compile(self) -> None:
        """Compile all parts of the profile, so that errors in it are found at once."""
        _ = (
            self._detector,
            self._line_detector,
            self.rules,
            self.blocks,
            self._record_paths,
            self.fields,
        )

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
        document, some, every = self._detector
        whole = Node(source.document, "")
        is_checked = detect.document and (form == "json" or is_object(source.document))
        if is_checked and not document.holds(whole, whole):
            return False
        head = list(islice(self._unwrap(self._find_records(source)), _SNIFF_RECORDS))
        if not head or not all(every.holds(record, record) for record in head):
            return False
        return not detect.some or any(some.holds(record, record) for record in head)

    def read(self, source: Source) -> Trace:
        """Return the events of the records; what no rule fits is skipped and counted."""
        builder = TraceBuilder(source.skipped)
        run = _ProfileRun(self, builder)
        if self.profile.form == "text":
            lines = split_lines(source.document, self.profile.marks)
            run.read_lines(self.blocks, lines, {})
        elif self.profile.form == "repr":
            run.read_printed_values(PrintedValues(source.document), self._iter_values)
        else:
            run.read_records(self._merge_repeats(self._iter_records(source)))
        return run.finish()

    @cached_property
    def _detector(self) -> tuple[CompiledCondition, CompiledCondition, CompiledCondition]:
        detect = self.profile.detect
        return (
            CompiledCondition(detect.document),
            CompiledCondition(detect.some),
            CompiledCondition(detect.every),
        )

    @cached_property
    def rules(self) -> tuple[_CompiledRule, ...]:
        """The rules for records, compiled."""
        return tuple(map(_CompiledRule, self.profile.rules))

    @cached_property
    def blocks(self) -> tuple[_CompiledBlock, ...]:
        """The blocks of a text, compiled."""
        return tuple(map(_CompiledBlock, self.profile.blocks))

    @cached_property
    def _record_paths(self) -> tuple[Path, ...]:
        paths = self.profile.records
        return tuple(map(parse_path, [paths] if isinstance(paths, str) else paths))

    @cached_property
    def fields(self) -> _RecordFields:
        """The fields that every record may have, compiled."""
        return _RecordFields(self.profile)

    def _sniff_text(self, text: str) -> bool:
        head = "\n".join(text.split("\n", _SNIFF_LINES)[:_SNIFF_LINES])
        lines = [line.strip() for _, line in split_lines(head, {})]
        patterns, first, never = self._line_detector
        if first and not _matches_any(first, next(filter(None, lines), "")):
            return False
        if never and any(_matches_any(never, line) for line in lines):
            return False
        return bool(patterns or first) and all(
            any(_matches_any(choices, line) for line in lines) for choices in patterns
        )

    @cached_property
    def _line_detector(self) -> tuple[list[_Patterns], _Patterns, _Patterns]:
        detect = self.profile.detect
        lines = list(map(_compile_patterns, detect.lines))
        return lines, _compile_patterns(detect.first), _compile_patterns(detect.never)

    def _iter_records(self, source: Source) -> Iterator[Node]:
        records = self._find_records(source)
        if self.profile.newest_first is not None:
            records = _order_by(_CompiledField(self.profile.newest_first), list(records))
        return self._unwrap(records)

    def _unwrap(self, records: Iterator[Node]) -> Iterator[Node]:
        if self.profile.unwrap is None:
            return records
        inner = _CompiledField(self.profile.unwrap)
        return (inner.get(record, record) or record for record in records)

    def _find_records(self, source: Source) -> Iterator[Node]:
        if source.form == "jsonl":
            for line, value in source.document:
                yield Node(value, f"L{line}")
            return
        if source.form == "text":
            yield from self._iter_values(PrintedValues(source.document).values)
            return
        whole = Node(source.document, "")
        if self.profile.form == "jsonl" and is_list(source.document):
            yield from iter_children(whole)
        elif self.profile.form == "jsonl" and self.profile.records == "*":
            yield whole  # JSON Lines of one line are JSON
        else:
            yield from self._iter_values([whole])

    def _iter_values(self, values: Iterable[Node]) -> Iterator[Node]:
        for value in values:
            for path in self._record_paths:
                yield from path.every(value, value)

    def _merge_repeats(self, records: Iterator[Node]) -> Iterator[Node]:
        repeats = self.profile.repeats
        if repeats is None:
            return records
        key, when = _CompiledField(repeats.key), CompiledCondition(repeats.when)
        restart = CompiledCondition(repeats.restart)
        place_by_key: dict[str, int] = {}
        merged: list[Node] = []
        for record in records:
            if repeats.restart and restart.holds(record, record):
                place_by_key.clear()
            found = key.get(record, record) if when.holds(record, record) else None
            identity = None if found is None else value_text(found.value)
            if identity is not None and identity in place_by_key:
                merged[place_by_key[identity]] = record
                continue
            if identity is not None:
                place_by_key[identity] = len(merged)
            merged.append(record)
        return iter(merged)


def _order_by(key: _CompiledField, records: list[Node]) -> Iterator[Node]:
    """Yield records in the order in which they were written; the newest may come first."""
    times = [found.value for node in records if (found := key.get(node, node)) is not None]
    is_oldest_first = len(times) > 1 and value_text(times[0]) < value_text(times[-1])
    return iter(records) if is_oldest_first else reversed(records)


class _CompiledField:
    """One or more paths, or a constant."""

    def __init__(self, field: Field) -> None:
        texts = [field] if isinstance(field, str) else field
        self._sources = [_compile_source(text) for text in texts]

    def get(self, node: Node, record: Node) -> Node | None:
        """Return the first value that is there and is not null or empty text."""
        for source, pattern in self._sources:
            if isinstance(source, str):
                return Node(source, node.pointer)
            found = source.first(node, record)
            if found is not None and pattern is not None:
                part = _match_lines(pattern, value_text(found.value))
                found = None if part is None else found._replace(value=part)
            if found is not None and found.value is not None and found.value != "":
                return found
        return None

    def get_text(self, node: Node, record: Node) -> str | None:
        """Return the value as text; None if there is none."""
        found = self.get(node, record)
        return None if found is None else value_text(found.value)


def _compile_source(text: str) -> tuple[Path | str, LinePattern | None]:
    if text.startswith("="):
        return text[1:], None
    path, separator, pattern = text.partition(" ~ ")
    return parse_path(path.strip()), LinePattern(pattern) if separator else None


def _match_lines(pattern: LinePattern, text: str) -> str | None:
    """Return the first field of the first line that matches."""
    for line in text.split("\n"):
        fields = pattern.match(line.strip())
        if fields:
            return next(iter(fields.values()))
    return None


def _compile_field(field: Field | None) -> _CompiledField | None:
    return None if field is None else _CompiledField(field)


class _RecordFields:
    """The fields that every record of a profile may have."""

    def __init__(self, profile: Profile) -> None:
        self.time = _CompiledField(profile.time)
        self.actor = _compile_field(profile.actor)
        self.turn = _compile_field(profile.turn)
        self.parent = _compile_field(profile.parent)
        self.after = CompiledCondition(profile.after)


class _CompiledText:
    def __init__(self, part: Field | TextPart) -> None:
        text = part if isinstance(part, TextPart) else TextPart(part)
        self.text = _CompiledField(text.text)
        self.actor = _compile_field(text.actor)
        self.actions = text.actions
        self.once = text.once
        self.chunks = text.chunks
        self.comment = text.comment


class _CompiledStatus:
    """The fields that tell whether a call failed."""

    def __init__(self, part: CallPart | ResultPart) -> None:
        self.error = _compile_field(part.error)
        self.status = _compile_field(part.status)
        self.exit_code = _compile_field(part.exit_code)

    def get(self, node: Node, record: Node) -> EventStatus | None:
        error = self.error and self.error.get(node, record)
        if error and error.value not in (False, 0, [], {}):
            return EventStatus.ERROR
        code = self.exit_code and self.exit_code.get_text(node, record)
        if code:
            return EventStatus.OK if code == "0" else EventStatus.ERROR
        found = self.status and self.status.get(node, record)
        return parse_status(found.value) if found else None


class _CompiledCall:
    def __init__(self, part: CallPart) -> None:
        self.name = _compile_field(part.name)
        self.text = _compile_field(part.text)
        self.parse = _compile_field(part.parse)
        self.id = _compile_field(part.id)
        self.actor = _compile_field(part.actor)
        self.output = _compile_field(part.output)
        self.error = _compile_field(part.error)
        self.status = _CompiledStatus(part)
        arguments = part.arguments
        self.arguments = None if isinstance(arguments, dict) else _compile_field(arguments)
        self.omit = frozenset(part.omit)
        self.spans_records = isinstance(arguments, str) and arguments.startswith(">")
        built = arguments if isinstance(arguments, dict) else {}
        self.built = {name: _CompiledField(field) for name, field in built.items()}

    def get_call(self, node: Node, record: Node) -> ToolCall | None:
        identity = self.id.get_text(node, record) if self.id else None
        if self.parse is not None:
            parsed = self.parse.get(node, record)
            if parsed is None or not isinstance(parsed.value, str):
                return None
            call = parse_action_text(parsed.value.strip())
            if call is not None:
                call.id = identity
            return call
        name = self.name.get_text(node, record) if self.name else None
        if not name:
            return None
        arguments, text = self._get_arguments(node, record)
        if self.text is not None:
            text = dedent(self.text.get_text(node, record) or text)
        return ToolCall(name, arguments, text, identity)

    def _get_arguments(self, node: Node, record: Node) -> tuple[Json, str]:
        if self.built:
            found = {name: field.get(node, record) for name, field in self.built.items()}
            return {name: value.value for name, value in found.items() if value is not None}, ""
        raw = self.arguments.get(node, record) if self.arguments else None
        if raw is None:
            return None, ""
        if isinstance(raw.value, bool | int | float):
            return None, value_text(raw.value)
        if self.omit and is_object(raw.value):
            return {key: raw.value[key] for key in raw.value if key not in self.omit}, ""
        return parse_arguments(_join_pairs(raw.value))


def _join_pairs(value: Json) -> Json:
    """Return a list of names with values as an object, other values unchanged."""
    pairs = [item for item in value if is_object(item)] if is_list(value) else []
    if not pairs or not all(
        "value" in pair and isinstance(pair.get("name"), str) for pair in pairs
    ):
        return value
    return {pair["name"]: pair["value"] for pair in pairs}


class _CompiledResult:
    def __init__(self, part: ResultPart) -> None:
        self.output = _CompiledField(part.output)
        self.call = _compile_field(part.call)
        self.id = _compile_field(part.id)
        self.name = _compile_field(part.name)
        self.status = _CompiledStatus(part)


class _CompiledRule:
    def __init__(self, rule: Rule) -> None:
        self.when = CompiledCondition(rule.when)
        self.at = None if rule.at is None else parse_path(rule.at)
        self.ignore = rule.ignore
        texts = (
            (rule.system, Kind.SYSTEM, "system"),
            (rule.user, Kind.MESSAGE, "user"),
            (rule.reasoning, Kind.REASONING, None),
            (rule.message, Kind.MESSAGE, None),
            (rule.plan, Kind.BOOKKEEPING, None),
        )
        self.texts = [
            (_CompiledText(part), kind, actor) for part, kind, actor in texts if part is not None
        ]
        self.call = None if rule.call is None else _CompiledCall(rule.call)
        self.result = None if rule.result is None else _CompiledResult(rule.result)
        self.input = _compile_field(rule.input)
        self.runs = rule.runs
        self.calls = rule.calls
        self.read = tuple(map(_CompiledRule, rule.read))
        self.rules = tuple(map(_CompiledRule, rule.rules))


class _CompiledBlock(_CompiledRule):
    def __init__(self, block: Block) -> None:
        super().__init__(block)
        self.patterns = _compile_patterns(block.line)
        self.until = _compile_patterns(block.until)
        self.last = _compile_patterns(block.last)
        self.drop = _compile_patterns(block.drop)
        self.parts = _compile_patterns(block.parts)
        self.single = block.single
        self.opaque = block.opaque
        self.margin = block.margin
        self.outside = block.outside
        self.blocks = tuple(map(_CompiledBlock, block.blocks))


def _compile_patterns(patterns: str | list[str]) -> _Patterns:
    return tuple(map(LinePattern, [patterns] if isinstance(patterns, str) else patterns))


class _OpenBlock:
    """A block of lines while it is read."""

    def __init__(
        self, block: _CompiledBlock, pattern: LinePattern, fields: dict[str, str], number: int
    ) -> None:
        self.block = block
        self.fields = fields
        self.first = self.last = number
        self.open_field = pattern.open_field or "body"
        self.lines: list[tuple[int, str]] = []
        self.numbers: list[int] = []

    def add_line(self, number: int, line: str) -> None:
        self.lines.append((number, line))
        self.last = number if line.strip() else self.last

    def take_inner_lines(self) -> list[tuple[int, str]]:
        """Remove the lines of the blocks inside this one, and return them."""
        blocks = self.block.blocks
        for index, (number, line) in enumerate(self.lines if blocks else ()):
            if _open_block(blocks, line, number) is not None:
                inner, self.lines = self.lines[index:], self.lines[:index]
                filled = [number for number, line in self.lines if line.strip()]
                self.last = filled[-1] if filled else self.first
                return inner
        return []

    def to_record(self, inherited: dict[str, Json]) -> Node:
        """Return the fields as a record; the pointer covers all lines."""
        record: dict[str, Json] = {**inherited, **self.fields}
        if self.block.last:
            record["@block"] = "\n".join([self.fields["@line"], *(line for _, line in self.lines)])
        name = self.open_field
        found = [(self.first, self.fields[name])] if name in self.fields else []
        for number, line in [*self.lines, (0, None)]:
            part = next(_iter_matches(self.block.parts, line), None) if line is not None else None
            if line is not None and part is None:
                if not _matches_any(self.block.drop, line):
                    found.append((number, line))
                continue
            filled = [index for index, (_, text) in enumerate(found) if text.strip()]
            if filled:
                found = found[filled[0] : filled[-1] + 1]
                record[name] = "\n".join(text for _, text in found)
                self.numbers = [number for number, _ in found]
            if part is not None:
                pattern, fields = part
                record.update(fields)
                name = pattern.open_field or name
                found = [(number, fields[name])] if name in fields else []
        return Node(record, point_to_lines(self.first, self.last))


class _ProfileRun:
    """One reading of a source: applies the rules and counts what they leave."""

    def __init__(self, reader: ProfileReader, builder: TraceBuilder) -> None:
        self._reader = reader
        self._profile = reader.profile
        self._builder = builder
        self._conversation = Conversation(builder)
        self._speakers = Speakers(builder)
        self._block: _OpenBlock | None = None
        self._open_calls: list[tuple[EventDraft | None, EventDraft | None]] = []
        self._closed_call: EventDraft | None = None
        self._closed_at = 0
        self._last_call: EventDraft | None = None
        self._comment: EventDraft | None = None
        self._fields = reader.fields
        self._unknown: Counter[str] = Counter()
        self._agent_records = 0
        self._call_ids: dict[str, EventDraft] = {}
        self._said: set[tuple[str, str]] = set()
        self._started = not reader.profile.after
        self._record = Node(None, "")
        self._actor = _AGENT
        self._in_text = reader.profile.form == "text"

    def finish(self) -> Trace:
        """Return the trace, with what was counted."""
        self._speakers.flush()
        trace = self._builder.build(self._profile.name)
        calls = sum(event.kind in (Kind.ACTION, Kind.BOOKKEEPING) for event in trace.events)
        unknown = sum(self._unknown.values())
        counts = RecordCounts(
            records=max(self._agent_records + unknown, 1),
            read=self._agent_records,
            calls=calls,
            calls_read=calls,
        )
        return replace(trace, record_counts=counts)

    def read_records(self, records: Iterable[Node]) -> None:
        """Read the records of a JSON source."""
        rules = self._reader.rules
        listed = list(records)
        for record, after in zip_longest(listed, listed[1:]):
            if after is not None:
                record = record._replace(after=after)  # noqa: PLW2901 - the record, as it is read
            if not self._started:
                self._started = self._fields.after.holds(record, record)
                if not self._started:
                    self._builder.skip(record.pointer, "comes before the run")
                    continue
            self._begin_record(record)
            before = self._builder.change_count
            self._apply_first(rules, record)
            if self._builder.change_count == before:
                self._builder.skip(record.pointer, "nothing in it is an event")

    def read_printed_values(
        self, printed: PrintedValues, iter_records: Callable[[Iterable[Node]], Iterator[Node]]
    ) -> None:
        """Read the Python values that a program printed."""
        self.read_records(iter_records(printed.values))
        self._builder.map_pointers(printed.locate)
        for pointer in printed.outside:
            self._builder.skip(pointer, "is not a Python value")

    def read_lines(
        self,
        blocks: Sequence[_CompiledBlock],
        lines: Sequence[tuple[int, str]],
        inherited: dict[str, Json],
    ) -> None:
        """Read the blocks in the lines of a text, each with its number."""
        current: _OpenBlock | None = None
        outside: list[tuple[int, str]] = []
        for number, line in lines:
            if current is not None and _matches(
                current.block.until, line, margin=current.block.margin
            ):
                self._add_block(current, inherited)
                current = None
                continue
            is_opaque = current is not None and current.block.opaque
            opened = None if is_opaque else _open_block(blocks, line, number)
            if opened is None or (opened.block.outside and current is not None):
                if current is None:
                    outside.append((number, line))
                else:
                    current.add_line(number, line)
                    if _matches(current.block.last, line, margin=current.block.margin):
                        self._add_block(current, inherited)
                        current = None
                continue
            self._add_text_outside(outside)
            outside = []
            if current is not None:
                self._add_block(current, inherited)
            current = opened
            if opened.block.single:
                self._add_block(opened, inherited)
                current = None
        if current is not None:
            self._add_block(current, inherited)
        self._add_text_outside(outside)

    def _add_block(self, block: _OpenBlock, inherited: dict[str, Json]) -> None:
        inner = block.take_inner_lines()
        record = block.to_record(inherited)
        self._begin_record(record, is_part=bool(inherited))
        self._block = block
        before = self._builder.change_count
        self._apply(block.block, record)
        if inner:
            fields = record.value if is_object(record.value) else {}
            self.read_lines(block.block.blocks, inner, fields)
        elif self._builder.change_count == before and block.block.calls is None:
            self._builder.skip(record.pointer, "nothing in it is an event")

    def _add_text_outside(self, lines: Sequence[tuple[int, str]]) -> None:
        """Add lines outside all blocks, as the profile says."""
        filled = [(number, line) for number, line in lines if line.strip()]
        if not filled:
            return
        pointer = point_to_lines(filled[0][0], filled[-1][0])
        text = "\n".join(line for _, line in lines).strip("\n")
        if self._profile.before == "ignore" or self._builder.drafts:
            self._builder.skip(pointer, "lines outside all blocks of the profile")
            return
        self._builder.begin_turn()
        if self._profile.before == "message":
            numbers = [number for number, _ in lines]
            pointer_for = make_range_pointer("\n".join(line for _, line in lines), numbers)
            self._speakers.add_turn("\n".join(line for _, line in lines), pointer_for, self._actor)
            return
        is_user = self._profile.before == "user"
        kind = Kind.MESSAGE if is_user else Kind.SYSTEM
        self._builder.add_message(kind, text, pointer, "user" if is_user else "system")

    def _begin_record(self, record: Node, *, is_part: bool = False) -> None:
        self._record = record
        fields = self._fields
        time = fields.time.get(record, record)
        self._builder.time = parse_time(time.value) if time is not None else None
        actor = fields.actor.get_text(record, record) if fields.actor else None
        self._actor = actor or _AGENT
        turn = fields.turn.get_text(record, record) if fields.turn else None
        if not is_part:
            self._builder.begin_turn(turn)
        if fields.parent:
            parent = fields.parent.get_text(record, record)
            self._builder.parent = self._call_ids.get(parent) if parent else None

    def _apply_first(self, rules: Sequence[_CompiledRule], node: Node) -> bool:
        for rule in rules:
            if rule.when.holds(node, self._record):
                self._apply(rule, node)
                return True
        kind = _describe_record(node.value)
        self._unknown[kind] += 1
        self._builder.skip(self._point_to(node), f"no rule of the profile fits {kind}")
        return False

    def _apply(self, rule: _CompiledRule, node: Node) -> None:
        """Apply a rule whose condition holds."""
        if rule.ignore is not None:
            self._builder.skip(self._point_to(node), rule.ignore)
            return
        for target in (node,) if rule.at is None else rule.at.every(node, self._record):
            self._emit(rule, target)

    def _emit(self, rule: _CompiledRule, node: Node) -> None:
        if rule.runs is not None:
            self._speakers.code_runs.start_run(every=rule.runs == "all")
        if rule.calls is not None:
            self._open_or_close_call(rule.calls)
        for part, kind, actor in rule.texts:
            self._add_text(part, node, kind, actor)
        if rule.call is not None:
            self._add_call(rule.call, node)
        if rule.result is not None:
            self._add_result(rule.result, node)
        if rule.input is not None:
            self._add_input(rule.input, node)
        for inner in rule.read:
            if inner.when.holds(node, self._record):
                self._apply(inner, node)
        if rule.rules:
            self._apply_first(rule.rules, node)

    def _add_text(
        self, part: _CompiledText, node: Node, kind: Kind, fixed_actor: str | None
    ) -> None:
        found = part.text.get(node, self._record)
        if found is None:
            return
        text, pointer, images = self._extract(found)
        if kind is Kind.BOOKKEEPING and is_list(found.value):
            steps = enumerate(map(format_value, found.value), 1)
            text, pointer = "\n".join(f"{n}. {step}" for n, step in steps), found.pointer
        named = part.actor.get_text(node, self._record) if part.actor else None
        actor = named or fixed_actor or self._actor
        if part.chunks and self._extend_last_text(kind, actor, text, pointer):
            return
        if not text.strip() and not images:
            return
        if part.once and (actor, text.strip()) in self._said:
            self._builder.skip(pointer, "repeats an earlier text")
            return
        self._said.add((actor, text.strip()))
        if fixed_actor is None:
            self._agent_records += 1
        if part.actions and self._in_text:
            self._speakers.add_turn(text, self._make_pointers(text), actor)
        elif part.actions:
            drafts = self._conversation.add_text(text, pointer, actor)
            if kind is Kind.REASONING:
                self._conversation.mark_as_reasoning(drafts)
        elif kind is Kind.BOOKKEEPING:
            self._builder.add_plan(text, pointer, actor)
        else:
            kept = text if part.chunks else text.strip("\n")
            draft = EventDraft(kind, pointer, None, actor, kept, images=images)
            self._builder.add_draft(draft)
            self._comment = draft if part.comment else None

    def _extend_last_text(self, kind: Kind, actor: str, text: str, pointer: str) -> bool:
        """Append a piece to the last event if that is an earlier piece of the same text."""
        last = self._builder.drafts[-1] if self._builder.drafts else None
        if last is None or (last.kind, last.actor) != (kind, actor):
            return False
        line, _, path = pointer.partition("/")
        first, _, last_path = last.pointer.partition("/")
        if not line.startswith("L") or path != last_path:
            return False
        last.text += text
        last.pointer = f"{first.partition('-')[0]}-{line[1:]}/{path}"
        self._builder.mark_deferred()
        return True

    def _add_call(self, part: _CompiledCall, node: Node) -> None:
        record = self._record
        call = part.get_call(node, record)
        if call is None:
            self._builder.skip(self._point_to(node), "a call without a name")
            self._unknown["a call without a name"] += 1
            return
        draft = self._call_ids.get(call.id) if call.id else None
        if draft is None or self._profile.repeated_calls == "keep":
            actor = part.actor.get_text(node, record) if part.actor else None
            self._speakers.flush()
            if self._comment is not None and self._comment is self._builder.drafts[-1]:
                self._comment.kind = Kind.REASONING
            # A call of two records is in the list that holds both.
            whole = record.pointer.rpartition("/")[0]
            pointer = whole if part.spans_records else self._point_to(node)
            draft = self._builder.add_call(call, pointer, actor or self._actor)
            self._agent_records += 1
            self._last_call = draft
            if call.id:
                self._call_ids[call.id] = draft
        else:
            self._builder.mark_deferred()
            if draft.arguments is None and call.arguments is not None:
                draft.arguments = call.arguments
        output = part.output.get(node, record) if part.output else None
        output = output or (part.error.get(node, record) if part.error else None)
        status = part.status.get(node, record)
        if output is not None and draft.output_pointer is None:
            text, pointer, images = self._extract(output)
            self._builder.answer(draft, ToolResult(text, pointer, status=status, images=images))
        elif status is not None and part.output is not None and draft.output_pointer is None:
            # A call that ended without output has an empty result.
            self._builder.answer(draft, ToolResult("", node.pointer, status=status))
        elif status is not None:
            draft.status = status

    def _add_result(self, part: _CompiledResult, node: Node) -> None:
        record = self._record
        found = part.output.get(node, record)
        text, pointer, images = self._extract(found) if found else ("", self._point_to(node), ())
        self._speakers.flush()
        name = part.call.get_text(node, record) if part.call else None
        if name and not self._builder.has_unanswered_calls():
            self._builder.add_call(ToolCall(name), self._point_to(node), self._actor)
            self._agent_records += 1
        result = ToolResult(
            text,
            pointer,
            # Of no use if the calls have none.
            part.id.get_text(node, record) if part.id and self._call_ids else None,
            part.name.get_text(node, record) if part.name else None,
            "tool",
            part.status.get(node, record),
            images,
        )
        closed, self._closed_call = self._closed_call, None
        last = self._last_call
        if last is not None and last.output_pointer and last.output.strip() == text.strip():
            self._builder.skip(pointer, "repeats the result of the last call")
        elif closed is not None and result.call_id is None and closed.output_pointer is None:
            self._builder.answer(closed, result)
        else:
            self._builder.add_result(result)

    def _add_input(self, part: _CompiledField, node: Node) -> None:
        """Set the arguments of the last call, which an earlier record named."""
        found, call = part.get(node, self._record), self._last_call
        if found is None or call is None:
            self._builder.skip(self._point_to(node), "arguments without a call")
            return
        self._builder.mark_deferred()
        call.arguments, call.text = parse_arguments(found.value)
        if self._in_text:
            lines = (call.pointer.removeprefix("L"), self._point_to(node).removeprefix("L"))
            numbers = [int(number) for part in lines for number in part.split("-")]
            call.pointer = point_to_lines(numbers[0], numbers[-1])

    def _open_or_close_call(self, what: str) -> None:
        """Begin or end what is part of a call."""
        drafts, opened = self._builder.drafts, self._open_calls
        if what == "open":
            # The last call, unless what made it has ended; then the call of which that was a part.
            last = drafts[-1] if len(drafts) > self._closed_at else self._closed_call
            is_open = last is not None and last.kind is Kind.ACTION and not last.output_pointer
            call = last if is_open else None
            opened.append((call, self._builder.parent))
            self._builder.parent = call or self._builder.parent
        elif opened:
            self._closed_call, self._builder.parent = opened.pop()
            self._closed_at = len(drafts)

    def _make_pointers(self, text: str) -> PointerFactory:
        """Return a factory of pointers into a text of the current block.

        What begins or ends with the text also covers the lines of the block before or after it,
        such as the one that names the speaker.
        """
        block = self._block
        if block is None or len(block.numbers) != text.count("\n") + 1:
            return make_constant_pointer(self._record.pointer)
        numbers = block.numbers

        def point_to(first: int, last: int) -> str:
            return point_to_lines(
                block.first if first == numbers[0] else first,
                block.last if last == numbers[-1] else last,
            )

        return make_range_pointer(text, numbers, point_to)

    def _extract(self, found: Node) -> tuple[str, str, tuple[Image, ...]]:
        """Return the text of a value, its pointer and its images."""
        pointer = self._point_to(found)
        if isinstance(found.value, str):
            return found.value, pointer, ()
        if is_list(found.value) or is_object(found.value):
            text, inner, images = extract_text(found.value, pointer)
            if text or images:
                return text, pointer if self._in_text else inner, images
        return format_value(found.value), pointer, ()

    def _point_to(self, node: Node) -> str:
        """Return the pointer to a value; in a text, that to the lines of its block."""
        return self._record.pointer if self._in_text else node.pointer


def _open_block(blocks: Sequence[_CompiledBlock], line: str, number: int) -> _OpenBlock | None:
    bare = line.strip()
    if not bare:
        return None
    for block in blocks:
        if block.margin and line[:1].isspace():
            continue
        for pattern in block.patterns:
            # Most lines begin no block, and this runs for each of them.
            if bare.startswith(pattern.prefix) and (fields := pattern.match(bare)) is not None:
                fields = {name: value.strip() for name, value in fields.items()}
                return _OpenBlock(block, pattern, {**fields, "@line": bare}, number)
    return None


def _iter_matches(
    patterns: Sequence[LinePattern], line: str
) -> Iterator[tuple[LinePattern, dict[str, str]]]:
    bare = line.strip()
    for pattern in patterns:
        fields = pattern.match(bare)
        if fields is not None:
            yield pattern, {name: value.strip() for name, value in fields.items()}


def _matches_any(patterns: Sequence[LinePattern], line: str) -> bool:
    return any(True for _ in _iter_matches(patterns, line))


def _matches(patterns: Sequence[LinePattern], line: str, *, margin: bool) -> bool:
    return not (margin and line[:1].isspace()) and _matches_any(patterns, line)


def _describe_record(value: Json) -> str:
    """Name the shape of a record, for the message that no rule fits it."""
    if not is_object(value):
        return "a value that is not an object"
    for key in ("type", "kind", "role", "event"):
        if isinstance(value.get(key), str):
            return f"records with {key} {value[key][:60]!r}"
    return f"records with the keys {', '.join(list(value)[:6])}"
