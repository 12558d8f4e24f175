"""Find lists in a text, each with the words that introduce it, and parse list markers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

_HEADING = re.compile(r"#{1,6}\s+\S|(?:\*\*|__)[^*_]{1,80}(?:\*\*|__):?\s*$|<[a-z_]{2,30}>\s*$")
_SECTION = re.compile(
    r"#{1,6}\s+(?:\d{1,2}[.):]\s*)?(?:\*\*)?(?:the\s+|my\s+|action\s+)?(?:plan|steps)\b[^.]{0,40}$",
    re.IGNORECASE,
)
_FENCE = re.compile(r"(?:```|~~~)\s*(?P<language>[\w+-]{0,20})")
_PROSE_FENCES = frozenset({"", "markdown", "md", "text", "txt", "plaintext", "plan"})
_SENTENCE_END = (".", "!", "?", ".)", '."', "!)")
_DONE_MARK = re.compile(
    r"\s{0,4}[(\[](?:completed?|done|finished|in[ _]progress|pending|skipped|failed|modified)"
    r"\b[^()\[\]]{0,80}[)\]]\W{0,3}$",
    re.IGNORECASE,
)
_LEAD_LINES = 3
_LONGEST_LEAD = 400
_LONGEST_GAP = 1_500
_MAX_INDENT_DIFFERENCE = 3


@dataclass(slots=True)
class ListItem:
    """One item; text indented under it is part of it."""

    label: str | None
    lines: list[str]

    @property
    def text(self) -> str:
        """The item's text without its marker."""
        return "\n".join(self.lines).strip()


@dataclass(slots=True)
class Listing:
    """A list with its lead-in; `open_box` if it has a box that is not ticked."""

    lead: str
    numbered: bool
    items: list[ListItem] = field(default_factory=list[ListItem])
    open_box: bool = False
    boxes: int = 0
    is_followed_by_text: bool = False

    def to_plan_lines(self) -> list[str]:
        """Return the texts of the items, with their printed numbers if these are unique."""
        items = [item for item in self.items if has_text(item.text)]
        if self.numbered and len({item.label for item in items}) == len(items):
            return [f"{item.label}. {item.text}" for item in items]
        return [item.text for item in items]


def find_lists(text: str) -> list[Listing]:
    """Return every numbered or bulleted list of a text, in order."""
    return _ListParser().parse(text)


