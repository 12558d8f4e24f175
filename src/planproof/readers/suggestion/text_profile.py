"""Suggest a profile for text: recurring shapes of lines become the blocks of the profile."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from planproof.core.json_values import is_object, parse_embedded_json
from planproof.readers.suggestion.record_words import (
    RecordKind,
    classify_words,
    is_notice,
    split_words,
)
from planproof.readers.suggestion.yaml_writer import Commented, Draft, Yaml
from planproof.readers.toolkit.text_actions import parse_action_text

_MAX_LINES = 20_000
_MAX_LINE = 400
_DETECT_LINES = 400
_MAX_BLOCKS = 24
_MAX_OTHERS = 6
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_TIME = re.compile(
    r"(?P<open>[\[(]?)(?:\d{4}-\d\d-\d\d(?P<gap>[T ]))?\d\d:\d\d(?::\d\d)?[\d.,:+Z-]{0,12}"
    r"(?P<close>[\])]?)(?P<after>\s{1,3}(?:[-|]\s{1,3})?)"
)
_WORDS = r"(?P<label>[A-Za-z][A-Za-z_-]{0,24}(?: [A-Za-z_-]{1,20}){0,2})(?P<number> ?\d{1,6})?"
_LEVEL = re.compile(
    r"(?P<open>[\[|]?\s?)(?:DEBUG|INFO|WARN|WARNING|ERROR)(?P<close>\]?:?\s{1,8}(?:[-|]\s)?)"
)
_LABEL = re.compile(rf"(?P<mark>[^\w\s\[({{\"'`<]{{0,3}}\s?){_WORDS}(?P<colon>:)(?=\s|$)")
_BRACKET = re.compile(rf"(?P<mark>\[){_WORDS}(?P<colon>\]:?)(?=\s|$)")
_HEADING = re.compile(
    rf"(?P<mark>#{{1,6}} |[=*_~-]{{2,80}} ?){_WORDS}(?P<colon>:?)(?P<end>(?: ?[=*_~-]{{2,80}})?)$"
)
_PROMPT = re.compile(r"(?P<mark>\$|>>>|%) (?=\S)")
_CALL = re.compile(r"(?P<name>[A-Za-z_][\w.-]{0,79})\(.{0,400}\)$")
_NAME_AND_ARGUMENTS = re.compile(r"[A-Za-z_][\w.-]{0,79} \{.{0,400}$")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]{0,79}$")


class _Shape(NamedTuple):
    """The shape of a line: the pattern of what comes before the text, and its label."""

    pattern: str
    label: str
    is_heading: bool


@dataclass(slots=True)
class _Block:
    """The lines of one shape: the rest of each, and the line after it."""

    shape: _Shape
    first: int
    rests: list[str] = field(default_factory=list[str])
    following: list[str] = field(default_factory=list[str])

    @property
    def count(self) -> int:
        return len(self.rests)


def suggest_text_profile(text: str, draft: Draft) -> dict[Literal["sure", "likely", "unsure"], int]:
    """Add to a draft the blocks of a text; return how many lines are sure, likely or unknown."""
    blocks = _find_blocks(text)
    kinds: dict[str, RecordKind | None] = {
        block.shape.pattern: _classify(block.shape.label) for block in blocks
    }
    known = [block for block in blocks if kinds[block.shape.pattern] is not None]
    if _is_react(known):
        known = [block for block in known if _label(block) not in ("action", "action input")]
    known = sorted(known, key=lambda block: -block.count)[:_MAX_BLOCKS]
    unknown = [block for block in blocks if block not in known and block.count > 2]
    notices = [block for block in unknown if is_notice(split_words(block.shape.label))]
    others = [block for block in unknown if block not in notices]
    rules = [_build_block(block, kinds[block.shape.pattern], known) for block in known]
    rules += [_ignore(block) for block in notices[:_MAX_OTHERS]]
    if not rules:
        # Valid, so that it can be edited: the first line begins the only block.
        first = next((line for line in text.splitlines() if line.strip()), "x").strip()[:30]
        rules = [
            Commented(
                {"line": f"{_escape(first).rstrip()}{{rest}}", "message": "rest"},
                "No recurring labels, rules or brackets were found. Replace this by your own.",
            )
        ]
    draft.values["form"] = "text"
    draft.values["detect"] = {"lines": _choose_detection(known) or [rules[0].value["line"]]}
    draft.comments["detect"] = (
        "Patterns that must all occur in the first lines. Make them specific: no other format may "
        "have the same."
    )
    has_user = "user" in kinds.values()
    if not has_user:
        draft.values["before"] = "user"
        draft.comments["before"] = "No label names the user: text before the first block is theirs."
    draft.values["blocks"] = [*rules]
    draft.comments["blocks"] = _describe_blocks(others)
    sure = sum(block.count for block in (*known, *notices))
    return {"sure": sure, "unsure": sum(block.count for block in others)}


def _find_blocks(text: str) -> list[_Block]:
    """Return the shapes that recur, or that have a label with a known word."""
    found: dict[str, _Block] = {}
    lines = [_ANSI.sub("", line[:_MAX_LINE]).strip() for line in text.split("\n", _MAX_LINES)]
    for number, line in enumerate(lines[:_MAX_LINES], 1):
        shape, rest = _read_shape(line)
        if shape is None:
            continue
        block = found.setdefault(shape.pattern, _Block(shape, number))
        block.rests.append(rest)
        block.following.append(next((text for text in lines[number : number + 3] if text), ""))
    return [
        block
        for block in found.values()
        if block.count > 1 or _classify(block.shape.label) is not None
    ]


def _read_shape(line: str) -> tuple[_Shape | None, str]:
    """Return the shape of a line and the text after what makes it up."""
    if not line:
        return None, ""
    start, prefix = 0, ""
    time = _TIME.match(line)
    if time is not None:
        start = time.end()
        between = "{date:word} {time:word}" if time["gap"] == " " else "{time:word}"
        prefix = f"{time['open']}{between}{time['close']}{time['after']}"
        level = _LEVEL.match(line, start)
        if level is not None:
            start = level.end()
            prefix += f"{level['open']}{{level:word}}{level['close']}"
    for pattern in (_HEADING, _BRACKET, _LABEL):
        match = pattern.match(line, start)
        if match is None:
            continue
        number = " {n:number}" if (match["number"] or "").startswith(" ") else "{n:number}"
        head = f"{prefix}{_escape(match['mark'])}{match['label']}"
        head += f"{number if match['number'] else ''}{match['colon']}"
        is_heading = pattern is _HEADING
        end = _escape(match["end"]) if is_heading else ""
        return _Shape(f"{head}{end}", match["label"], is_heading), line[match.end() :].strip()
    prompt = _PROMPT.match(line, start)
    if prompt is not None:
        return _Shape(f"{prefix}{prompt['mark']}", "command", is_heading=False), line[
            prompt.end() :
        ]
    return None, ""


def _escape(text: str) -> str:
    """Return literal text for a pattern: braces would begin a field."""
    return text.replace("{", " ").replace("}", " ")


def _classify(label: str) -> RecordKind | None:
    words = split_words(label)
    return None if len(words) > 4 else classify_words(words)


def _label(block: _Block) -> str:
    return block.shape.label.lower()


def _is_react(blocks: Sequence[_Block]) -> bool:
    """Return whether the calls are written as Action and Action Input below a thought."""
    labels = {_label(block) for block in blocks}
    return {"thought", "action", "action input"} <= labels


def _build_block(block: _Block, kind: RecordKind | None, known: Sequence[_Block]) -> Commented:
    shape = block.shape
    if shape.is_heading:
        line, text = shape.pattern, "body"
    else:
        line, text = f"{shape.pattern} {{text}}", "text"
    lines: Yaml = line
    if not shape.is_heading and not all(block.rests):
        lines = [line, shape.pattern]
        text_field: Yaml = ["text", "body"]
    else:
        text_field = text
    rule: dict[str, Yaml] = {"line": lines}
    note = _describe_lines(block)
    if kind == "call":
        rule.update(_build_call(block, rule, text_field))
    elif kind == "result":
        rule["result"] = {"output": text_field}
    elif (
        kind == "reasoning"
        and _label(block) == "thought"
        and not any(_classify(other.shape.label) == "call" for other in known)
    ):
        rule["message"] = {"text": text_field, "actions": True}
        note += " Calls written below it as Action and Action Input are recognised."
    else:
        rule[kind or "message"] = text_field
    return Commented(rule, note)


def _build_call(block: _Block, rule: dict[str, Yaml], text: Yaml) -> Mapping[str, Yaml]:
    """Return the call of a block, by what its lines say after the label."""
    head = block.shape.pattern
    rests = [rest for rest in block.rests if rest]
    words = split_words(block.shape.label)
    if rests and not block.shape.is_heading:
        if all(map(_CALL.match, rests)) or all(parse_action_text(rest) for rest in rests):
            return {"call": {"parse": text}}
        if all(map(_NAME_AND_ARGUMENTS.match, rests)):
            rule["line"] = f"{head} {{name:name}} {{arguments}}"
            return {"call": {"name": "name", "arguments": "arguments"}}
        if all(map(_IDENTIFIER.match, rests)):
            rule["line"] = f"{head} {{name:name}}"
            return _name_with_body(block)
    if {"command", "shell", "bash", "cmd"}.intersection(words):
        return {"call": {"name": "=shell", "arguments": {"command": text}}}
    return {"call": {"name": f"={'_'.join(words)[:40] or 'action'}", "arguments": {"input": text}}}


def _name_with_body(block: _Block) -> Mapping[str, Yaml]:
    """Return the call of a line that has only the tool's name: its arguments are below."""
    following = [parse_embedded_json(line) for line in block.following]
    if all(map(is_object, following)):
        return {"call": {"name": "name", "arguments": "body"}}
    return {"call": {"name": "name", "text": "body"}}


def _ignore(block: _Block) -> Commented:
    end = "" if block.shape.is_heading else " {text}"
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
    early = [block for block in blocks if block.first <= _DETECT_LINES]
    chosen = list(_iter_best(early))
    return [
        block.shape.pattern
        if block.shape.is_heading or not all(block.rests)
        else f"{block.shape.pattern} {{text}}"
        for block in chosen
    ]


def _iter_best(blocks: Sequence[_Block]) -> Iterator[_Block]:
    """Yield the most frequent block of the calls, the agent and the user."""
    kinds: Counter[RecordKind | None] = Counter()
    for block in blocks:
        kind = _classify(block.shape.label)
        if kind in ("call", "message", "user", "reasoning") and not kinds[kind]:
            kinds[kind] += 1
            if all(block.rests) or block.shape.is_heading or not any(block.rests):
                yield block


def _describe_blocks(others: Sequence[_Block]) -> str:
    note = "Each line that matches a pattern begins a block, which lasts until the next."
    if not others:
        return note
    shown = ", ".join(
        f"`{block.shape.pattern}` ({block.count:,})" for block in others[:_MAX_OTHERS]
    )
    return f"{note} Other lines that recur, and are part of the block before them: {shown}."
