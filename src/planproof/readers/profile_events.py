"""Apply the rules of a profile to records, and count what no rule fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise, takewhile
from textwrap import dedent
from typing import Any, TypeAlias

from planproof.core.content import Image, Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time
from planproof.core.trace import EventStatus, Kind, RecordCounts, Trace
from planproof.readers.profile import (
    Block,
    CallPart,
    ParentPart,
    Profile,
    ResultPart,
    Rule,
    TextPart,
)
from planproof.readers.toolkit.content_parts import extract_text, parse_image
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import (
    PointerFactory,
    make_constant_pointer,
    make_range_pointer,
    point_to_lines,
)
from planproof.readers.toolkit.handoffs import Handoffs
from planproof.readers.toolkit.printed_text import PrintedValues
from planproof.readers.toolkit.profile_paths import (
    CompiledCondition,
    CompiledField,
    Field,
    Node,
    Path,
    compile_field,
    parse_paths,
    value_text,
)
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_actions import parse_action_text
from planproof.readers.toolkit.text_blocks import NumberedLine, OpenBlock, split_blocks
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments, parse_status
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_AGENT = "assistant"
_UNKNOWN_CODE = "-1"
_MAX_SEARCHED_CHARS = 100_000
"""How much of the last text is searched for a repetition: there may be many."""
_MAX_CALLS = 64
"""Of one turn: more are not searched for a text that repeats their output."""
# The texts of a rule in the order of their events, each with its fixed actor.
_TEXT_KINDS = (
    ("system", Kind.SYSTEM, "system"),
    ("user", Kind.MESSAGE, "user"),
    ("reasoning", Kind.REASONING, None),
    ("message", Kind.MESSAGE, None),
    ("plan", Kind.BOOKKEEPING, None),
)


class _Text:
    """A text of a rule with its fields compiled; `fixed_actor` is the one of its kind."""

    def __init__(self, part: Field | TextPart, kind: Kind, fixed_actor: str | None) -> None:
        self.part = part if isinstance(part, TextPart) else TextPart(part)
        self.kind, self.fixed_actor = kind, fixed_actor
        self.text = compile_field(self.part.text)
        self.actor = compile_field(self.part.actor)
        self.images = () if self.part.images is None else parse_paths(self.part.images)


class _Outcome:
    """The fields compiled that calls and results have in common."""

    def __init__(self, part: CallPart | ResultPart) -> None:
        self.name = compile_field(part.name)
        self.id = compile_field(part.id)
        self.output = compile_field(part.output)
        self.error = compile_field(part.error)
        self.status = compile_field(part.status)
        self.exit_code = compile_field(part.exit_code)
        states = (self.error, self.status, self.exit_code)
        self.has_status = any(field.is_given for field in states)
        self.is_given = self.has_status or self.output.is_given

    def get_status(self, node: Node, record: Node) -> EventStatus | None:
        """Return whether a call failed, as far as its fields tell."""
        if not self.has_status:
            return None
        error = self.error.get(node, record)
        if error and error.value not in (False, 0, [], {}):
            return EventStatus.ERROR
        code = self.exit_code.get_text(node, record)
        if code:
            return {"0": EventStatus.OK, _UNKNOWN_CODE: None}.get(code, EventStatus.ERROR)
        found = self.status.get(node, record)
        return parse_status(found.value) if found else None


class _Call(_Outcome):
    def __init__(self, part: CallPart) -> None:
        super().__init__(part)
        self.part = part
        self.actor = compile_field(part.actor)
        self.text = compile_field(part.text)
        self.parse = compile_field(part.parse)
        named = part.arguments if isinstance(part.arguments, dict) else {}
        self.named = {key: compile_field(field) for key, field in named.items()}
        self.arguments = compile_field(None if isinstance(part.arguments, dict) else part.arguments)
        # A call of two records is in the list that holds both.
        self.is_in_two = isinstance(part.arguments, str) and part.arguments.startswith(">")

    def parse_call(self, node: Node, record: Node) -> ToolCall | None:
        """Return the call in a node; None if it has no name."""
        identity = self.id.get_text(node, record)
        if self.parse.is_given:
            parsed = self.parse.get(node, record)
            if parsed is None or not isinstance(parsed.value, str):
                return None
            call = parse_action_text(parsed.value.strip())
            if call is not None:
                call.id = identity
            return call
        name = self.name.get_text(node, record)
        if not name:
            return None
        arguments, text = self._get_arguments(node, record)
        if self.text.is_given:
            text = self.text.get_text(node, record) or text
            text = dedent(text) if text[:1].isspace() else text
        return ToolCall(name, arguments, text, identity)

    def _get_arguments(self, node: Node, record: Node) -> tuple[Json, str]:
        if isinstance(self.part.arguments, dict):
            found = {key: field.get(node, record) for key, field in self.named.items()}
            return {key: value.value for key, value in found.items() if value is not None}, ""
        raw = self.arguments.get(node, record)
        if raw is None:
            return None, ""
        value, omit = raw.value, self.part.omit
        if is_object(value):
            left = (item for item in value.items() if item[0] not in omit and item[1] is not None)
            return dict(left) if omit else value, ""
        if isinstance(value, bool | int | float):
            return None, value_text(value)
        return parse_arguments(_join_pairs(value))


class _Result(_Outcome):
    def __init__(self, part: ResultPart) -> None:
        super().__init__(part)
        self.call = compile_field(part.call)


class CompiledRule:
    """A rule compiled into the methods of a run that its fields call for, each with its part."""

    def __init__(self, rule: Rule) -> None:
        self.condition = CompiledCondition(rule.when)
        self.paths = None if rule.at is None else parse_paths(rule.at)
        self.up_to = CompiledCondition(rule.up_to) if rule.up_to else None
        self.parts = list(_compile_parts(rule))


_Part: TypeAlias = "tuple[Callable[[ProfileRun, Any, Node], None], Any]"


def _compile_parts(rule: Rule) -> Iterator[_Part]:
    """Yield what a rule does, in the order of its events."""
    if rule.ignore is not None:
        yield ProfileRun.skip_node, rule
        return
    if rule.runs is not None:
        yield ProfileRun.start_code_run, rule.runs
    if rule.calls is not None:
        yield ProfileRun.open_or_close_call, rule.calls
    for name, kind, actor in _TEXT_KINDS:
        if (part := getattr(rule, name)) is not None:
            yield ProfileRun.add_text, _Text(part, kind, actor)
    if rule.call is not None:
        yield ProfileRun.add_call, _Call(rule.call)
    if rule.result is not None:
        yield ProfileRun.add_result, _Result(rule.result)
    if rule.input is not None:
        yield ProfileRun.add_input, compile_field(rule.input)
    for inner in rule.read:
        yield ProfileRun.apply_if, CompiledRule(inner)
    if rule.rules:
        yield ProfileRun.apply_first, RuleIndex(rule.rules)


class RuleIndex:
    """Rules of which the first that fits is applied, by the text that most of them ask for.

    Formats tell their records apart by one key, such as `type`. Looking it up once leaves few
    rules to try, and less to test of them.
    """

    def __init__(self, listed: Sequence[Rule]) -> None:
        self.rules = list(map(CompiledRule, listed))
        keys = Counter(key for rule in self.rules for key in rule.condition.texts)
        key = self._key = keys.most_common(1)[0][0] if keys else ""
        self._all = [(rule.condition.holds, rule) for rule in self.rules]
        self._others = [(test, rule) for test, rule in self._all if key not in rule.condition.texts]
        asked = {text for rule in self.rules for text in rule.condition.texts.get(key, ())}
        self._by_text = {
            text: [
                (rule.condition.without(key), rule)
                for rule in self.rules
                if text in rule.condition.texts.get(key, (text,))
            ]
            for text in asked
        }

    def find(self, node: Node, record: Node, over: set[CompiledRule]) -> CompiledRule | None:
        """Return the first rule whose condition holds, unless it is `over`."""
        value, rules = node.value, self._all
        if value.__class__ is dict:
            text = value.get(self._key)
            if text.__class__ is str:
                rules = self._by_text.get(text, self._others)
        for holds, rule in rules:
            if holds(node, record) and rule not in over:
                return rule
        return None


class CompiledRules:
    """A profile compiled: its rules and blocks, and the fields that all records have."""

    def __init__(self, profile: Profile) -> None:
        self.index = RuleIndex(profile.rules)
        self.ending_rules = [(rule, rule.up_to) for rule in self.index.rules if rule.up_to]
        # The profile keeps its blocks, so that their identities are unique.
        self.blocks = {id(block): CompiledRule(block) for block in _iter_blocks(profile.blocks)}
        # Few formats have parts of an event in the next record, or repeat texts.
        self.need_next = "'>" in repr(profile.rules)
        self.need_texts = "once=True" in repr((profile.rules, profile.blocks))
        self.time, self.actor, self.turn = map(
            compile_field, (profile.time, profile.actor, profile.turn)
        )


def _iter_blocks(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        yield from _iter_blocks(block.blocks)


class ProfileRun:
    """One reading of a source: applies the rules and counts what they leave."""

    def __init__(self, profile: Profile, builder: TraceBuilder, rules: CompiledRules) -> None:
        self._profile = profile
        self._rules = rules
        self._builder = builder
        self._conversation = Conversation(builder)
        self._speakers = Speakers(builder)
        self._block: OpenBlock | None = None
        self._open_calls: list[tuple[EventDraft | None, EventDraft | None]] = []
        self._closed_call: EventDraft | None = None
        self._closed_at = 0
        self._last_call: EventDraft | None = None
        self._comments: dict[int, list[EventDraft]] = {}
        self._chunked: EventDraft | None = None
        """The event whose text comes in pieces, and the pieces so far."""
        self._chunks: list[str] = []
        self._calling_turns: set[int] = set()
        self._handoffs = Handoffs()
        self._unknown: Counter[str] = Counter()
        self._agent_records = 0
        self._call_ids: dict[str, EventDraft] = {}
        self._parents = _Parents(profile.parent, self._call_ids)
        self._said: set[tuple[str, str]] = set()
        self._is_turn_over = True
        self._over: set[CompiledRule] = set()
        self._record = Node(None, "")
        self._actor = _AGENT
        self._in_text = profile.form == "text"

    def finish(self) -> Trace:
        """Return the trace, with what was counted."""
        self._speakers.flush()
        self._join_chunks()
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
        listed = list(records)
        self._parents.index(listed)
        rules = self._rules
        for record, after in pairwise([*listed, None]) if rules.need_next else ():
            if record is not None:
                record.after = after
        is_all_over = False
        for record in listed:
            self._begin_record(record)
            for rule, end in rules.ending_rules if not is_all_over else ():
                if end.holds(record, record):
                    self._over.add(rule)
                    is_all_over = len(self._over) == len(rules.ending_rules)
            before = self._builder.change_count
            self.apply_first(rules.index, record)
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
        blocks: Sequence[Block],
        lines: Sequence[NumberedLine],
        inherited: dict[str, Json],
    ) -> None:
        """Read the blocks in the lines of a text, each with its number."""
        for part in split_blocks(blocks, lines):
            if isinstance(part, OpenBlock):
                self._add_block(part, inherited)
            else:
                self._add_text_outside(part)

    def _add_block(self, block: OpenBlock, inherited: dict[str, Json]) -> None:
        inner = block.take_inner_lines()
        record = block.to_record(inherited)
        self._begin_record(record, is_part=bool(inherited))
        self._block = block
        before = self._builder.change_count
        self._apply(self._rules.blocks[id(block.block)], record)
        if inner:
            fields = record.value if is_object(record.value) else {}
            self.read_lines(block.block.blocks, inner, fields)
        elif self._builder.change_count == before and block.block.calls is None:
            self._builder.skip(record.pointer, "nothing in it is an event")

    def _add_text_outside(self, lines: Sequence[NumberedLine]) -> None:
        """Add lines outside all blocks, as the profile says."""
        filled = [number for number, line in lines if line.strip()]
        if not filled:
            return
        pointer = point_to_lines(filled[0], filled[-1])
        text = "\n".join(line for _, line in lines)
        before = self._profile.before
        if before == "ignore" or self._builder.drafts:
            self._builder.skip(pointer, "lines outside all blocks of the profile")
            return
        self._builder.begin_turn()
        if before == "message":
            pointer_for = make_range_pointer(text, [number for number, _ in lines])
            self._speakers.add_turn(text, pointer_for, self._actor)
        else:
            kind = Kind.MESSAGE if before == "user" else Kind.SYSTEM
            self._builder.add_message(kind, text.strip("\n"), pointer, before)

    def _begin_record(self, record: Node, *, is_part: bool = False) -> None:
        self._record = record
        profile, rules = self._profile, self._rules
        time = rules.time.get(record, record)
        self._builder.time = parse_time(time.value) if time is not None else None
        if rules.actor.is_given:
            self._actor = rules.actor.get_text(record, record) or _AGENT
        if not is_part and (self._is_turn_over or profile.turns == "records"):
            self._builder.begin_turn(rules.turn.get_text(record, record))
            self._is_turn_over = False
        if profile.parent:
            self._builder.parent = self._parents.find(record)
        elif profile.handoffs:
            is_user = self._actor == "user"
            starter = None if is_user else self._handoffs.find_parent_call(self._actor)
            self._builder.parent = starter

    def _begin_turn_after_result(self) -> None:
        """Begin a turn if one has ended within a record."""
        if self._is_turn_over and self._profile.turns == "results":
            self._builder.begin_turn()
            self._is_turn_over = False

    def apply_first(self, rules: RuleIndex, node: Node) -> None:
        """Apply the first rule that fits."""
        rule = rules.find(node, self._record, self._over)
        if rule is not None:
            self._apply(rule, node)
            return
        kind = _describe_record(node.value)
        self._unknown[kind] += 1
        self._builder.skip(self._point_to(node), f"no rule of the profile fits {kind}")

    def apply_if(self, rule: CompiledRule, node: Node) -> None:
        """Apply a rule if its condition holds."""
        if rule.condition.holds(node, self._record):
            self._apply(rule, node)

    def _apply(self, rule: CompiledRule, node: Node) -> None:
        """Add what a rule says of a node, or of the values at its paths."""
        if rule.paths is None:
            for add, part in rule.parts:
                add(self, part, node)
            return
        for path in rule.paths:
            for target in path.every(node, self._record):
                for add, part in rule.parts:
                    add(self, part, target)

    def skip_node(self, rule: Rule, node: Node) -> None:
        """Skip what a rule ignores."""
        self._builder.skip(self._point_to(node), rule.ignore or "", repeats=rule.repeats)

    def start_code_run(self, which: str, node: Node) -> None:
        """Say that code of the turns before is run: the next piece, or all of it."""
        self._speakers.code_runs.start_run(every=which == "all")

    def add_text(self, compiled: _Text, node: Node) -> None:
        """Add a message, reasoning, a plan or a system prompt."""
        found = compiled.text.get(node, self._record)
        if found is None:
            return
        part, kind, fixed_actor = compiled.part, compiled.kind, compiled.fixed_actor
        text, pointer, images = self._extract(found)
        if compiled.images:
            images += self._parse_images(compiled.images, node)
        actor = compiled.actor.get_text(node, self._record) or fixed_actor or self._actor
        if fixed_actor == "user" and self._builder.parent is not None:
            # A sub-agent's prompt comes from an agent, not from the user.
            kind, actor = Kind.SYSTEM, "system"
        if part.chunks and self._extend_last_text(kind, actor, text, pointer):
            return
        bare = text.strip()
        if not bare and not images:
            return
        if part.once and self._is_repeated(bare, actor):
            self._builder.skip(pointer, "repeats an earlier text", repeats=True)
            return
        self._count_text(bare, actor, by_agent=fixed_actor is None)
        if part.actions and (self._in_text or part.actor is not None):
            whole = make_constant_pointer(self._point_to(node))
            pointers = self._make_pointers(text) if self._in_text else whole
            self._speakers.add_turn(text, pointers, actor)
        elif part.actions:
            drafts = self._conversation.add_text(text, pointer, actor)
            if kind is Kind.REASONING:
                self._conversation.mark_as_reasoning(drafts, is_said=False)
        elif kind is Kind.BOOKKEEPING:
            self._add_plan(found, actor)
        else:
            kept = text if part.chunks else text.strip("\n")
            draft = EventDraft(kind, pointer, None, actor, kept, images=images)
            self._builder.add_draft(draft)
            if part.comment:
                self._add_comment(draft)

    def _count_text(self, text: str, actor: str, *, by_agent: bool) -> None:
        if self._rules.need_texts:
            self._said.add((actor, text))
        if by_agent:
            self._begin_turn_after_result()
            self._agent_records += 1
        else:
            self._is_turn_over = True

    def _add_plan(self, found: Node, actor: str) -> None:
        text, pointer, _ = self._extract(found)
        if is_list(found.value):
            text, pointer = "\n".join(map(format_value, found.value)), self._point_to(found)
        self._builder.add_plan(text, pointer, actor)

    def _add_comment(self, draft: EventDraft) -> None:
        if draft.turn in self._calling_turns:
            draft.kind = Kind.REASONING
        else:
            self._comments.setdefault(draft.turn, []).append(draft)

    def _is_repeated(self, text: str, actor: str) -> bool:
        """Return whether an actor said the same before, or as a part of the last text."""
        self._join_chunks()
        last = self._builder.drafts[-1] if self._builder.drafts else None
        is_part = (
            last is not None and last.actor == actor and text in last.text[-_MAX_SEARCHED_CHARS:]
        )
        return is_part or (actor, text) in self._said or self._repeats_outputs(text)

    def _repeats_outputs(self, text: str) -> bool:
        """Return whether a text is the output of the last calls."""
        last = self._last_call
        if last is None or last is not self._builder.drafts[-1]:
            return False
        drafts = islice(reversed(self._builder.drafts), _MAX_CALLS)
        calls = [d for d in takewhile(lambda d: d.turn == last.turn, drafts) if d.output]
        return bool(calls) and text.strip() == "\n".join(d.output for d in reversed(calls)).strip()

    def _mark_comments(self, call: EventDraft) -> None:
        """Make the messages of a call's turn reasoning, or that in the block before it."""
        self._calling_turns.add(call.turn)
        if not self._comments:
            return
        turns = {call.turn, *(draft.turn for draft in self._builder.drafts[-2:-1] if self._in_text)}
        for draft in chain.from_iterable(self._comments.pop(turn, ()) for turn in turns):
            draft.kind = Kind.REASONING

    def _extend_last_text(self, kind: Kind, actor: str, text: str, pointer: str) -> bool:
        """Append a piece to the last event if that is an earlier piece of the same text."""
        last = self._builder.drafts[-1] if self._builder.drafts else None
        if last is None or (last.kind, last.actor) != (kind, actor):
            return False
        line, _, path = pointer.partition("/")
        first, _, last_path = last.pointer.partition("/")
        if not line.startswith("L") or path != last_path:
            return False
        if last is not self._chunked:
            self._join_chunks()
            self._chunked, self._chunks = last, [last.text]
        self._chunks.append(text)
        last.pointer = f"{first.partition('-')[0]}-{line[1:]}/{path}"
        self._builder.mark_deferred()
        return True

    def _join_chunks(self) -> None:
        """Set the text of an event that came in pieces: once, as every change copies all of it."""
        if self._chunked is not None:
            self._chunked.text = "".join(self._chunks)
            self._chunked = None

    def add_call(self, part: _Call, node: Node) -> None:
        """Add a call, with the result that its record has."""
        record = self._record
        call = part.parse_call(node, record)
        if call is None:
            self._builder.skip(self._point_to(node), "a call without a name")
            self._unknown["a call without a name"] += 1
            return
        if call.text and self._repeats_outputs(call.text):
            self._builder.skip(self._point_to(node), "repeats the output of the last call")
            return
        draft = self._call_ids.get(call.id) if call.id else None
        if draft is None or self._profile.repeated_calls == "keep":
            actor = part.actor.get_text(node, record) or self._actor
            self._speakers.flush()
            self._begin_turn_after_result()
            pointer = self._point_to(node)
            if part.is_in_two:
                pointer = record.pointer.rpartition("/")[0]
            if part.part.written:
                with self._builder.reading_text(call.text, pointer, actor):
                    draft = self._builder.add_call(call, pointer, actor)
            else:
                draft = self._builder.add_call(call, pointer, actor)
            self._agent_records += 1
            self._last_call = draft
            self._mark_comments(draft)
            self._parents.add_call(draft)
            if self._profile.handoffs:
                self._handoffs.record_handoff(draft)
            if call.id:
                self._call_ids[call.id] = draft
            self._add_outcome(part, node, draft)
            return
        where = self._point_to(node)
        with self._builder.skipping_if_unread(where, "repeats a call", repeats=True):
            if draft.arguments is None and call.arguments is not None:
                self._builder.mark_deferred()
                draft.arguments = call.arguments
            self._add_outcome(part, node, draft)

    def _add_outcome(self, part: _Call, node: Node, draft: EventDraft) -> None:
        """Add the result and the status that the record of a call has."""
        if not part.is_given:
            return
        record = self._record
        output = (
            part.output.get(node, record)
            or part.error.get(node, record)
            or part.output.get_empty(node, record)
        )
        status = part.get_status(node, record)
        if output is not None and draft.output_pointer is None:
            text, pointer, images = self._extract(output)
            self._builder.answer(draft, ToolResult(text, pointer, status=status, images=images))
        elif status is not None and part.output.is_given and draft.output_pointer is None:
            # A call that ended without output has an empty result.
            self._builder.answer(draft, ToolResult("", self._point_to(node), status=status))
        elif status is not None:
            draft.status = status

    def add_result(self, part: _Result, node: Node) -> None:
        """Add the result of a call that another record has."""
        record = self._record
        self._is_turn_over = True
        found = part.output.get(node, record) or part.output.get_empty(node, record)
        text, pointer, images = self._extract(found) if found else ("", self._point_to(node), ())
        runs, builder = self._speakers.code_runs, self._builder
        # The blocks of a text say which of them run code.
        if runs.has_pending and not self._in_text and not builder.has_unanswered_calls():
            runs.add_report(text, pointer, self._actor, part.get_status(node, record))
            return
        self._speakers.flush()
        name = part.call.get_text(node, record)
        if name and not builder.has_unanswered_calls():
            builder.add_call(ToolCall(name), self._point_to(node), self._actor)
            self._agent_records += 1
        result = ToolResult(
            text,
            pointer,
            # Of no use if the calls have none.
            part.id.get_text(node, record) if self._call_ids else None,
            part.name.get_text(node, record),
            "tool",
            part.get_status(node, record),
            images,
        )
        closed, self._closed_call = self._closed_call, None
        call = self._call_ids.get(result.call_id) if result.call_id else self._last_call
        if call is not None and call.output_pointer and call.output.strip() == text.strip():
            self._builder.skip(pointer, "repeats the result of the call", repeats=True)
        elif closed is not None and result.call_id is None and closed.output_pointer is None:
            self._builder.answer(closed, result)
        else:
            self._builder.add_result(result)

    def add_input(self, field: CompiledField, node: Node) -> None:
        """Set the arguments of the last call, which an earlier record named."""
        found, call = field.get(node, self._record), self._last_call
        if found is None or call is None:
            self._builder.skip(self._point_to(node), "arguments without a call")
            return
        self._builder.mark_deferred()
        call.arguments, call.text = parse_arguments(found.value)
        if self._in_text:
            lines = (call.pointer.removeprefix("L"), self._point_to(node).removeprefix("L"))
            numbers = [int(number) for part in lines for number in part.split("-")]
            call.pointer = point_to_lines(numbers[0], numbers[-1])

    def open_or_close_call(self, what: str, node: Node) -> None:
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
        value, pointer = found.value, self._record.pointer if self._in_text else found.pointer
        if value.__class__ is str:
            return value, pointer, ()
        if is_list(value) or is_object(value):
            text, inner, images = extract_text(value, pointer)
            if text or images or not value:
                return text, pointer if self._in_text or found.in_text else inner, images
        return format_value(value), pointer, ()

    def _parse_images(self, paths: Iterable[Path], node: Node) -> tuple[Image, ...]:
        """Return the images whose URLs are at these paths."""
        urls = (url for path in paths for url in path.every(node, self._record))
        images = (parse_image({"image_url": url.value}) for url in urls)
        return tuple(image for image in images if image is not None)

    def _point_to(self, node: Node) -> str:
        """Return the pointer to a value, or to the record if there are none to its values."""
        return self._record.pointer if self._in_text else node.pointer