class _ListParser:
    """Parses the lines of a text in one pass."""

    def __init__(self) -> None:
        self._lists: list[Listing] = []
        self._list: Listing | None = None
        self._first_marker: Marker | None = None
        self._indent = 0
        self._under_headings = False
        self._lead: list[str] = []
        self._gap: list[str] = []

    def parse(self, text: str) -> list[Listing]:
        code = False
        blank = True
        for line in text.splitlines():
            fence = _FENCE.match(line.strip())
            if fence:
                opens_code = fence["language"].lower() not in _PROSE_FENCES
                if code or opens_code:
                    code = not code
                    self._add_prose(line, blank=blank)
                continue
            if line.strip():
                self._parse_line(line, blank=blank, code=code)
            elif self._gap and self._gap[-1]:
                self._gap.append("")
            blank = not line.strip()
        return self._lists

    def _parse_line(self, line: str, *, blank: bool, code: bool) -> None:
        content = line.strip()
        marker = None if code or _SECTION.match(content) else read_marker(content)
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        if marker is not None and self._is_next_item(marker, indent):
            self._add_item(marker, content)
        elif marker is not None and self._starts_list(marker, content, indent):
            self._open_list(marker, content, indent)
        else:
            self._add_prose(line, blank=blank)

    def _is_next_item(self, marker: Marker, indent: int) -> bool:
        """Return whether the marker begins the next item of the open list."""
        if (
            self._list is None
            or self._first_marker is None
            or marker.kind != self._first_marker.kind
        ):
            return False
        if marker.label is None:
            return abs(indent - self._indent) < 2 and not self._gap
        last = self._list.items[-1].label or ""
        if marker.label.startswith(f"{last.split('.')[0]}.") and "." in marker.label:
            return True
        follows = marker.label.isdecimal() and last.split(".")[0].isdecimal()
        return (
            follows
            and int(marker.label) == int(last.split(".")[0]) + 1
            and abs(indent - self._indent) <= _MAX_INDENT_DIFFERENCE
        )

    def _starts_list(self, marker: Marker, content: str, indent: int) -> bool:
        """Return whether the marker begins a new list rather than refining an item."""
        if marker.kind == "letter":
            return False
        # A checklist may be reprinted from the first item that is not done yet.
        if (marker.label or "1").split(".")[0] not in {"0", "1"} and has_open_box(content) is None:
            return False
        if self._list is None or self._first_marker is None or self._gap:
            return True
        if self._under_headings:
            return False
        if indent > self._indent:
            return False
        return marker.kind != "bullet" or self._first_marker.kind == "bullet"

    def _open_list(self, marker: Marker, content: str, indent: int) -> None:
        self._close_list()
        self._list = Listing(" \n".join(self._lead)[-_LONGEST_LEAD:], marker.label is not None)
        self._lead = []
        self._first_marker, self._indent = marker, indent
        self._under_headings = content.startswith("#")
        self._lists.append(self._list)
        self._add_item(marker, content)

    def _add_item(self, marker: Marker, content: str) -> None:
        assert self._list is not None
        if self._gap:
            self._list.items[-1].lines += self._gap
            self._gap = []
        box = has_open_box(content)
        self._list.boxes += box is not None
        self._list.open_box = self._list.open_box or bool(box)
        # A reprinted checklist states the status of each item.
        text = marker.text if box is None else _DONE_MARK.sub("", marker.text)
        self._list.items.append(ListItem(marker.label, [text]))

    def _add_prose(self, line: str, *, blank: bool) -> None:
        """Add a line without a marker: it continues the last item or ends the list."""
        content = line.strip()
        if self._list is not None and not self._gap and self._continues_item(line, blank=blank):
            self._list.items[-1].lines.append(line.rstrip())
            return
        if _HEADING.match(content):
            self._close_list()
            self._lead = []
        elif self._list is not None:
            # It belongs to the previous item only if the numbering continues after it.
            self._gap.append(line.rstrip())
            self._list.is_followed_by_text = True
            if not self._list.numbered or sum(map(len, self._gap)) > _LONGEST_GAP:
                self._close_list()
        self._lead = [*self._lead, content][-_LEAD_LINES:]

    def _continues_item(self, line: str, *, blank: bool) -> bool:
        assert self._list is not None
        if self._under_headings:
            return not line.startswith("#")
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        if indent > self._indent:
            return True
        if read_marker(line.strip()) is not None:
            return not blank or self._list.numbered
        return not blank and not self._list.items[-1].lines[-1].endswith(_SENTENCE_END)

    def _close_list(self) -> None:
        self._list = self._first_marker = None
        self._gap = []
        self._under_headings = False


