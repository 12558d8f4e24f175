"""Read a source by a profile: match records with rules, and count what no rule fits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from itertools import islice

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
from planproof.readers.toolkit.call_markup import parse_action_text
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.line_patterns import LinePattern
from planproof.readers.toolkit.profile_paths import (
    CompiledCondition,
    Node,
    Path,
    parse_path,
    value_text,
)
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments, parse_status
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_SNIFF_RECORDS = 50
_SNIFF_LINES = 400
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_AGENT = "assistant"


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
        _ = (self._detector, self.rules, self.blocks, self._record_paths, self.fields)

    def sniff(self, source: Source) -> bool:
        """Return whether the source meets the conditions of `detect`."""
        detect, form = self.profile.detect, self.profile.form
        if form == "text":
            return source.form == "text" and self._sniff_text(source.document)
        if source.form == "text" or (form == "jsonl") != (source.form == "jsonl"):
            return False
        document, some, every = self._detector
        whole = Node(source.document, "")
        if detect.document and (source.form == "jsonl" or not document.holds(whole, whole)):
            return False
        head = list(islice(self._iter_records(source), _SNIFF_RECORDS))
        if not head or not all(every.holds(record, record) for record in head):
            return False
        return not detect.some or any(some.holds(record, record) for record in head)

    def read(self, source: Source) -> Trace:
        """Return the events of the records; what no rule fits is skipped and counted."""
        builder = TraceBuilder(source.skipped)
        run = _ProfileRun(self, builder)
        if self.profile.form == "text":
            run.read_blocks(source.document)
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
        lines = [_ANSI.sub("", line) for line in text.split("\n", _SNIFF_LINES)[:_SNIFF_LINES]]
        patterns = [LinePattern(pattern) for pattern in self.profile.detect.lines]
        return bool(patterns) and all(
            any(pattern.match(line.strip()) is not None for line in lines) for pattern in patterns
        )

    def _iter_records(self, source: Source) -> Iterator[Node]:
        if source.form == "jsonl":
            for line, value in source.document:
                yield Node(value, f"L{line}")
            return
        whole = Node(source.document, "")
        for path in self._record_paths:
            yield from path.every(whole, whole)

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


class _CompiledField:
    """One or more paths, or a constant."""

    def __init__(self, field: Field) -> None:
        texts = [field] if isinstance(field, str) else field
        self._sources = [text[1:] if text.startswith("=") else parse_path(text) for text in texts]

    def get(self, node: Node, record: Node) -> Node | None:
        """Return the first value that is there and is not null or empty text."""
        for source in self._sources:
            if isinstance(source, str):
                return Node(source, node.pointer)
            found = source.first(node, record)
            if found is not None and found.value is not None and found.value != "":
                return found
        return None

    def get_text(self, node: Node, record: Node) -> str | None:
        """Return the value as text; None if there is none."""
        found = self.get(node, record)
        return None if found is None else value_text(found.value)


def _compile_field(field: Field | None) -> _CompiledField | None:
    return None if field is None else _CompiledField(field)


class _RecordFields:
    """The fields that every record of a profile may have."""

    def __init__(self, profile: Profile) -> None:
        self.time = _CompiledField(profile.time)
        self.actor = _compile_field(profile.actor)
        self.turn = _compile_field(profile.turn)
        self.after = CompiledCondition(profile.after)


class _CompiledText:
    def __init__(self, part: Field | TextPart) -> None:
        text = part if isinstance(part, TextPart) else TextPart(part)
        self.text = _CompiledField(text.text)
        self.actor = _compile_field(text.actor)
        self.actions = text.actions


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
            text = self.text.get_text(node, record) or text
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
        return parse_arguments(raw.value)


class _CompiledResult:
    def __init__(self, part: ResultPart) -> None:
        self.output = _CompiledField(part.output)
        self.id = _compile_field(part.id)
        self.name = _compile_field(part.name)
        self.status = _CompiledStatus(part)


class _CompiledRule:
    def __init__(self, rule: Rule) -> None:
        self.when = CompiledCondition(rule.when)
        self.at = None if rule.at is None else parse_path(rule.at)
        self.ignore = rule.ignore
        self.system = None if rule.system is None else _CompiledText(rule.system)
        self.user = None if rule.user is None else _CompiledText(rule.user)
        self.reasoning = None if rule.reasoning is None else _CompiledText(rule.reasoning)
        self.message = None if rule.message is None else _CompiledText(rule.message)
        self.plan = None if rule.plan is None else _CompiledText(rule.plan)
        self.call = None if rule.call is None else _CompiledCall(rule.call)
        self.result = None if rule.result is None else _CompiledResult(rule.result)
        self.read = tuple(map(_CompiledRule, rule.read))
        self.rules = tuple(map(_CompiledRule, rule.rules))


class _CompiledBlock(_CompiledRule):
    def __init__(self, block: Block) -> None:
        super().__init__(block)
        self.patterns = _compile_patterns(block.line)
        self.until = _compile_patterns(block.until)
        self.single = block.single


def _compile_patterns(patterns: str | list[str]) -> tuple[LinePattern, ...]:
    return tuple(map(LinePattern, [patterns] if isinstance(patterns, str) else patterns))


class _OpenBlock:
    """A block of lines while it is read."""

    def __init__(self, block: _CompiledBlock, fields: dict[str, str], line: int) -> None:
        self.block = block
        self.fields = fields
        self.first = self.last = line
        self.open_field = "body"
        self.more: list[str] = []

    def to_record(self) -> Node:
        """Return the fields as a record; the pointer covers all lines."""
        record = dict(self.fields)
        if self.more:
            start = [record[self.open_field]] if record.get(self.open_field) else []
            record[self.open_field] = "\n".join([*start, *self.more]).strip("\n")
        pointer = f"L{self.first}" if self.first == self.last else f"L{self.first}-{self.last}"
        return Node(record, pointer)


class _ProfileRun:
    """One reading of a source: applies the rules and counts what they leave."""

    def __init__(self, reader: ProfileReader, builder: TraceBuilder) -> None:
        self._reader = reader
        self._profile = reader.profile
        self._builder = builder
        self._conversation = Conversation(builder)
        self._fields = reader.fields
        self._unknown: Counter[str] = Counter()
        self._agent_records = 0
        self._call_ids: dict[str, EventDraft] = {}
        self._started = not reader.profile.after
        self._record = Node(None, "")
        self._actor = _AGENT
        self._in_text = reader.profile.form == "text"

    def finish(self) -> Trace:
        """Return the trace, with what was counted."""
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
        for record in records:
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

    def read_blocks(self, text: str) -> None:
        """Read the blocks of a text."""
        blocks = self._reader.blocks
        current: _OpenBlock | None = None
        before: list[tuple[int, str]] = []
        lines = text.split("\n")
        for number, raw in enumerate(lines, 1):
            line = _ANSI.sub("", raw).rstrip("\r") if "\x1b" in raw else raw.rstrip("\r")
            if current is not None and _matches_any(current.block.until, line):
                self._add_block(current)
                current = None
                continue
            opened = _open_block(blocks, line, number)
            if opened is None:
                if current is not None:
                    current.more.append(line)
                    current.last = number if line.strip() else current.last
                elif line.strip():
                    before.append((number, line))
                continue
            if before:
                self._add_text_before(before)
                before = []
            if current is not None and not opened.block.single:
                self._add_block(current)
                current = opened
            elif opened.block.single:
                interrupted, current = current, None
                if interrupted is not None:
                    self._add_block(interrupted)
                self._add_block(opened)
            else:
                current = opened
        if current is not None:
            self._add_block(current)
        if before:
            self._add_text_before(before)

    def _add_block(self, block: _OpenBlock) -> None:
        record = block.to_record()
        self._begin_record(record)
        self._apply(block.block, record)

    def _add_text_before(self, lines: Sequence[tuple[int, str]]) -> None:
        """Add lines outside all blocks, as the profile says."""
        first, last = lines[0][0], lines[-1][0]
        pointer = f"L{first}" if first == last else f"L{first}-{last}"
        text = "\n".join(line for _, line in lines)
        if self._profile.before == "ignore" or self._builder.drafts:
            self._builder.skip(pointer, "lines outside all blocks of the profile")
            return
        is_user = self._profile.before == "user"
        kind = Kind.MESSAGE if is_user else Kind.SYSTEM
        self._builder.begin_turn()
        self._builder.add_message(kind, text, pointer, "user" if is_user else "system")

    def _begin_record(self, record: Node) -> None:
        self._record = record
        fields = self._fields
        time = fields.time.get(record, record)
        self._builder.time = parse_time(time.value) if time is not None else None
        actor = fields.actor.get_text(record, record) if fields.actor else None
        self._actor = actor or _AGENT
        turn = fields.turn.get_text(record, record) if fields.turn else None
        self._builder.begin_turn(turn)

    def _apply_first(self, rules: Sequence[_CompiledRule], node: Node) -> bool:
        for rule in rules:
            if rule.when.holds(node, self._record):
                self._apply(rule, node)
                return True
        kind = _describe_record(node.value)
        self._unknown[kind] += 1
        self._builder.skip(node.pointer, f"no rule of the profile fits {kind}")
        return False

    def _apply(self, rule: _CompiledRule, node: Node) -> None:
        """Apply a rule whose condition holds."""
        if rule.ignore is not None:
            self._builder.skip(node.pointer, rule.ignore)
            return
        for target in (node,) if rule.at is None else rule.at.every(node, self._record):
            self._emit(rule, target)

    def _emit(self, rule: _CompiledRule, node: Node) -> None:
        if rule.system is not None:
            self._add_text(rule.system, node, Kind.SYSTEM, "system")
        if rule.user is not None:
            self._add_text(rule.user, node, Kind.MESSAGE, "user")
        if rule.reasoning is not None:
            self._add_text(rule.reasoning, node, Kind.REASONING, None)
        if rule.message is not None:
            self._add_text(rule.message, node, Kind.MESSAGE, None)
        if rule.plan is not None:
            self._add_text(rule.plan, node, Kind.BOOKKEEPING, None)
        if rule.call is not None:
            self._add_call(rule.call, node)
        if rule.result is not None:
            self._add_result(rule.result, node)
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
        if not text.strip() and not images:
            return
        named = part.actor.get_text(node, self._record) if part.actor else None
        actor = named or fixed_actor or self._actor
        if fixed_actor is None:
            self._agent_records += 1
        if part.actions:
            drafts = self._conversation.add_text(text, pointer, actor)
            if kind is Kind.REASONING:
                self._conversation.mark_as_reasoning(drafts)
        elif kind is Kind.BOOKKEEPING:
            self._builder.add_plan(text, pointer, actor)
        else:
            draft = EventDraft(kind, pointer, None, actor, text.strip("\n"), images=images)
            self._builder.add_draft(draft)

    def _add_call(self, part: _CompiledCall, node: Node) -> None:
        record = self._record
        call = part.get_call(node, record)
        if call is None:
            self._builder.skip(node.pointer, "a call without a name")
            self._unknown["a call without a name"] += 1
            return
        draft = self._call_ids.get(call.id) if call.id else None
        if draft is None or self._profile.repeated_calls == "keep":
            actor = part.actor.get_text(node, record) if part.actor else None
            draft = self._builder.add_call(call, node.pointer, actor or self._actor)
            self._agent_records += 1
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
        elif status is not None:
            draft.status = status

    def _add_result(self, part: _CompiledResult, node: Node) -> None:
        record = self._record
        found = part.output.get(node, record)
        text, pointer, images = self._extract(found) if found else ("", node.pointer, ())
        self._builder.add_result(
            ToolResult(
                text,
                pointer,
                part.id.get_text(node, record) if part.id else None,
                part.name.get_text(node, record) if part.name else None,
                "tool",
                part.status.get(node, record),
                images,
            )
        )

    def _extract(self, found: Node) -> tuple[str, str, tuple[Image, ...]]:
        """Return the text of a value, its pointer and its images."""
        if isinstance(found.value, str):
            return found.value, self._record.pointer if self._in_text else found.pointer, ()
        if is_list(found.value) or is_object(found.value):
            text, pointer, images = extract_text(found.value, found.pointer)
            if text or images:
                return text, pointer, images
        return format_value(found.value), found.pointer, ()


def _open_block(blocks: Sequence[_CompiledBlock], line: str, number: int) -> _OpenBlock | None:
    bare = line.strip()
    for block in blocks:
        for pattern in block.patterns:
            fields = pattern.match(bare)
            if fields is not None:
                opened = _OpenBlock(block, fields, number)
                opened.open_field = pattern.open_field or "body"
                return opened
    return None


def _matches_any(patterns: Sequence[LinePattern], line: str) -> bool:
    bare = line.strip()
    return any(pattern.match(bare) is not None for pattern in patterns)


def _describe_record(value: Json) -> str:
    """Name the shape of a record, for the message that no rule fits it."""
    if not is_object(value):
        return "a value that is not an object"
    for key in ("type", "kind", "role", "event"):
        if isinstance(value.get(key), str):
            return f"records with {key} {value[key][:60]!r}"
    return f"records with the keys {', '.join(list(value)[:6])}"
