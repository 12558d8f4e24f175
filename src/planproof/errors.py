"""The exceptions of planproof: each states the problem, where it is, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MIN_SIMILARITY = 0.65
"""Two letters swapped in a name of three are above it; `owner` and `never` are below."""


class PlanproofError(Exception):
    """Base class of all errors that planproof raises on purpose.

    `what` states the problem, `where` its location, and `advice` what to do about it.
    """

    def __init__(self, what: str, *, where: str | None = None, advice: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        location = f"{self.where}: " if self.where else ""
        advice = f" {self.advice}" if self.advice else ""
        return f"{location}{self.what}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        """Keep `where` and `advice` when pickled."""
        return (_rebuild, (type(self), self.what, self.where, self.advice))


class InvalidInput(PlanproofError):
    """A file, field or argument is invalid."""


class UnknownName(PlanproofError):
    """No reader, judge or format is registered under this name."""


class InvalidConfiguration(PlanproofError):
    """A configuration file is invalid."""


class StoreFailed(PlanproofError):
    """A store cannot be reached, opened or written to."""


class RunFailed(PlanproofError):
    """A run cannot continue."""


def _rebuild(
    kind: type[PlanproofError], what: str, where: str | None, advice: str | None
) -> PlanproofError:
    return kind(what, where=where, advice=advice)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return advice with the closest known name and the list of all names."""
    names = sorted(known)
    if not names:
        return "None is registered."
    by_lower_case = {known_name.lower(): known_name for known_name in names}
    nearest = get_close_matches(name.lower(), by_lower_case, n=1, cutoff=_MIN_SIMILARITY)
    guess = f"Did you mean `{by_lower_case[nearest[0]]}`? " if nearest else ""
    return f"{guess}Known: {', '.join(names)}."
