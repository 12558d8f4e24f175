"""The values that a step names, and whether a text holds them: paths, ids, numbers, dates, names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from planproof.alignment.terms import knowledge


class LiteralKind(StrEnum):
    """What sort of value a literal is; the sorts differ in how strongly their absence speaks."""

    QUOTED = "quoted"
    PATH = "path"
    IDENTIFIER = "identifier"
    DATE = "date"
    NUMBER = "number"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as the step writes it, and the folded forms under which a text may hold it."""

    kind: LiteralKind
    text: str
    forms: tuple[str, ...]

    def held_by(self, folded: str) -> bool:
        """Whether a folded text holds the value; a name is held by its words, endings aside."""
        if self.kind is LiteralKind.NAME:
            words = self.forms[0].split()
            if all(word[: max(4, len(word) - 2)] in folded for word in words):
                return True
            return any(_alone(code, folded) for code in _codes().get(self.forms[0], ()))
        if self.kind is LiteralKind.NUMBER:
            return any(_alone(form, folded) for form in self.forms)
        return any(form in folded for form in self.forms)


_MONTHS = {
    name: number
    for number, names in enumerate(
        "january,jan february,feb march,mar april,apr may,may june,jun july,jul august,aug "
        "september,sep,sept october,oct november,nov december,dec".split(),
        start=1,
    )
    for name in names.split(",")
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_QUOTED = re.compile(
    r"`([^`\n]{1,200})`|\"([^\"\n]{2,200})\"|\u201c([^\u201d\n]{2,200})\u201d"
    r"|\u2018([^\u2019\n]{2,200})\u2019|(?<![\w])'([^'\n]{2,200})'(?!\w)"
)
_URL = re.compile(r"\b(?:https?://|www\.)[^\s\"'<>)\]]{3,300}", re.IGNORECASE)
_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}\b")
_PATH = re.compile(
    r"(?<![\w/.])(?:[~.]{0,2}/)?[\w.*-]{1,80}(?:/[\w.*-]{1,80}){1,12}/?|(?<![\w.])/[\w.-]{1,80}/?"
)
_FILE = re.compile(
    r"(?<![\w.])[\w*-]{0,80}\.(?:py|txt|md|json|jsonl|csv|tsv|xml|html?|css|jsx?|tsx?|sql|sh|ya?ml|toml|ini|cfg"
    r"|pdf|png|jpe?g|gif|svg|docx?|xlsx?|pptx?|zip|gz|tar|log|php|java|cpp|cc|c|h|rs|go|rb|ipynb|img|db|env)\b"
)
_DATE = re.compile(
    rf"\b(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})\b"
    rf"|\b(?P<m1>{_MONTH})\.?\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<y1>\d{{4}})\b)?"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<m2>{_MONTH})\b\.?(?:,?\s+(?P<y2>\d{{4}})\b)?",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"#?\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])(?!\d+-[A-Za-z]+\b)(?![A-Za-z]+-\d+\b)"
    r"[A-Za-z0-9](?:[\w-]{0,60}[A-Za-z0-9])?\b"
    r"|\b[A-Z]{3,12}\b|\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+[A-Z]\w{1,60}\b"
    r"|\b\d+(?:\.\d+){2,4}\b"
    r"|\b(?:ls|stat|awk|sed|grep|egrep|xxd|hexdump|wc|tee|curl|wget|gunzip|unzip|chmod|chown|du|df"
    r"|uniq|xargs|mkdir|rmdir|cp|mv|rm|cd|pwd|md5sum|sha256sum|tar|gzip|zcat|diff)\b(?!\.)"
)
_NUMBER = re.compile(
    r"(?<![\w.])[$\u20ac\u00a3]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?%)?(?!\w|,\d|\.\d)"
)
_NAME = re.compile(
    r"\b[A-Z][a-z\u00e0-\u00ff'\u2019]{1,30}(?:[ -](?:of |the |de |and )?[A-Z][a-z\u00e0-\u00ff]{1,30}){0,4}(?![A-Za-z_])"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n\s*)[\W_]*$")
