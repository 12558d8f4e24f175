"""Find texts in texts: whole words, with case, width and punctuation folded."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from unicodedata import normalize

from planproof.contracts.number_values import normalize_number
from planproof.contracts.terms import stem

_INVISIBLE = dict.fromkeys(
    (
        *(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE0080),
    )
)
"""Characters without a width, which could hide a difference or make one."""
# A word: letters and digits, with marks between them that an id, address, path or number may have.
# A colon joins only digits (a time) and the parts of a URL; a comma joins only digits.
_WORD = re.compile(r"[^\W_]+(?:(?:[-._@/\\+~]|(?<=\d)[,:](?=\d)|:(?=//|\\)|(?<=:)/)+[^\W_]+)*")
_TOKEN = re.compile(r"[^\W_]+")
_DIGIT = re.compile(r"\d")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts that put no spaces between words."""
_EXACT_MARKS = frozenset("@/\\.")
_MAX_CACHED_CHARS = 1_000
_MAX_SUFFIXES = 6
"""How many of the last parts of a path are compared on their own."""


def fold_text(text: str) -> str:
    """Return a text without case, width and invisible characters."""
    if text.isascii():
        return text.lower()
    return normalize("NFKC", normalize("NFKC", text.translate(_INVISIBLE)).casefold())


def strip_code_fence(text: str) -> str:
    """Return the code of a text that is one Markdown code block; other texts unchanged."""
    bare = text.strip()
    if not bare.startswith("```"):
        return text
    first, _, rest = bare.partition("\n")
    is_block = " " not in first.strip() and "```" not in rest.removesuffix("```")
    return rest.removesuffix("```") if is_block and rest else text


def contains_text(needle: str, text: str) -> bool:
    """Return whether the words of `needle` occur in a text as one run.

    Ids, addresses, numbers, paths and URLs must equal a whole word of the text: "ORD-7" is not in
    "ORD-77", nor "anna@x.com" in "anna@x.com.evil.org".
    """
    return _contains(needle, text, _render, _render_exact)


def contains_words(alternative: str, sentence: str) -> bool:
    """Return whether the words of `alternative` occur in a sentence, in any form.

    "refund" is in "The order was refunded". Ids, numbers and the like as in `contains_text`.
    """
    return _contains(alternative, sentence, _render_stems, _render_exact_stems)


_Render = Callable[[str], str]


def _contains(needle: str, text: str, render: _Render, render_exact: _Render) -> bool:
    if has_exact_word(needle):
        render = render_exact
    wanted = render(needle)
    if wanted == " ":
        # Nothing but marks: "+", "C#" has a letter, an emoji has none.
        folded = fold_text(needle).strip()
        return bool(folded) and folded in fold_text(text)
    if wanted in (render(text) if len(text) <= _MAX_CACHED_CHARS else render.__wrapped__(text)):  # pyright: ignore[reportFunctionMemberAccess]
        return True
    return bool(_UNSPACED.search(needle)) and fold_text(needle).strip() in fold_text(text)


@lru_cache(maxsize=8_192)
def has_exact_word(text: str) -> bool:
    """Return whether a text has a word that must be found whole: an id, number, address, path."""
    return any(map(_is_exact, _WORD.findall(fold_text(text))))


def _is_exact(word: str) -> bool:
    return not _EXACT_MARKS.isdisjoint(word) or _DIGIT.search(word) is not None


# Words are compared as one string with a space around each: a search in it takes linear time.
@lru_cache(maxsize=4_096)
def _render(text: str) -> str:
    return _join(_TOKEN.findall(fold_text(text)))


@lru_cache(maxsize=4_096)
def _render_stems(text: str) -> str:
    return _join([stem(token) for token in _TOKEN.findall(fold_text(text))])


@lru_cache(maxsize=4_096)
def _render_exact(text: str) -> str:
    return _join(_split_exact(fold_text(text), stemmed=False))


@lru_cache(maxsize=4_096)
def _render_exact_stems(text: str) -> str:
    return _join(_split_exact(fold_text(text), stemmed=True))


def _join(tokens: list[str]) -> str:
    return f" {' '.join(tokens)} " if tokens else " "


def _split_exact(folded: str, *, stemmed: bool) -> list[str]:
    """Return the words of a folded text: ids and the like whole, numbers by value."""
    words: list[str] = []
    parts: list[str] = []
    for match in _WORD.finditer(folded):
        word = match[0]
        if _is_exact(word):
            words.append(_sign(folded, match.start()) + (normalize_number(word) or word))
            parts += _split_path(word)
        else:
            tokens = _TOKEN.findall(word)
            words += map(stem, tokens) if stemmed else tokens
    return words + parts


def _split_path(word: str) -> list[str]:
    """Return the parts of a path or URL that are words of their own.

    /orders/ORD-7 has the id ORD-7, and src/core/app.py the files core/app.py and app.py. The end of
    a web address is no file: evil.org/x.com is not x.com.
    """
    if "/" not in word or not word.strip("0123456789/-"):
        return []
    parts = word.split("/")
    words = [part for part in parts if part and _EXACT_MARKS.isdisjoint(part)]
    if "." in parts[-1] and "." not in parts[0] and ":" not in word and "@" not in word:
        words += [
            "/".join(parts[at:]) for at in range(max(1, len(parts) - _MAX_SUFFIXES), len(parts))
        ]
    return [one for part in words for one in ("\0", normalize_number(part) or part)]


def _sign(folded: str, start: int) -> str:
    """Return "-" if the number at this position is negative: a minus sign after no letter."""
    if start == 0 or folded[start - 1] not in "-\u2212":
        return ""
    return "" if start > 1 and not folded[start - 2].isspace() else "-"
