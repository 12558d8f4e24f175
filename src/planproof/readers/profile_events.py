"""Apply the rules of a profile to records, and count what no rule fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain, islice, takewhile, zip_longest
from textwrap import dedent

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
    MISSING,
    CompiledCondition,
    Field,
    Node,
    get_empty,
    get_text,
    get_value,
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
# Of one turn: more are not searched for a text that repeats their output.
_MAX_CALLS = 64
# The texts of a rule in the order of their events, each with its fixed actor.
_TEXT_KINDS = (
    ("system", Kind.SYSTEM, "system"),
    ("user", Kind.MESSAGE, "user"),
    ("reasoning", Kind.REASONING, None),
    ("message", Kind.MESSAGE, None),
    ("plan", Kind.BOOKKEEPING, None),
)


class CompiledRule:
    """A rule with all that is tried on every record prepared, and the rules inside it."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.condition = CompiledCondition(rule.when)
        self.paths = None if rule.at is None else parse_paths(rule.at)
        parts = [(getattr(rule, name), kind, actor) for name, kind, actor in _TEXT_KINDS]
        self.texts = [
            (part if isinstance(part, TextPart) else TextPart(part), kind, actor)
            for part, kind, actor in parts
            if part is not None
        ]
        self.read = list(map(CompiledRule, rule.read))
        self.rules = RuleIndex(rule.rules) if rule.rules else None


class RuleIndex:
    """Rules of which the first that fits is applied, by the text that most of them ask for.

    Formats tell their records apart by one field, such as `type`. Looking it up once leaves few
    rules to try.
    """

    def __init__(self, listed: Sequence[Rule]) -> None:
        rules = list(map(CompiledRule, listed))
        self.ending_rules = [
            (rule, CompiledCondition(rule.rule.up_to)) for rule in rules if rule.rule.up_to
        ]
        paths = Counter(path for rule in rules for path in rule.condition.texts)
        self._path = paths.most_common(1)[0][0] if paths else None
        asked = [rule.condition.texts.get(self._path) if self._path else None for rule in rules]
        self._rules_by_text = {
            text: [
                rule for rule, texts in zip(rules, asked, strict=True) if not texts or text in texts
            ]
            for text in dict.fromkeys(text for texts in asked if texts for text in texts)
        }
        self._other_rules = [rule for rule, texts in zip(rules, asked, strict=True) if not texts]

    def find(self, node: Node, record: Node, over: set[CompiledRule]) -> CompiledRule | None:
        """Return the first rule whose condition holds, unless it is `over`."""
        rules = self._other_rules
        if self._path is not None:
            value = self._path.first_value(node, record)
            if value is not MISSING:
                rules = self._rules_by_text.get(value_text(value), rules)
        for rule in rules:
            if rule.condition.holds(node, record) and rule not in over:
                return rule
        return None