class _Parents:
    """Finds the calls that started sub-agents."""

    def __init__(self, paths: ParentPart | Field | None, calls: dict[str, EventDraft]) -> None:
        part = paths if isinstance(paths, ParentPart) else ParentPart(paths or "")
        self._when = CompiledCondition(part.when)
        self._call, self._agent, self._record, self._above, self._prompt = map(
            compile_field, (part.call, part.agent, part.record, part.above, part.prompt)
        )
        self._started = {key: compile_field(field) for key, field in part.started.items()}
        self._calls = calls
        self._call_by_agent: dict[str, str] = {}
        self._call_by_record: dict[str, EventDraft] = {}
        self._calls_by_prompt: dict[Json, list[EventDraft]] = {}

    def index(self, records: Sequence[Node]) -> None:
        """Collect from all records which call started which agent."""
        started = self._started
        for record in records if started else ():
            agent = started["agent"].get_text(record, record)
            if agent is not None:
                self._call_by_agent[agent] = started["call"].get_text(record, record) or ""

    def add_call(self, call: EventDraft) -> None:
        """Remember the texts that a call was given, which may be the prompt of an agent."""
        if not self._prompt.is_given or not is_object(call.arguments):
            return
        for given in call.arguments.values():
            if isinstance(given, str):
                self._calls_by_prompt.setdefault(given, []).append(call)

    def find(self, record: Node) -> EventDraft | None:
        """Return the call that started the agent of a record; None if it is unknown."""
        if not self._when.holds(record, record):
            return None
        agent = self._agent.get_text(record, record) or ""
        named = self._call.get_text(record, record) or self._call_by_agent.get(agent, "")
        above = self._above.get_text(record, record) or ""
        call = self._calls.get(named) or self._call_by_record.get(above)
        waiting = self._calls_by_prompt.get(self._prompt.get_text(record, record))
        if call is None and waiting:
            # Agents started with the same prompt begin in the order of their calls.
            call = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        own = self._record.get_text(record, record)
        if call is not None and own is not None:
            self._call_by_record[own] = call
        return call


def _join_pairs(value: Json) -> Json:
    """Return a list of names with values as an object, other values unchanged."""
    pairs = [item for item in value if is_object(item)] if is_list(value) else []
    if not pairs or not all(
        "value" in pair and isinstance(pair.get("name"), str) for pair in pairs
    ):
        return value
    return {pair["name"]: pair["value"] for pair in pairs}


def _describe_record(value: Json) -> str:
    """Name the shape of a record, for the message that no rule fits it."""
    if not is_object(value):
        return "a value that is not an object"
    for key in ("type", "part_kind", "kind", "role", "event"):
        if isinstance(value.get(key), str):
            return f"records with {key} {value[key][:60]!r}"
    return f"records with the keys {', '.join(list(value)[:6])}"
