"""Suggest a profile for text: recurring shapes of lines become the blocks of the profile."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_embedded_json
from planproof.readers.suggestion.json_profile import Certainty, join_rules, suggest_rules
from planproof.readers.suggestion.line_shape import LineShape, escape_braces, read_shape
from planproof.readers.suggestion.record_shape import (
    RecordKind,
    classify_words,
    is_notice,
    split_words,
)
from planproof.readers.suggestion.yaml_writer import Commented, Draft, Yaml
from planproof.readers.toolkit.printed_text import split_lines
from planproof.readers.toolkit.text_actions import has_call, parse_action_text, split_segments

_MAX_LINES = 20_000
_MAX_LINE = 400
_LONGEST = 20_000
_MOST = 0.8
_DETECT_LINES = 400
_MAX_BLOCKS = 24
_MAX_OTHERS = 6
_CALL = re.compile(r"(?P<name>[A-Za-z_][\w.-]{0,79})\(.{0,400}\)$")
_NAME_AND_ARGUMENTS = re.compile(
    r"(?P<open>['\"`]?)[A-Za-z_][\w.-]{0,79}"
    r"(?P<between>[^\w{]{1,4}(?:(?:with|args|arguments|input)[^\w{]{1,4}){0,2})\{"
)
_STEP_WORDS = frozenset("step iteration round turn cycle loop".split())
_CALLING_WORDS = frozenset("calling invoking using running executing call calls use uses".split())
_CALL_LIST_WORDS = frozenset("tool tools function functions call calls".split())
# A label that may also be the role of a message.
_TOOL_SPEAKERS = frozenset(("tool", "function", "tools", "functions"))
_BULLET = re.compile(r"(?P<mark>[•\-*]) (?P<call>\S.{0,400})")
_MAX_LABEL_WORDS = 4
_INPUT_WORDS = frozenset("input args arguments parameters params".split())
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]{0,79}$")


@dataclass(slots=True, eq=False)
class _Block:
    """The lines of one shape: the rest of each, the lines below it, and the shape before it."""

    shape: LineShape
    first: int
    rests: list[str] = field(default_factory=list[str])
    below: list[list[str]] = field(default_factory=list[list[str]])
    previous: list[_Block | None] = field(default_factory=list["_Block | None"])
    kind: RecordKind | None = None
    is_input: bool = False

    @property
    def count(self) -> int:
        return len(self.rests)

    def parse_json(self, *, is_below: bool) -> list[Json]:
        """Return the JSON values below the lines, or those that begin on them."""
        heads = [""] * self.count if is_below else self.rests
        texts = ("\n".join([head, *below]) for head, below in zip(heads, self.below, strict=True))
        return [value for text in texts if (value := parse_embedded_json(text)) is not None]

    def join_texts(self) -> list[str]:
        """Return the text of each block: what follows the label, and the lines below it."""
        pairs = zip(self.rests, self.below, strict=True)
        return ["\n".join([head, *below]) for head, below in pairs]

    def count_after(self, kind: RecordKind) -> int:
        """Return how many of these lines come right after a block of a kind."""
        return sum(block is not None and block.kind == kind for block in self.previous)

    def comes_after(self, kind: RecordKind) -> bool:
        """Return whether nearly all of these lines, more than one, come after a block of a kind."""
        return self.count > 1 and self.count_after(kind) >= _MOST * self.count


def suggest_text_profile(text: str, draft: Draft) -> Counter[Certainty]:
    """Add to a draft the blocks of a text; return how many lines are sure, likely or unknown."""
    blocks = _find_blocks(text)
    known = [block for block in blocks if block.kind is not None]
    if _is_react(known):
        known = [block for block in known if _label(block) not in ("action", "action input")]
    known = sorted(known, key=lambda block: -block.count)[:_MAX_BLOCKS]
    unknown = [block for block in blocks if block not in known]
    notices = [block for block in unknown if block.count > 1 and _is_notice(block)]
    others = [block for block in unknown if block.count > 2 and block not in notices]
    rules = [_build_block(block, known) for block in known]
    rules += [_ignore(block) for block in notices[:_MAX_OTHERS]]
    if not rules:
        # Valid, so that it can be edited: the first line begins the only block.
        first = next((line for line in text.splitlines() if line.strip()), "x").strip()[:30]
        rules = [
            Commented(
                {"line": f"{escape_braces(first).rstrip()}{{rest}}", "message": "rest"},
                "No recurring labels, rules or brackets were found. Replace this by your own.",
            )
        ]
    draft.values["form"] = "text"
    draft.values["detect"] = {"lines": _choose_detection(known) or [rules[0].value["line"]]}
    draft.comments["detect"] = (
        "Patterns that must all occur in the first lines. Make them specific: no other format may "
        "have the same."
    )
    if not any(block.kind == "user" for block in known):
        draft.values["before"] = "user"
        draft.comments["before"] = "No label names the user: text before the first block is theirs."
    draft.values["blocks"] = [*rules]
    draft.comments["blocks"] = _describe_blocks(others)
    sure = sum(block.count for block in (*known, *notices))
    return Counter[Certainty]({"sure": sure, "unsure": sum(block.count for block in others)})


def _find_blocks(text: str) -> list[_Block]:
    """Return the blocks whose shape recurs, or has a label with a known word."""
    head = "\n".join(line[:_LONGEST] for line in text.split("\n", _MAX_LINES)[:_MAX_LINES])
    lines = [line for _, line in split_lines(head, {})]
    shapes = [read_shape(line[:_MAX_LINE].strip()) for line in lines]
    counts = Counter(shape for shape, _ in shapes if shape is not None)
    found: dict[LineShape, _Block] = {}
    previous: _Block | None = None
    current: _Block | None = None
    for number, (line, (shape, rest)) in enumerate(zip(lines, shapes, strict=True), 1):
        if shape is None or (counts[shape] == 1 and not _is_known(shape.label)):
            if current is not None:
                current.below[-1].append(line)
            continue
        if current is not None and current.shape.label:
            previous = current
        current = found.setdefault(shape, _Block(shape, number))
        current.rests.append(line.strip()[-len(rest) :] if rest else "")
        current.below.append([])
        current.previous.append(previous)
    blocks = list(found.values())
    _tell_kinds(blocks)
    return blocks


def _is_known(label: str) -> bool:
    return _classify(label) is not None or not _CALLING_WORDS.isdisjoint(split_words(label))


def _tell_kinds(blocks: Sequence[_Block]) -> None:
    """Set the kinds of blocks: by the words of their labels, and by what comes before them."""
    for block in blocks:
        block.kind = _classify(block.shape.label)
        if _label(block) in _TOOL_SPEAKERS and not _names_tools(block):
            block.kind = "result"
    is_react = _is_react(blocks)
    for block in blocks:
        is_input = not _INPUT_WORDS.isdisjoint(split_words(block.shape.label)) and not is_react
        if is_input and block.count_after("call") >= _MOST * block.count:
            block.kind, block.is_input = "call", True
    for block in blocks:
        if block.kind is None and not _CALLING_WORDS.isdisjoint(split_words(block.shape.label)):
            named = all(map(_CALL.match, block.rests)) and not block.shape.is_heading
            block.kind = "call" if named else None
    answers = [block for block in blocks if block.comes_after("call") and not _is_notice(block)]
    for block in answers:
        if block.kind in (None, "message"):
            block.kind = "result"
    for block in blocks:
        # Other results are known: an output that no call comes before is that of the agent.
        if block.kind == "result" and answers and not block.count_after("call"):
            block.kind = "message"


def _names_tools(block: _Block) -> bool:
    """Return whether what follows a label is the name of a tool, or a call of one."""
    rests = [rest for rest in block.rests if rest]
    named = (_IDENTIFIER.match(rest) or _CALL.match(rest) or _is_call(rest) for rest in rests)
    return bool(rests) and not block.shape.is_heading and all(named)


def _is_call(rest: str) -> bool:
    return _NAME_AND_ARGUMENTS.match(rest) is not None or parse_embedded_json(rest) is not None


def _is_notice(block: _Block) -> bool:
    words = split_words(block.shape.label)
    is_step = bool(words) and words[-1] in _STEP_WORDS and not any(block.rests)
    return is_step or is_notice(words) or not block.shape.label


def _classify(label: str) -> RecordKind | None:
    words = split_words(label)
    kind = None if words[-1:] == ["id"] else classify_words(words)
    if len(words) <= _MAX_LABEL_WORDS:
        return kind
    # "The assistant wants to call function": longer labels are sentences, unless they say that.
    return kind if kind == "call" and not _CALLING_WORDS.isdisjoint(words) else None


def _label(block: _Block) -> str:
    return block.shape.label.lower()


def _is_react(blocks: Sequence[_Block]) -> bool:
    """Return whether the calls are written as Action and Action Input below a thought."""
    labels = {_label(block) for block in blocks}
    return {"thought", "action", "action input"} <= labels


def _build_block(block: _Block, known: Sequence[_Block]) -> Commented:
    head = block.shape.pattern
    line: Yaml = f"{head} {{text}}"
    text: Yaml = "text"
    if block.shape.is_heading:
        line, text = head, "body"
    elif not all(block.rests):
        line, text = [line, head], [text, "body"]
    rule: dict[str, Yaml] = {"line": line}
    if block.shape.until:
        rule["until"] = block.shape.until
    note, kind = _describe_lines(block), block.kind
    if block.is_input:
        rule["input"] = _add_repr(text) if _has_dictionaries(block) else text
    elif inner := _build_json(block, text):
        rule.update(inner)
    elif kind == "call":
        rule.update(_build_call(block, rule, text, known))
    elif kind == "result":
        rule["result"] = {"output": text}
    elif (
        kind == "reasoning"
        and _label(block) == "thought"
        and not any(other.kind == "call" for other in known)
    ):
        rule["message"] = {"text": text, "actions": True}
        note += " Calls written below it as Action and Action Input are recognised."
    elif kind == "message":
        rule["message"] = _build_message(block, text)
    else:
        rule[kind or "message"] = text
    return Commented(rule, note)


def _build_message(block: _Block, text: Yaml) -> Yaml:
    """Return the message of a block: who speaks, and whether there are calls in what is said."""
    fields: dict[str, Yaml] = {"text": text}
    if any(has_call(split_segments(given.strip())) for given in block.join_texts()):
        fields["actions"] = "true"
    if "agent" in split_words(block.shape.label)[1:]:
        fields["actor"] = f"={block.shape.label}"
    return fields if len(fields) > 1 else text


def _has_dictionaries(block: _Block) -> bool:
    """Return whether the values after a label are dictionaries as Python prints them."""
    opening = (
        "\n".join([head, *below]) for head, below in zip(block.rests, block.below, strict=True)
    )
    return any(given.lstrip().startswith("{'") for given in opening)


def _add_repr(text: Yaml) -> Yaml:
    names = text if isinstance(text, list) else [text]
    return [*(f"{name}.@repr" for name in names), *names]


def _build_json(block: _Block, text: Yaml) -> dict[str, Yaml] | None:
    """Return the rule of calls that are JSON in the text of a block; None if there are none."""
    field_name = text[-1] if isinstance(text, list) else text
    values = block.parse_json(is_below=field_name == "body")
    if len(values) < _MOST * block.count or not isinstance(field_name, str):
        return None
    lists = [value for value in values if is_list(value)]
    objects = [item for value in lists for item in value] if lists else values
    found = suggest_rules([value for value in objects if is_object(value)])
    path = f"{field_name}.@json.*" if lists else f"{field_name}.@json"
    return join_rules(path, found.rules) if found.has_named_calls else None


def _build_call(
    block: _Block, rule: dict[str, Yaml], text: Yaml, known: Sequence[_Block]
) -> Mapping[str, Yaml]:
    """Return the call of a block, by what its lines say after the label."""
    head = block.shape.pattern
    rests = [rest for rest in block.rests if rest]
    words = split_words(block.shape.label)
    if rests and not block.shape.is_heading:
        if all(map(_CALL.match, rests)):
            return {"call": {"parse": text}}
        parts = {match and match.groups() for match in map(_NAME_AND_ARGUMENTS.match, rests)}
        if len(parts) == 1 and (part := parts.pop()):
            rule["line"] = f"{head} {part[0]}{{name:name}}{part[1]}{{arguments}}"
            given: Yaml = ["arguments.@repr", "arguments"] if "{'" in rests[0] else "arguments"
            return {"call": {"name": "name", "arguments": given}}
        if all(map(_IDENTIFIER.match, rests)) and any(map(any, block.below)):
            rule["line"] = f"{head} {{name:name}}"
            is_json = all(map(is_object, block.parse_json(is_below=True)))
            return {"call": {"name": "name", "arguments" if is_json else "text": "body"}}
        if all(map(parse_action_text, rests)):
            return {"call": {"parse": text}}
    if not rests and (listed := _build_call_list(block)):
        return listed
    named = any(other.kind == "call" and _names_tools(other) for other in known)
    if named and not rests and _CALL_LIST_WORDS.issuperset(words):
        return {"single": "true", "ignore": "a heading above calls"}
    if {"command", "shell", "bash", "cmd"}.intersection(words):
        return {"call": {"name": "=shell", "arguments": {"command": text}}}
    return {"call": {"name": f"={'_'.join(words)[:40] or 'action'}", "arguments": {"input": text}}}


def _build_call_list(block: _Block) -> Mapping[str, Yaml] | None:
    """Return the calls that are listed below a heading, one on each line; None if they are not."""
    below = [line.strip() for lines in block.below for line in lines if line.strip(" ╰┗└╚─━═╯┛┘╝")]
    items = [_BULLET.fullmatch(line) for line in below]
    calls = [item for item in items if item is not None and _CALL.match(item["call"])]
    if calls and len(calls) == len(below):
        marks = sorted({item["mark"] for item in calls})
        return {
            "blocks": [{"line": [f"{mark} {{text}}" for mark in marks], "call": {"parse": "text"}}]
        }
    return None


def _ignore(block: _Block) -> Commented:
    is_bare = block.shape.is_heading or (block.shape.label and not any(block.rests))
    end = "" if is_bare else " {text}"
    return Commented(
        {
            "line": f"{block.shape.pattern}{end}",
            "single": "true",
            "ignore": "a notice of the program",
        },
        _describe_lines(block),
    )


def _describe_lines(block: _Block) -> str:
    unit = "line" if block.count == 1 else "lines"
    return f"{block.count:,} {unit}, the first is line {block.first:,}."


def _choose_detection(blocks: Sequence[_Block]) -> list[Yaml]:
    """Return the patterns of the most frequent block of the calls, the agent and the user."""
    best: dict[RecordKind | None, _Block] = {}
    for block in blocks:
        if block.first <= _DETECT_LINES and block.kind not in (None, "result", "system"):
            best.setdefault(block.kind, block)
    return [
        block.shape.pattern
        if block.shape.is_heading or not any(block.rests)
        else f"{block.shape.pattern} {{text}}"
        for block in best.values()
        if block.shape.is_heading or all(block.rests) or not any(block.rests)
    ]


def _describe_blocks(others: Sequence[_Block]) -> str:
    note = "Each line that matches a pattern begins a block, which lasts until the next."
    if not others:
        return note
    shown = ", ".join(
        f"`{block.shape.pattern}` ({block.count:,})" for block in others[:_MAX_OTHERS]
    )
    return f"{note} Other lines that recur, and are part of the block before them: {shown}."
