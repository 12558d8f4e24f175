"""Read the shapes of lines of a text: times, levels, labels, headings, boxes and prompts."""

from __future__ import annotations

import re
from typing import NamedTuple

_TIME = re.compile(
    r"(?P<open>[\[(]?)(?:(?P<day>\d{4}-\d\d-\d\d)(?P<gap>[T ]))?\d\d:\d\d(?::\d\d)?[\d.,:+Z-]{0,12}"
    r"(?P<close>[\])]?)(?P<after>\s{1,3}(?:[-|]\s{1,3})?)"
)
_WORDS = r"(?P<label>[A-Za-z][A-Za-z_-]{0,24}(?: [A-Za-z_-]{1,20}){0,4})(?P<number> ?#?\d{1,6})?"
_LEVEL = re.compile(
    r"(?P<open>[\[|]?\s?)(?:DEBUG|INFO|WARN|WARNING|ERROR)(?P<close>\]?:?\s{1,8}(?:[-|]\s)?)"
)
_MARK = r"(?P<mark>(?:(?:[^\w\s\[({\"'`<]{1,3}|<{2,3})\s?){0,2})"
_LABEL = re.compile(rf"{_MARK}{_WORDS}(?P<colon>:)(?=\s|$)")
_BRACKET = re.compile(rf"(?P<mark>\[){_WORDS}(?P<colon>\]:?)(?=\s|$)")
_HEADING = re.compile(
    rf"(?P<mark>#{{1,6}} |[=*_~-]{{2,80}} ?){_WORDS}(?P<colon>:?)(?P<end>(?: ?[=*_~-]{{2,80}})?)$"
)
_BOX = re.compile(
    rf"(?P<open>[╭┏┌╔])(?P<fill>[─━═])(?P=fill){{0,200}} (?P<mark>(?:[^\w\s]{{1,3}} )?){_WORDS}"
    r"(?P<detail>[^─━═]{0,40}) (?P=fill){1,200}(?P<close>[╮┓┐╗]?)$"
)
_BOX_ENDS = dict(zip("╭┏┌╔", "╰┗└╚", strict=True))
_PROMPT = re.compile(r"(?P<mark>\$|>>>|%) (?=\S)")


class LineShape(NamedTuple):
    """The shape of a line: the pattern of what comes before the text, and its label."""

    pattern: str
    label: str
    is_heading: bool
    until: str = ""


def read_shape(line: str) -> tuple[LineShape | None, str]:
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
    box = _BOX.match(line, start)
    if box is not None:
        head = f"{prefix}{box['open']}{{left:rule}} {escape_braces(box['mark'])}{box['label']}"
        head += f"{{detail}} {box['fill']}{{right:rule}}{box['close']}"
        until = f"{_BOX_ENDS[box['open']]}{{more}}"
        return LineShape(head, box["label"], is_heading=True, until=until), ""
    for pattern in (_HEADING, _BRACKET, _LABEL):
        match = pattern.match(line, start)
        if match is None:
            continue
        number = (match["number"] or "").rstrip("0123456789")
        head = f"{prefix}{escape_braces(match['mark'])}{match['label']}"
        head += f"{number + '{n:number}' if match['number'] else ''}{match['colon']}"
        is_heading = pattern is _HEADING
        end = escape_braces(match["end"]) if is_heading else ""
        return LineShape(f"{head}{end}", match["label"], is_heading), line[match.end() :].strip()
    prompt = _PROMPT.match(line, start)
    if prompt is not None:
        return LineShape(f"{prefix}{prompt['mark']}", "command", is_heading=False), line[
            prompt.end() :
        ]
    if time is not None:
        # Without a label, the digits of the time are what tells these lines from others.
        mark = "-" if time["day"] else ":"
        digits = prefix.replace("{", f"{{first:number}}{mark}{{", 1)
        return LineShape(digits.rstrip(), "", is_heading=False), ""
    return None, ""


def escape_braces(text: str) -> str:
    """Return literal text for a pattern: braces would begin a field."""
    return text.replace("{", " ").replace("}", " ")
