"""Parse plans written as text: numbered, bulleted or indented lists, and prose."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from planproof.planning.instruction_verbs import begins_clause, begins_instruction
from planproof.planning.lists import Marker, MarkerKind, has_text, read_marker
from planproof.planning.masking import mask_quotes
from planproof.planning.step_parts import is_instruction, split_sentences


@dataclass(slots=True)
class OutlineItem:
    """One item of an outline; `parent` is the index of the item that it refines."""

    label: str | None
    lines: list[str]
    parent: int | None = None

    @property
    def text(self) -> str:
        """The item's text, including its indented lines."""
        return "\n".join(self.lines).strip()


@dataclass(slots=True)
class Outline:
    """The items of a plan and the text around them."""

    remarks: str = ""
    items: list[OutlineItem] = field(default_factory=list[OutlineItem])


@dataclass(slots=True)
class _OpenItem:
    """An item that later items may still refine."""

    index: int
    indent: int
    marker: Marker


_HEADING = re.compile(r"(?:#{1,6}\s+\S|(?:\*\*|__)[^*_]{1,80}(?:\*\*|__):?\s*$|[^.!?]{1,60}:\s*$)")
_PLAN_HEADING = re.compile(
    r"\b(?:plan|steps|to-?do|approach|procedure|checklist|tasks)\b", re.IGNORECASE
)
_REPEATED_HEADING = re.compile(
    r"\b(?:notes?|commands?|quer(?:y|ies)|detail(?:s|ed)?|examples?|outputs?|results?|code|scripts?)\b",
    re.IGNORECASE,
)
_OTHER_HEADING = re.compile(
    r"\b(?:assumptions?|facts?|risks?|background|context|goals?|objectives?|outcomes?|criteria|"
    r"constraints?|requirements?|references?|given|team|tools?|task|problem|question)\b",
    re.IGNORECASE,
)
_DEEPEST = 12
# From the highest kind to the lowest: at equal indentation, bullets refine a number.
_KINDS: tuple[MarkerKind, ...] = ("title", "number", "letter", "bullet")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def read_outline(text: str) -> Outline:
    """Return the numbered, bulleted or ticked items of a text; none if it is prose."""
    return _OutlineParser(text).parse()