_POSSESSIVE = re.compile(r"['\u2019](?:s|m|ll|ve|d|re)?$")
_KEYWORDS = frozenset("SQL AND NOT NULL FROM JSON HTML CSS CSV PDF XML URL API HTTP PHP".split())
_DENIED = re.compile(
    r"\b(?:without|no|not|omit\w*|instead of)\s+(?:an?\s+|the\s+|any\s+)?$", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")


@cache
def _codes() -> dict[str, tuple[str, ...]]:
    """Name -> the codes that traces write for it."""
    codes: dict[str, list[str]] = {}
    for code, words in knowledge("places.txt"):
        for name in " ".join(words).split(", "):
            codes.setdefault(name, []).append(code)
    return {name: tuple(found) for name, found in codes.items()}


def _alone(value: str, text: str) -> bool:
    """Whether a number or a code stands in a text and is not a piece of a longer one."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if value.isalpha():
            inside = text[max(0, at - 1) : at].isalnum() or text[end : end + 1].isalnum()
        else:
            inside = text[max(0, at - 1) : at].isdigit() or text[end : end + 1].isdigit()
        if not inside:
            return True
        at = text.find(value, at + 1)
    return False


def fold(text: str) -> str:
    """Lower case with white space folded and typographic quotes made plain."""
    lowered = text.lower().replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"')
    return _SPACE.sub(" ", lowered.replace("\u201d", '"'))


def _date_forms(match: re.Match[str]) -> tuple[str, ...]:
    iso = match["iso"]
    if iso:
        year, month, day = (int(part) for part in iso.split("-"))
    else:
        month = _MONTHS[(match["m1"] or match["m2"]).lower()]
        day = int(match["d1"] or match["d2"])
        year = int(match["y1"] or match["y2"] or 0)
    names = [name for name, number in _MONTHS.items() if number == month]
    forms = [f"-{month:02}-{day:02}" if not year else f"{year}-{month:02}-{day:02}"]
    forms += [f"{name} {day}" for name in names] + [f"{day} {name}" for name in names]
    forms += [f"{name} {day:02}" for name in names] + [f"{day}th of {name}" for name in names]
    forms += [f"{name}_{day}" for name in names]
    return tuple(dict.fromkeys(forms))


@lru_cache(maxsize=8192)
def literals_of(text: str) -> tuple[Literal, ...]:
    """The literals of a step's text, in the order in which they stand."""
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, Literal]] = []

    def take(kind: LiteralKind, start: int, end: int, value: str, *forms: str) -> None:
        if any(start < b and a < end for a, b in taken):
            return
        taken.append((start, end))
        found.append(
            (start, Literal(kind, value, tuple(dict.fromkeys(fold(f) for f in forms if f))))
        )

    for match in _QUOTED.finditer(text):
        value = next(group for group in match.groups() if group is not None)
        take(LiteralKind.QUOTED, *match.span(), value, value)
    for pattern, kind in ((_URL, LiteralKind.PATH), (_EMAIL, LiteralKind.IDENTIFIER)):
        for match in pattern.finditer(text):
            value = match[0].rstrip(".,;:")
            take(kind, *match.span(), value, value)
    for match in _DATE.finditer(text):
        take(LiteralKind.DATE, *match.span(), match[0], *_date_forms(match))
    for pattern in (_PATH, _FILE):
        for match in pattern.finditer(text):
            value = match[0].rstrip(".,;:")
            if (
                len(value) > 1
                and not value.replace("/", "").isalpha()
                or value.startswith(("/", "~", "."))
            ):
                take(LiteralKind.PATH, *match.span(), value, value, value.lstrip("*"))
    for match in _IDENTIFIER.finditer(text):
        if match[0] in _KEYWORDS or _DENIED.search(
            text[max(0, match.start() - 16) : match.start()]
        ):
            continue
        take(LiteralKind.IDENTIFIER, *match.span(), match[0], match[0], match[0].lstrip("#"))
    for match in _NUMBER.finditer(text):
        written = match[0].strip("$\u20ac\u00a3 %")
        take(LiteralKind.NUMBER, *match.span(), match[0], written, written.replace(",", ""))
    for match in _NAME.finditer(text):
        name = _POSSESSIVE.sub("", match[0])
        starts = _SENTENCE_START.search(text[max(0, match.start() - 12) : match.start()])
        if len(name) > 2 and not starts:
            take(LiteralKind.NAME, *match.span(), name, name)
    return tuple(literal for _, literal in sorted(found, key=lambda pair: pair[0]))