MarkerKind = Literal["number", "letter", "bullet", "title"]


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker of a list item: `label` is its printed number or letter, `text` the rest."""

    kind: MarkerKind
    label: str | None
    text: str


_BOLD = r"(?P<bold>\*\*|__)?"
_NUMBER = re.compile(
    rf"(?:\#{{1,6}}\s+|>\s+)*{_BOLD}(?:"
    r"(?:step|schritt|task)\s*\#?(?P<word>\d{1,6}(?:\.\d{1,3}){0,4})\s*(?:[.):\]]|[-–—](?=\s)|(?=\*\*|__|$))|"
    r"(?P<plain>\d{1,6}(?:\.\d{1,3}){0,4})(?:[.):](?=\s|\*\*|__|$)|\s[-–—](?=\s)|\\[.)](?=\s))|"
    r"[(\[](?P<enclosed>\d{1,6}(?:\.\d{1,3}){0,4})[)\]](?=\s)|"
    r"(?P<dotted>\d{1,3}(?:\.\d{1,3}){1,4})(?=\s)"
    r")(?P<boldend>\*\*|__)?\s*",
    re.IGNORECASE,
)
_TITLE = re.compile(
    rf"(?:\#{{1,6}}\s+)?{_BOLD}(?:phase|stage|part)\s+(?P<label>\d{{1,3}})\s*(?:[.):]|[-–—](?=\s))"
    r"(?P<boldend>\*\*|__)?\s*",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"(?:(?P<open>[a-z]|i{1,3}|iv|vi{0,3}|ix)[.)]|\((?P<enclosed>[a-z]|i{1,3}|iv|vi{0,3}|ix)\))\s+(?=\S)"
)
_BULLET = re.compile(r"(?:[-+•–—‣◦▪·●○■□➢➤→»]|\*(?!\*))\s+(?=\S)")
_BOX = re.compile(r"(?:\[(?:[ xX✓✔✗✘→~\->.]?)\]|[☐☑☒✅✔✓⬜🔲❌⏳🔄]\ufe0f?)\s*")

_BOXED = re.compile(
    r"(?:[-+*•]\s{1,4})?(?:\d{1,4}[.)]\s{1,4})?"
    r"(?:\[(?P<mark>[ xX✓✔✗✘→~\->.!]?)\]|(?P<sign>[☐☑☒✅✔✓⬜🔲❌⏳🔄]))"
)
_OPEN_MARKS = frozenset(["", " ", "→", "~", "-", ">", ".", "☐", "⬜", "🔲", "⏳", "🔄"])


def read_marker(line: str) -> Marker | None:
    """Return the marker at the start of a line (without indentation), or None."""
    for read in (_read_title, _read_number, _read_bullet, _read_letter):
        marker = read(line)
        if marker is not None:
            return marker
    return None


def read_number(text: str) -> Marker | None:
    """Return the printed number at the start of a text, or None."""
    return _read_number(text)


def has_open_box(line: str) -> bool | None:
    """Return whether the box before an item is not ticked yet; None if there is no box."""
    match = _BOXED.match(line)
    return None if match is None else (match["sign"] or match["mark"]) in _OPEN_MARKS


def has_text(text: str) -> bool:
    """Return whether the text has a letter or a digit: a line of dashes is not a step."""
    return any(character.isalnum() for character in text)


def strip_bullet(text: str) -> str:
    """Return the text of a list item without its bullet or checkbox."""
    marker = _read_bullet(text.lstrip())
    return marker.text if marker else text.strip()


def _read_title(line: str) -> Marker | None:
    match = _TITLE.match(line)
    return Marker("title", match["label"], _extract_text_after(line, match)) if match else None


def _read_number(line: str) -> Marker | None:
    match = _NUMBER.match(line)
    if match is None:
        return None
    label = match["word"] or match["plain"] or match["enclosed"] or match["dotted"]
    return Marker("number", label, _strip_box(_extract_text_after(line, match)))


def _read_bullet(line: str) -> Marker | None:
    bullet = _BULLET.match(line)
    box = _BOX.match(line, bullet.end() if bullet else 0)
    if bullet is None and box is None:
        return None
    rest = _strip_box(line[bullet.end() if bullet else 0 :])
    inner = _read_number(rest)  # "- [ ] 1. Do this", "- **Step 1:** Do this"
    return inner or Marker("bullet", None, rest)


def _read_letter(line: str) -> Marker | None:
    match = _LETTER.match(line)
    if match is None:
        return None
    return Marker("letter", match["open"] or match["enclosed"], _strip_box(line[match.end() :]))


def _extract_text_after(line: str, match: re.Match[str]) -> str:
    rest = line[match.end() :]
    if match["bold"] and not match["boldend"]:
        rest = rest.replace(match["bold"], "", 1)  # the other end of "**1. Title**"
    return rest.strip()


def _strip_box(text: str) -> str:
    return _BOX.sub("", text, count=1).strip() if _BOX.match(text) else text.strip()
