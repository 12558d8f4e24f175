"""Check the forms of a condition that compare one value: text, number, date, path, URL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planproof.contracts.date_values import check_date
from planproof.contracts.number_values import check_number
from planproof.contracts.path_values import check_path
from planproof.contracts.text_values import contains_text, fold_text
from planproof.contracts.url_values import check_url
from planproof.core.contract import Condition, Truth

_CUT_MARKS = ("\u2026", "[truncated]", "(truncated)", "<truncated>", "[redacted]", "<redacted>")
"""The end of a value that was not recorded whole."""
_YES, _NO = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})
_LONGEST_NUMBER = 1_000
"""Python refuses to write integers of more digits than this as text."""


def all_true(results: Iterable[Truth]) -> Truth:
    """Return MISMATCH if any result is one, else UNKNOWN if any is unknown, else MATCH."""
    return _combine(results, Truth.MISMATCH, Truth.MATCH)


def any_true(results: Iterable[Truth]) -> Truth:
    """Return MATCH if any result is one, else UNKNOWN if any is unknown, else MISMATCH."""
    return _combine(results, Truth.MATCH, Truth.MISMATCH)


def _combine(results: Iterable[Truth], decisive: Truth, default: Truth) -> Truth:
    combined = default
    for truth in results:
        if truth is decisive:
            return decisive
        if truth is Truth.UNKNOWN:
            combined = truth
    return combined


def check_scalar(condition: Condition, value: str | float) -> Truth:
    """Check one value against the forms that compare values; all that are given must hold.

    A mismatch with a text that was cut or redacted is unknown.
    """
    truth = all_true(_check_forms(condition, value))
    if truth is Truth.MISMATCH and isinstance(value, str) and is_cut(value):
        return Truth.UNKNOWN
    return truth


def is_cut(text: str) -> bool:
    """Return whether a text ends with a mark that says it was not recorded whole."""
    return text[-20:].rstrip().lower().endswith(_CUT_MARKS)


def compares_values(condition: Condition) -> bool:
    """Return whether a condition has a form that `check_scalar` checks."""
    return bool(
        condition.any_of
        or condition.not_
        or _compares_numbers(condition)
        or any(
            form is not None
            for form in (
                *(condition.equals, condition.glob, condition.date),
                *(condition.path, condition.url),
            )
        )
    )


def _compares_numbers(condition: Condition) -> bool:
    return any(form is not None for form in (condition.number, condition.min, condition.max))


def _check_forms(condition: Condition, value: str | float) -> Iterator[Truth]:
    text = format_scalar(value)
    if condition.any_of:
        yield _truth(any(_occurs(wanted, value, text) for wanted in condition.any_of))
    if condition.not_:
        yield _truth(not any(_occurs(unwanted, value, text) for unwanted in condition.not_))
    if condition.equals is not None:
        yield _truth(_equals(condition.equals, value, text))
    if condition.glob is not None:
        yield _truth(matches_glob(condition.glob, text))
    if _compares_numbers(condition):
        yield check_number(
            value,
            number=condition.number,
            tolerance=condition.tolerance,
            low=condition.min,
            high=condition.max,
        )
    if condition.date is not None:
        yield check_date(condition.date, value)
    if condition.path is not None:
        yield check_path(condition.path, text)
    if condition.url is not None:
        yield check_url(condition.url, text)


def _truth(holds: bool) -> Truth:  # noqa: FBT001 - a conversion
    return Truth.MATCH if holds else Truth.MISMATCH


def format_scalar(value: str | float) -> str:
    """Return a value as text: true and false in lower case, whole numbers without a fraction."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value.bit_length() < 3 * _LONGEST_NUMBER else ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _occurs(wanted: str, value: str | float, text: str) -> bool:
    if isinstance(value, bool):
        return fold_text(wanted).strip() in (_YES if value else _NO)
    return contains_text(wanted, text)


def _equals(wanted: str, value: str | float, text: str) -> bool:
    if isinstance(value, bool):
        return fold_text(wanted).strip() in (_YES if value else _NO)
    if isinstance(value, int | float):
        number = check_number(value, number=_parse_float(wanted), tolerance=0, low=None, high=None)
        return number is Truth.MATCH
    return fold_text(wanted).split() == fold_text(text).split()


def _parse_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def is_pattern(text: str) -> bool:
    """Return whether a name is a pattern for `matches_glob`."""
    return "*" in text or "?" in text


def matches_glob(pattern: str, text: str) -> bool:
    """Return whether a whole text fits a pattern: `*` is any text, `?` one character."""
    parts = fold_text(pattern).strip().split("*")
    folded = fold_text(text).strip()
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return len(first) == len(folded) and _fits_at(first, folded, 0)
    if len(first) + len(last) > len(folded):
        return False
    end = len(folded) - len(last)
    if not (_fits_at(first, folded, 0) and _fits_at(last, folded, end)):
        return False
    # Each part is taken where it occurs first: what follows has the most room then.
    position = len(first)
    for part in parts[1:-1]:
        position = _find(part, folded, position, end)
        if position < 0:
            return False
    return True


def _find(part: str, text: str, start: int, end: int) -> int:
    """Return the position after the first occurrence of a part, or -1."""
    if "?" not in part:
        at = text.find(part, start, end)
        return at + len(part) if at >= 0 else -1
    stops = range(start, end - len(part) + 1)
    return next((at + len(part) for at in stops if _fits_at(part, text, at)), -1)


def _fits_at(part: str, text: str, at: int) -> bool:
    if "?" not in part:
        return text.startswith(part, at)
    return len(text) >= at + len(part) and all(
        wanted in ("?", text[at + offset]) for offset, wanted in enumerate(part)
    )
