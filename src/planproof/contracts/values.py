"""Extract the values that a step names (paths, ids, numbers, names) and find them in texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import accumulate
from operator import itemgetter
from typing import TypeAlias

from planproof.contracts.date_values import contains_date
from planproof.contracts.terms import stem
from planproof.core.knowledge import read_knowledge
from planproof.core.phrases import collapse_spaces


class LiteralKind(StrEnum):
    """The kind of a value; the kinds differ in how much the absence of a value means."""

    QUOTED = "quoted"
    PATH = "path"
    IDENTIFIER = "identifier"
    DATE = "date"
    NUMBER = "number"
    NAME = "name"


# Bound once: each value is compared with many texts.
_A_NAME, _A_NUMBER, _A_DATE = LiteralKind.NAME, LiteralKind.NUMBER, LiteralKind.DATE


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as the step writes it, and the folded forms in which a text may contain it."""

    kind: LiteralKind
    text: str
    forms: tuple[str, ...]

    def occurs_in(self, folded: str) -> bool:
        """Return whether a folded text contains the value; a name matches without its endings."""
        if self.kind is _A_NAME:
            words = [word for word in self.forms[0].split() if word != "and"]
            if all(_contains_name(word, folded) for word in words):
                return True
            codes = _load_short_names().get(self.forms[0], ())
            return any(code in folded and _compile_code(code).search(folded) for code in codes)
        if self.kind is _A_DATE:
            return contains_date(folded, self.text)
        compile_form = _WHOLE_VALUE_PATTERNS.get(self.kind)
        for form in self.forms:
            # A plain search for the form is much faster than the pattern for a whole value.
            if form in folded and (compile_form is None or compile_form(form).search(folded)):
                return True
        return False

    def occurs_in_any(self, folded: Sequence[str]) -> bool:
        """Return whether any of several folded texts contains the value."""
        if self.kind is _A_NAME or self.kind is _A_DATE:
            return any(map(self.occurs_in, folded))
        # Folded texts and values contain no line feed, so nothing matches across two texts.
        return self.occurs_in("\n".join(folded))


class TextIndex:
    """Several folded texts joined, so that a value is searched for in all of them at once."""

    def __init__(self, texts: Iterable[str]) -> None:
        # As above, nothing matches across two texts.
        lines = list(texts)
        self._joined = "\n".join(lines)
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def find_indices(self, literal: Literal) -> list[int]:
        """Return the indices of the texts that contain a form of a value; not for names.

        An identifier or a path may be a part of a longer one here: this only ranks events.
        """
        joined, starts = self._joined, self._starts
        indices: list[int] = []
        for form in literal.forms:
            after = 0
            if literal.kind is _A_NUMBER:
                search = _compile_whole_value(form).search
                while match := search(joined, starts[after]):
                    after = bisect_right(starts, match.start())
                    indices.append(after - 1)
            else:
                while (at := joined.find(form, starts[after])) >= 0:
                    after = bisect_right(starts, at)
                    indices.append(after - 1)
        return indices


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
    re.IGNORECASE | re.ASCII,
)
_DATE_RANGE = re.compile(
    rf"\b(?P<m1>{_MONTH})\.?\s(?P<d1>\d{{1,2}})\s?(?:to|-|\u2013|until|and)\s?(?P<d2>\d{{1,2}})\b"
    rf"|\b(?P<d3>\d{{1,2}})\.?\s?(?:to|-|\u2013|until|and)\s?(?P<d4>\d{{1,2}})\.?\s(?P<m2>{_MONTH})\b",
    re.IGNORECASE | re.ASCII,
)
# All repetitions are bounded where a match may start anywhere, to avoid quadratic time.
_IDENTIFIER = re.compile(
    r"#?\b[A-Z]{1,5}-\d{2,12}\b|#?\b(?=[\w-]{0,61}\d)(?=[\w-]{0,61}[A-Za-z])(?!\d+-[A-Za-z]+\b)(?![A-Za-z]+-\d+\b)"
    r"[A-Za-z0-9](?:[\w-]{0,60}[A-Za-z0-9])?\b"
    r"|\b[A-Z]{3,12}\b|\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+[A-Z]\w{1,60}\b"
    r"|\b\d+(?:\.\d+){2,4}\b"
    r"|\b(?:ls|stat|awk|sed|grep|egrep|xxd|hexdump|wc|tee|curl|wget|gunzip|unzip|chmod|chown|du|df"
    r"|uniq|xargs|mkdir|rmdir|cp|mv|rm|cd|pwd|md5sum|sha256sum|tar|gzip|zcat|diff)\b(?!\.)"
)
_NUMBER = re.compile(
    r"(?<![\w.])[$\u20ac\u00a3]?(?:\d{1,3}(?:,\d{3}){1,12}|\d+)(?:\.\d+)?(?:\s?%)?(?!\w|,\d|\.\d)"
)
_NAME = re.compile(
    r"\b[A-Z][a-z\u00e0-\u00ff'\u2019]{1,30}"
    r"(?:[ -](?:of |the |de |and )?[A-Z][a-z\u00e0-\u00ff]{1,30}){0,4}(?![A-Za-z_])"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n\s*)[\W_]*$")
