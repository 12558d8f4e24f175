"""Parse and compare numbers as people and programs write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from planproof.core.contract import Truth

_UNITS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_OTHER_WORDS = {"dozen": 12.0, "once": 1.0, "twice": 2.0, "thrice": 3.0, "half": 0.5}
_NUMBER_WORDS = frozenset((*_UNITS, *_TENS, *_SCALES, *_OTHER_WORDS))
_SUFFIXES = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9} | _SCALES
_UNIT = "kg|km|cm|mm|ml|min|hrs?|ms|kb|mb|gb|tb|px|pts?|st|nd|rd|th|eur|usd|gbp|[xghsld]"
# Repetitions are bounded where a match may begin anywhere, so that time is linear.
_NUMBER = re.compile(
    r"(?<![\w.,])(?<![^\W\d]-)(?P<sign>[-+\u2212]?)[$\u20ac\u00a3\u00a5]?\s?"
    r"(?P<digits>\d{1,3}(?:,\d{3}){1,8}(?!\d)|\d{1,3}(?:[ \u00a0\u202f']\d{3}){1,8}(?!\d)|\d{1,40})"
    r"(?P<fraction>\.\d{1,40})?(?P<exponent>e[-+]?\d{1,3})?"
    r"\s?(?P<suffix>%|percent\b|(?:k|mn?|bn?|hundred|thousand|million|billion)(?![^\W_]))?"
    rf"(?:{_UNIT})?(?!\w|\.\d)",
    re.IGNORECASE,
)
_DECIMAL_COMMA = re.compile(
    r"(?P<sign>[-+\u2212]?)[$\u20ac\u00a3\u00a5]?\s?(?P<whole>\d{1,3}(?:\.\d{3}){1,8}|\d{1,20})"
    r",(?P<fraction>\d{1,2})(?:\s?[$\u20ac\u00a3\u00a5%])?"
)
_INNER_DECIMAL_COMMA = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3}){1,8},\d{1,2}(?![\w,]|\.\d)")
# "First" and "second" mostly have other meanings.
_ORDINALS = {
    word: float(value)
    for value, word in enumerate(
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=3
    )
}
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_LETTERS = re.compile(r"[a-z]+(?:-[a-z]+)?")
_PLAIN = re.compile(r"(?:\d{1,3}(?:,\d{3}){1,8}|0|[1-9]\d{0,30})(?:\.\d{1,30})?")
_MAX_CHARS = 10_000
_MAX_SAFE = 1e300


def normalize_number(word: str) -> str | None:
    """Return a plain number in one form ("1,200.50" is "1200.5"); None for anything else.

    A number with a leading zero is an id and stays as it is.
    """
    if not _PLAIN.fullmatch(word):
        return None
    bare = word.replace(",", "")
    return bare.rstrip("0").rstrip(".") if "." in bare else bare


def check_number(
    value: object, *, number: float | None, tolerance: float, low: float | None, high: float | None
) -> Truth:
    """Check a number, or the numbers in a text, against a value with its tolerance or a range."""
    readings = read_numbers(value)
    if not readings:
        return Truth.MISMATCH
    results = [
        any(_fits(reading, number, tolerance, low, high) for reading in alternatives)
        for alternatives in readings
    ]
    if all(results):
        return Truth.MATCH
    # Of several numbers in a text it is not known which one counts.
    return Truth.UNKNOWN if any(results) else Truth.MISMATCH


def _fits(
    value: float, number: float | None, tolerance: float, low: float | None, high: float | None
) -> bool:
    if number is not None and not (
        abs(value - number) <= tolerance or math.isclose(value, number, rel_tol=1e-9)
    ):
        return False
    return (low is None or value >= low) and (high is None or value <= high)


def read_numbers(value: object) -> list[tuple[float, ...]]:
    """Return the numbers of a value, each with its readings: 10% is 10 or 0.1."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int | float):
        return [(float(value),)] if abs(value) < _MAX_SAFE else []
    return _read_text(value) if isinstance(value, str) and len(value) <= _MAX_CHARS else []


def _read_text(text: str) -> list[tuple[float, ...]]:
    bare = text.strip()
    if (match := _DECIMAL_COMMA.fullmatch(bare)) is not None:
        value = float(f"{match['whole'].replace('.', '')}.{match['fraction']}")
        readings = [-value if match["sign"] in ("-", "\u2212") else value]
        if "." not in match["whole"] and len(match["fraction"]) == 3:
            readings.append(float(match["whole"] + match["fraction"]))
        return [tuple(readings)]
    numbers = [_read_match(match) for match in _NUMBER.finditer(bare)]
    return numbers or _read_words(bare.lower())


def find_numbers(text: str) -> Iterator[tuple[int, int, tuple[float, ...]]]:
    """Yield the numbers that are written in digits in a text: start, end and readings.

    The text is not shortened here; the time is linear in its length.
    """
    for match in _NUMBER.finditer(text):
        yield *match.span(), _read_match(match)
    for match in _INNER_DECIMAL_COMMA.finditer(text):
        yield *match.span(), (float(match[0].replace(".", "").replace(",", ".")),)
    for match in _ORDINAL.finditer(text):
        yield *match.span(), (_ORDINALS[match[0].lower()],)


def _read_match(match: re.Match[str]) -> tuple[float, ...]:
    digits = "".join(character for character in match["digits"] if character.isdigit())
    value = float(f"{digits}{match['fraction'] or ''}{match['exponent'] or ''}")
    suffix = (match["suffix"] or "").lower()
    value = -value if match["sign"] in ("-", "\u2212") else value
    if suffix in ("%", "percent"):
        return value, value / 100
    if suffix in ("m", "b"):
        # Millions, or metres, minutes, bytes.
        return value, value * _SUFFIXES[suffix]
    return (value * _SUFFIXES[suffix] if suffix else value,)


def _read_words(text: str) -> list[tuple[float, ...]]:
    """Return the numbers that a text has in words: "twenty-one", "two hundred and five"."""
    numbers: list[tuple[float, ...]] = []
    total = current = 0.0
    inside = False
    words = [part for word in _LETTERS.findall(text) for part in word.split("-")]
    for word in (*words, ""):
        if word in _UNITS or word in _TENS:
            current += _UNITS.get(word, 0) or _TENS.get(word, 0)
            inside = True
        elif word in _SCALES and (inside or word != "hundred"):
            current = (current or 1.0) * _SCALES[word]
            if word != "hundred":
                total, current = total + current, 0.0
            inside = True
        elif word in _OTHER_WORDS:
            current = (current or 1.0) * _OTHER_WORDS[word]
            inside = True
        elif inside and word == "and" and (total + current) % 100 == 0:
            continue
        elif inside:
            numbers.append((total + current,))
            total = current = 0.0
            inside = False
    return numbers