class _OutlineParser:
    """Parses the lines of a plan in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._items: list[OutlineItem] = []
        self._open_items: list[_OpenItem] = []
        self._top_labels: set[str | None] = set()
        self._remarks: list[str] = []
        self._after_prose = False
        self._in_other_section = False
        self._seen_plan_heading = False
        self._is_finished = False

    def parse(self) -> Outline:
        fenced = False
        blank_before = False
        for line in self._text.splitlines():
            if _FENCE.match(line):
                fenced = not fenced
                self._append_line(line)
            elif fenced:
                self._append_line(line)
            elif line.strip():
                self._parse_line(line, blank_before=blank_before)
            blank_before = not line.strip()
            if self._is_finished:
                break
        return Outline("\n".join(self._remarks).strip(), self._items)

    def _parse_line(self, line: str, *, blank_before: bool) -> None:
        content = line.strip()
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        marker = read_marker(content)
        outside = not self._open_items or indent <= self._open_items[0].indent
        if marker is not None and not self._is_accidental_marker(marker):
            self._add_marked_line(marker, indent)
        elif outside and _is_heading(content, alone=blank_before or not self._open_items):
            self._enter_section(content)
        elif not self._items:
            self._remarks.append(content)
        elif self._open_items and (indent > self._open_items[-1].indent or not blank_before):
            self._append_line(line)
        else:
            self._after_prose = True  # a paragraph about the steps, not a step
            self._remarks.append(content)

    def _is_accidental_marker(self, marker: Marker) -> bool:
        """Return whether "a. ..." or "3.5 ..." begins a line by accident."""
        if marker.kind == "letter":
            return not self._open_items
        label = marker.label or ""
        return "." in label and not self._items and label.split(".")[0] not in {"0", "1"}

    def _enter_section(self, content: str) -> None:
        if self._items and _REPEATED_HEADING.search(content):
            self._is_finished = True
        elif _PLAN_HEADING.search(content) and not self._seen_plan_heading:
            # Lists before the plan heading are something else: facts, goals, tools.
            self._seen_plan_heading = True
            self._in_other_section = False
            self._items.clear()
            self._top_labels.clear()
        elif _OTHER_HEADING.search(content):
            self._is_finished = bool(self._items)
            self._in_other_section = True
        else:
            self._in_other_section = False
            self._after_prose = bool(self._items) and not content.startswith(("#", "*", "_"))
        self._open_items.clear()
        if not self._items:
            self._remarks.append(content)

    def _add_marked_line(self, marker: Marker, indent: int) -> None:
        if self._in_other_section:
            self._remarks.append(marker.text)
        elif self._restarts(marker, indent):
            self._is_finished = True
        else:
            self._after_prose = False
            self._close_items(marker, indent)
            self._drop_leading_bullets(marker)
            self._add_item(marker, indent)

    def _restarts(self, marker: Marker, indent: int) -> bool:
        """Return whether a list after a paragraph starts over: commands, or the steps again."""
        if not self._after_prose or (self._open_items and indent > self._open_items[0].indent):
            return False
        if marker.kind == "bullet":
            return self._top_labels != {None}
        return marker.label in self._top_labels

    def _drop_leading_bullets(self, marker: Marker) -> None:
        """Treat bullets before the first number as introduction, not as steps."""
        numbered = marker.kind in {"number", "title"} and not self._open_items
        if numbered and self._top_labels == {None}:
            self._remarks += [item.text for item in self._items]
            self._items.clear()
            self._top_labels.clear()

    def _add_item(self, marker: Marker, indent: int) -> None:
        if len(self._open_items) >= _DEEPEST:
            self._items[self._open_items[-1].index].lines.append(marker.text)
            return
        if not self._open_items:
            self._top_labels.add(marker.label)
        parent = self._open_items[-1].index if self._open_items else None
        self._open_items.append(_OpenItem(len(self._items), indent, marker))
        self._items.append(OutlineItem(marker.label, [marker.text], parent))

    def _close_items(self, marker: Marker, indent: int) -> None:
        """Keep open only the items that this one refines."""
        if marker.label and "." in marker.label:
            head = marker.label.rsplit(".", 1)[0]
            for depth in range(len(self._open_items) - 1, -1, -1):
                if self._open_items[depth].marker.label == head:
                    del self._open_items[depth + 1 :]
                    return
        for depth, opened in enumerate(self._open_items):
            if _same_list(opened.marker, marker, ragged=abs(opened.indent - indent)):
                del self._open_items[depth:]
                return
        while self._open_items and not self._refines(marker, indent):
            self._open_items.pop()

    def _refines(self, marker: Marker, indent: int) -> bool:
        """Return whether an item refines the last open one.

        It does if it is indented further, or equally but with a marker of a lower kind.
        """
        last = self._open_items[-1]
        if indent == last.indent:
            return _KINDS.index(marker.kind) > _KINDS.index(last.marker.kind)
        return indent > last.indent

    def _append_line(self, line: str) -> None:
        if self._open_items and not self._after_prose:
            self._items[self._open_items[-1].index].lines.append(line.rstrip())


def _is_heading(content: str, *, alone: bool) -> bool:
    """Return whether a line is a section heading.

    Directly after an item, only lines that begin with "#" or name notes, commands or the like are.
    """
    if not _HEADING.match(content):
        return False
    return alone or content.startswith("#") or _REPEATED_HEADING.search(content) is not None


def _same_list(one: Marker, other: Marker, *, ragged: int) -> bool:
    """Return whether two items belong to the same list, even with uneven indentation."""
    if one.kind != other.kind:
        return False
    one_label, other_label = one.label or "", other.label or ""
    if one.kind == "title" or ragged == 0:
        return one_label.count(".") == other_label.count(".")
    follows = (
        one_label.isdecimal() and other_label.isdecimal() and int(other_label) == int(one_label) + 1
    )
    return ragged < 4 and follows


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    """One item of a plan as parsed; `parent` is the index of the item that it refines."""

    text: str
    label: str | None = None
    parent: int | None = None
    condition: str | None = None
    optional: bool = False
    free_order: bool = False


@dataclass(slots=True)
class PlanDraft:
    """The items of a plan, in order, and the text around them."""

    remarks: str = ""
    entries: list[PlanEntry] = field(default_factory=list[PlanEntry])


_SEQUENCE = (
    r"(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|fifth(?:ly)?|then|next|"
    r"after\s+(?:that|this|which)|afterwards?|subsequently|finally|lastly|to\s+(?:begin|start)(?:\s+with)?)"
)
_OPENS_STEP = re.compile(rf"(?:and\s+)?{_SEQUENCE}\b", re.IGNORECASE)
_WITHIN = re.compile(
    rf"(?:;\s*(?:and\s+)?|,\s*(?:and\s+)?|(?<!\s)\s+and\s+)(?={_SEQUENCE}\b)", re.IGNORECASE
)
_LEAD_IN = re.compile(rf"\W*(?:and\s+)?{_SEQUENCE}\b,?\s*", re.IGNORECASE)
_NO_PLAN = re.compile(
    r"\W*(?:none|null|nil|n/?a|empty|no\s+plan\b.*|not\s+(?:available|applicable)|-+|"
    r"(?:there\s+is|i\s+have|we\s+have)\s+no\s+plan\b.*|.*(?:\bnot|n['’]t)\b[^.]*\bplan)\W*",
    re.IGNORECASE | re.DOTALL,
)
_PREAMBLE = re.compile(
    r"\W*(?:here(?:['’]s|\s+is|\s+are)\b|(?:my|the)\s+(?:plan|steps)\b[^.]*:)", re.IGNORECASE
)
_LONGEST_NO_PLAN = 120


def read_prose(text: str) -> list[str]:
    """Return the steps described in prose; empty if the text contains no plan."""
    text = text.strip()
    if (
        not text
        or text.endswith(":")
        or (len(text) < _LONGEST_NO_PLAN and _NO_PLAN.fullmatch(text))
    ):
        return []
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and not any(_OPENS_STEP.match(line) for line in lines[1:]):
        return _split_lines_into_steps(lines)
    return _join_sentences_into_steps(split_sentences(text))


def _split_lines_into_steps(lines: list[str]) -> list[str]:
    """Return one step per line if most lines are instructions; else treat it as prose."""
    ordering = [line for line in lines if _is_step_sentence(line)]
    if 2 * len(ordering) > len(lines) or all(len(line) < 80 for line in lines):
        return [line for line in lines if not (line.endswith(":") or _PREAMBLE.match(line))]
    return _join_sentences_into_steps(split_sentences("\n".join(lines)))


def _join_sentences_into_steps(sentence_list: list[str]) -> list[str]:
    steps: list[str] = []
    for sentence in sentence_list:
        parts = _split_sentence(sentence)
        if _OPENS_STEP.match(sentence) or len(parts) > 1 or _is_step_sentence(sentence):
            steps += parts
        elif steps:
            steps[-1] = f"{steps[-1]} {sentence}"
    # Prose without any instruction was still given as the plan: it is one step.
    return steps or ([" ".join(sentence_list)] if not _PREAMBLE.match(sentence_list[0]) else [])


def _split_sentence(sentence: str) -> list[str]:
    masked = mask_quotes(sentence)
    steps: list[str] = []
    start = 0
    for boundary in _WITHIN.finditer(masked):
        following = _LEAD_IN.match(masked, boundary.end())
        instruction_start = following.end() if following else boundary.end()
        if begins_instruction(masked, instruction_start, certain=True) or begins_clause(
            masked, instruction_start
        ):
            steps.append(sentence[start : boundary.start()])
            start = boundary.end()
    steps.append(sentence[start:])
    return [step.strip() for step in steps if step.strip()]


def _is_step_sentence(sentence: str) -> bool:
    return is_instruction(sentence) and not _PREAMBLE.match(sentence)


def parse_plan_text(text: str) -> PlanDraft:
    """Return the items of a plan given as text: its list, or else the steps in its prose."""
    outline = read_outline(text)
    if not outline.items:
        prose_steps = read_prose(text)
        return PlanDraft(entries=[PlanEntry(text=step) for step in prose_steps if has_text(step)])
    draft = PlanDraft(outline.remarks)
    entry_index: dict[int, int] = {}
    for index, item in enumerate(outline.items):
        # An item without words ("3.") is not a step; its sub-items have no parent.
        if has_text(item.text):
            entry_index[index] = len(draft.entries)
            parent = entry_index.get(item.parent) if item.parent is not None else None
            draft.entries.append(PlanEntry(text=item.text, label=item.label, parent=parent))
    return draft