_POSSESSIVE = re.compile(r"['\u2019](?:s|m|ll|ve|d|re)?$")
_KEYWORDS = frozenset(
    "SQL AND NOT NULL FROM JSON HTML CSS CSV PDF XML URL API HTTP PHP EUR USD GBP CHF JPY".split()
)
_BOUND_PHRASE = re.compile(
    r"\b(?:at most|at least|up to|under|over|below|above|within|(?:more|less|fewer|cheaper) than"
    r"|exceed(?:s|ing)?|max(?:imum)?(?: of)?|min(?:imum)?(?: of)?)\s+$",
    re.IGNORECASE,
)
_MONEY = re.compile(r"\s?(?:EUR|USD|GBP|CHF|JPY|euros?|dollars?|pounds?|[$€£])", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_NEGATION = re.compile(
    r"\b(?:without|no|not|omit\w*|instead of)\s+(?:an?\s+|the\s+|any\s+)?$", re.IGNORECASE
)


_LiteralMatch: TypeAlias = tuple[LiteralKind, tuple[int, int], str, tuple[str, ...]]
"""The kind, the span, the value as written, and its forms before folding."""


_ASCII_FOLDED = bytes(
    32 if byte < 128 and chr(byte).isspace() else byte for byte in bytes(range(256)).lower()
)


@cache
def _load_short_names() -> dict[str, tuple[str, ...]]:
    """Return name -> the codes and short forms that traces write for it."""
    codes: dict[str, list[str]] = {}
    for file in ("places.txt", "short_names.txt"):
        for code, words in read_knowledge(file):
            for name in " ".join(words).split(", "):
                codes.setdefault(name, []).append(code)
    return {name: tuple(name_codes) for name, name_codes in codes.items()}


@lru_cache(maxsize=4_096)
def _compile_whole_value(value: str) -> re.Pattern[str]:
    """Return a pattern for a number or a code that is not part of a longer one."""
    # The value comes first in the pattern, which makes the search fast.
    value, near = re.escape(value), "[^\\W_]" if value.isalpha() else "\\d"
    return re.compile(f"{value}(?!{near})(?<!{near}{value})")


@lru_cache(maxsize=4_096)
def _compile_whole_word(value: str) -> re.Pattern[str]:
    """Return a pattern for an identifier or a path that is not part of a longer one.

    Letters alone may be a part of a compound name: RMSF in `computeRMSF`.
    """
    if value.isalpha():
        return re.compile(re.escape(value))
    before = r"(?<![^\W_])" if value[:1].isalnum() else ""
    after = r"(?![^\W_])" if value[-1:].isalnum() else ""
    return re.compile(f"{before}{re.escape(value)}{after}")


_WHOLE_VALUE_PATTERNS = {
    LiteralKind.NUMBER: _compile_whole_value,
    LiteralKind.IDENTIFIER: _compile_whole_word,
    LiteralKind.PATH: _compile_whole_word,
}


@lru_cache(maxsize=4_096)
def _compile_code(code: str) -> re.Pattern[str]:
    """Return a pattern for a code that is a whole value, not a word of a name or of a key."""
    return re.compile(rf"(?<!\w){re.escape(code)}(?!\w)(?!\s+(?![\w.-]+:)\w)")


def _contains_name(word: str, folded: str) -> bool:
    """Return whether a text has a word of a name, perhaps with another ending."""
    stemmed = stem(word)
    return stemmed[:4] in folded and _compile_name(word, stemmed).search(folded) is not None


@lru_cache(maxsize=4_096)
def _compile_name(word: str, stemmed: str) -> re.Pattern[str]:
    forms = "|".join(map(re.escape, dict.fromkeys((word, stemmed))))
    return re.compile(rf"(?<![^\W_])(?:{forms})(?:e?s|'s|n|an|ans)?(?![^\W_])")


def fold(text: str) -> str:
    """Return the text in lower case, with white space collapsed and quotes made plain."""
    if text.isascii():
        # Most texts have only single spaces and line breaks: a translation table is faster.
        folded = text.encode().translate(_ASCII_FOLDED).decode()
        return folded.strip() if "  " not in folded else collapse_spaces(folded)
    lowered = text.lower().replace("\u2019", "'").replace("\u2018", "'")
    lowered = lowered.replace("\u201c", '"').replace("\u201d", '"')
    return collapse_spaces(lowered)


def _build_date_forms(match: re.Match[str]) -> tuple[str, ...]:
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


@lru_cache(maxsize=8_192)
def extract_literals(text: str) -> tuple[Literal, ...]:
    """Return the literals of a step's text, in order of appearance."""
    # One mark per character: comparing each value with all previous ones is quadratic.
    taken = bytearray(len(text))
    matches: list[tuple[int, Literal]] = []
    for find in (
        _find_quoted,
        _find_addresses,
        _find_dates,
        _find_paths,
        _find_identifiers,
        _find_numbers,
        _find_names,
    ):
        # A kind gets only the text that the kinds before it did not match.
        for kind, (start, end), value, forms in find(text):
            if taken.find(1, start, end) >= 0:
                continue
            taken[start:end] = b"\1" * (end - start)
            folded = dict.fromkeys(fold(form) for form in forms if form.strip())
            if folded:
                matches.append((start, Literal(kind, value, tuple(folded))))
    return tuple(literal for _, literal in sorted(matches, key=itemgetter(0)))


def _find_quoted(text: str) -> Iterator[_LiteralMatch]:
    for match in _QUOTED.finditer(text):
        value = match[match.lastindex or 0]
        yield LiteralKind.QUOTED, match.span(), value, (value,)


def _find_addresses(text: str) -> Iterator[_LiteralMatch]:
    for match in _URL.finditer(text) if "/" in text or "." in text else ():
        value = match[0].rstrip(".,;:")
        yield LiteralKind.PATH, match.span(), value, (value,)
    for match in _EMAIL.finditer(text) if "@" in text else ():
        value = match[0].rstrip(".,;:")
        yield LiteralKind.IDENTIFIER, match.span(), value, (value,)


def _find_dates(text: str) -> Iterator[_LiteralMatch]:
    if not _DIGIT.search(text):
        return
    for match in _DATE_RANGE.finditer(text):
        # "3 to 7 June" is two dates, the first without its month.
        month = match["m1"] or match["m2"]
        first, last = (match["d1"], match["d2"]) if match["m1"] else (match["d3"], match["d4"])
        split = match.start() + match[0].index(last, match[0].index(first) + len(first))
        for day, span in ((first, (match.start(), split)), (last, (split, match.end()))):
            date = _DATE.match(f"{day} {month}")
            assert date is not None
            yield LiteralKind.DATE, span, f"{day} {month}", _build_date_forms(date)
    for match in _DATE.finditer(text):
        yield LiteralKind.DATE, match.span(), match[0], _build_date_forms(match)


def _find_paths(text: str) -> Iterator[_LiteralMatch]:
    for pattern, mark in ((_PATH, "/"), (_FILE, ".")):
        for match in pattern.finditer(text) if mark in text else ():
            value = match[0].rstrip(".,;:")
            is_specific = len(value) > 1 and not value.replace("/", "").isalpha()
            if is_specific or value.startswith(("/", "~", ".")):
                yield LiteralKind.PATH, match.span(), value, (value, value.lstrip("*"))


def _find_identifiers(text: str) -> Iterator[_LiteralMatch]:
    for match in _IDENTIFIER.finditer(text):
        value, before = match[0], text[max(0, match.start() - 16) : match.start()]
        if value not in _KEYWORDS and not _NEGATION.search(before):
            yield LiteralKind.IDENTIFIER, match.span(), value, (value, value.lstrip("#"))


def _find_numbers(text: str) -> Iterator[_LiteralMatch]:
    for match in _NUMBER.finditer(text) if _DIGIT.search(text) else ():
        # A price limit is a bound, which a trace that respects it need not contain.
        before, after = text[max(0, match.start() - 16) : match.start()], text[match.end() :][:8]
        if (match[0][0] in "$€£" or _MONEY.match(after)) and _BOUND_PHRASE.search(before):
            continue
        digits = match[0].strip("$\u20ac\u00a3 %")
        bare = digits.replace(",", "")
        # A program writes 49.9 where people write 49.90.
        short = bare.rstrip("0").rstrip(".") if "." in bare else bare
        yield LiteralKind.NUMBER, match.span(), match[0], (digits, bare, short)


def _find_names(text: str) -> Iterator[_LiteralMatch]:
    for match in _NAME.finditer(text):
        name = _POSSESSIVE.sub("", match[0])
        starts = _SENTENCE_START.search(text[max(0, match.start() - 12) : match.start()])
        if len(name) > 2 and not starts:
            yield LiteralKind.NAME, match.span(), name, (name,)