class CompiledRules:
    """The compiled rules and blocks of a profile, and what they need of other records."""

    def __init__(self, profile: Profile) -> None:
        self.index = RuleIndex(profile.rules)
        # The profile keeps its blocks, so that their identities are unique.
        self.blocks = {id(block): CompiledRule(block) for block in _iter_blocks(profile.blocks)}
        # Few formats have parts of an event in the next record, or repeat texts.
        self.need_next = "'>" in repr(profile.rules)
        self.need_texts = "once=True" in repr((profile.rules, profile.blocks))


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
        for record, after in zip_longest(listed, listed[1:]):
            if rules.need_next:
                record.after = after
            self._begin_record(record)
            for rule, end in rules.index.ending_rules:
                if rule not in self._over and end.holds(record, record):
                    self._over.add(rule)
            before = self._builder.change_count
            self._apply_first(rules.index, record)
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
        profile = self._profile
        time = get_value(profile.time, record, record)
        self._builder.time = parse_time(time.value) if time is not None else None
        if profile.actor is not None:
            self._actor = get_text(profile.actor, record, record) or _AGENT
        if not is_part and (self._is_turn_over or profile.turns == "records"):
            turn = None if profile.turn is None else get_text(profile.turn, record, record)
            self._builder.begin_turn(turn)
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

    def _apply_first(self, rules: RuleIndex, node: Node) -> None:
        rule = rules.find(node, self._record, self._over)
        if rule is not None:
            self._apply(rule, node)
            return
        kind = _describe_record(node.value)
        self._unknown[kind] += 1
        self._builder.skip(self._point_to(node), f"no rule of the profile fits {kind}")

    def _apply(self, rule: CompiledRule, node: Node) -> None:
        """Apply a rule whose condition holds."""
        if rule.paths is None:
            self._emit(rule, node)
            return
        for path in rule.paths:
            for target in path.every(node, self._record):
                self._emit(rule, target)

    def _emit(self, compiled: CompiledRule, node: Node) -> None:
        rule = compiled.rule
        if rule.ignore is not None:
            self._builder.skip(self._point_to(node), rule.ignore, repeats=rule.repeats)
            return
        if rule.runs is not None:
            self._speakers.code_runs.start_run(every=rule.runs == "all")
        if rule.calls is not None:
            self._open_or_close_call(rule.calls)
        for part, kind, actor in compiled.texts:
            self._add_text(part, node, kind, actor)
        if rule.call is not None:
            self._add_call(rule.call, node)
        if rule.result is not None:
            self._add_result(rule.result, node)
        if rule.input is not None:
            self._add_input(rule.input, node)
        for inner in compiled.read:
            if inner.condition.holds(node, self._record):
                self._apply(inner, node)
        if compiled.rules is not None:
            self._apply_first(compiled.rules, node)

    def _add_text(self, part: TextPart, node: Node, kind: Kind, fixed_actor: str | None) -> None:
        found = get_value(part.text, node, self._record)
        if found is None:
            return
        text, pointer, images = self._extract(found)
        if part.images is not None:
            images += self._parse_images(part.images, node)
        actor = get_text(part.actor, node, self._record) or fixed_actor or self._actor
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
        last = self._builder.drafts[-1] if self._builder.drafts else None
        is_part = last is not None and last.actor == actor and text in last.text
        return is_part or (actor, text) in self._said or self._repeats_outputs(text)

    def _repeats_outputs(self, text: str) -> bool:
        """Return whether a text is the output of the last calls."""
        drafts, last = islice(reversed(self._builder.drafts), _MAX_CALLS), self._last_call
        if last is None or last is not self._builder.drafts[-1]:
            return False
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
        last.text += text
        last.pointer = f"{first.partition('-')[0]}-{line[1:]}/{path}"
        self._builder.mark_deferred()
        return True

    def _add_call(self, part: CallPart, node: Node) -> None:
        record = self._record
        call = _parse_call_part(part, node, record)
        if call is None:
            self._builder.skip(self._point_to(node), "a call without a name")
            self._unknown["a call without a name"] += 1
            return
        if call.text and self._repeats_outputs(call.text):
            self._builder.skip(self._point_to(node), "repeats the output of the last call")
            return
        draft = self._call_ids.get(call.id) if call.id else None
        if draft is None or self._profile.repeated_calls == "keep":
            actor = get_text(part.actor, node, record) or self._actor
            self._speakers.flush()
            self._begin_turn_after_result()
            pointer = self._point_to(node)
            if isinstance(part.arguments, str) and part.arguments.startswith(">"):
                # A call of two records is in the list that holds both.
                pointer = record.pointer.rpartition("/")[0]
            written = self._builder.reading_text(call.text, pointer, actor)
            with written if part.written else nullcontext():
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

    def _add_outcome(self, part: CallPart, node: Node, draft: EventDraft) -> None:
        """Add the result and the status that the record of a call has."""
        record = self._record
        output = (
            get_value(part.output, node, record)
            or get_value(part.error, node, record)
            or get_empty(part.output, node, record)
        )
        status = _get_status(part, node, record)
        if output is not None and draft.output_pointer is None:
            text, pointer, images = self._extract(output)
            self._builder.answer(draft, ToolResult(text, pointer, status=status, images=images))
        elif status is not None and part.output is not None and draft.output_pointer is None:
            # A call that ended without output has an empty result.
            self._builder.answer(draft, ToolResult("", self._point_to(node), status=status))
        elif status is not None:
            draft.status = status

    def _add_result(self, part: ResultPart, node: Node) -> None:
        record = self._record
        self._is_turn_over = True
        found = get_value(part.output, node, record) or get_empty(part.output, node, record)
        text, pointer, images = self._extract(found) if found else ("", self._point_to(node), ())
        runs, is_known = self._speakers.code_runs, self._builder.has_unanswered_calls()
        # The blocks of a text say which of them run code.
        if runs.has_pending and not is_known and not self._in_text:
            runs.add_report(text, pointer, self._actor, _get_status(part, node, record))
            return
        self._speakers.flush()
        name = get_text(part.call, node, record)
        if name and not self._builder.has_unanswered_calls():
            self._builder.add_call(ToolCall(name), self._point_to(node), self._actor)
            self._agent_records += 1
        result = ToolResult(
            text,
            pointer,
            # Of no use if the calls have none.
            get_text(part.id, node, record) if self._call_ids else None,
            get_text(part.name, node, record),
            "tool",
            _get_status(part, node, record),
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

    def _add_input(self, part: Field, node: Node) -> None:
        """Set the arguments of the last call, which an earlier record named."""
        found, call = get_value(part, node, self._record), self._last_call
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
            if text or images or not found.value:
                return text, pointer if self._in_text or found.in_text else inner, images
        return format_value(found.value), pointer, ()

    def _parse_images(self, paths: str, node: Node) -> tuple[Image, ...]:
        """Return the images whose URLs are at these paths."""
        urls = (url for path in parse_paths(paths) for url in path.every(node, self._record))
        images = (parse_image({"image_url": url.value}) for url in urls)
        return tuple(image for image in images if image is not None)

    def _point_to(self, node: Node) -> str:
        """Return the pointer to a value, or to the record if there are none to its values."""
        return self._record.pointer if self._in_text else node.pointer


class _Parents:
    """Finds the calls that started sub-agents."""

    def __init__(self, paths: ParentPart | Field | None, calls: dict[str, EventDraft]) -> None:
        self._paths = paths if isinstance(paths, ParentPart) else ParentPart(paths or "")
        self._when = CompiledCondition(self._paths.when)
        self._calls = calls
        self._call_by_agent: dict[str, str] = {}
        self._call_by_record: dict[str, EventDraft] = {}
        self._calls_by_prompt: dict[Json, list[EventDraft]] = {}

    def index(self, records: Sequence[Node]) -> None:
        """Collect from all records which call started which agent."""
        paths = self._paths.started
        for record in records if paths else ():
            agent = get_text(paths["agent"], record, record)
            if agent is not None:
                self._call_by_agent[agent] = get_text(paths["call"], record, record) or ""

    def add_call(self, call: EventDraft) -> None:
        """Remember the texts that a call was given, which may be the prompt of an agent."""
        if self._paths.prompt is None or not is_object(call.arguments):
            return
        for given in call.arguments.values():
            if isinstance(given, str):
                self._calls_by_prompt.setdefault(given, []).append(call)

    def find(self, record: Node) -> EventDraft | None:
        """Return the call that started the agent of a record; None if it is unknown."""
        paths = self._paths
        if not self._when.holds(record, record):
            return None
        agent = get_text(paths.agent, record, record) or ""
        named = get_text(paths.call, record, record) or self._call_by_agent.get(agent, "")
        above = get_text(paths.above, record, record) or ""
        call = self._calls.get(named) or self._call_by_record.get(above)
        waiting = self._calls_by_prompt.get(get_text(paths.prompt, record, record))
        if call is None and waiting:
            # Agents started with the same prompt begin in the order of their calls.
            call = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        own = get_text(paths.record, record, record)
        if call is not None and own is not None:
            self._call_by_record[own] = call
        return call


def _get_status(part: CallPart | ResultPart, node: Node, record: Node) -> EventStatus | None:
    """Return whether a call failed, as far as its fields tell."""
    error = get_value(part.error, node, record)
    if error and error.value not in (False, 0, [], {}):
        return EventStatus.ERROR
    code = get_text(part.exit_code, node, record)
    if code:
        return {"0": EventStatus.OK, _UNKNOWN_CODE: None}.get(code, EventStatus.ERROR)
    found = get_value(part.status, node, record)
    return parse_status(found.value) if found else None


def _parse_call_part(part: CallPart, node: Node, record: Node) -> ToolCall | None:
    identity = get_text(part.id, node, record)
    if part.parse is not None:
        parsed = get_value(part.parse, node, record)
        if parsed is None or not isinstance(parsed.value, str):
            return None
        call = parse_action_text(parsed.value.strip())
        if call is not None:
            call.id = identity
        return call
    name = get_text(part.name, node, record)
    if not name:
        return None
    arguments, text = _get_arguments(part, node, record)
    if part.text is not None:
        text = dedent(get_text(part.text, node, record) or text)
    return ToolCall(name, arguments, text, identity)


def _get_arguments(part: CallPart, node: Node, record: Node) -> tuple[Json, str]:
    if isinstance(part.arguments, dict):
        found = {key: get_value(field, node, record) for key, field in part.arguments.items()}
        return {key: value.value for key, value in found.items() if value is not None}, ""
    raw = get_value(part.arguments, node, record)
    if raw is None:
        return None, ""
    if isinstance(raw.value, bool | int | float):
        return None, value_text(raw.value)
    if part.omit and is_object(raw.value):
        given = raw.value.items()
        return {k: v for k, v in given if k not in part.omit and v is not None}, ""
    return parse_arguments(_join_pairs(raw.value))


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
