"""Templates to pages. Addresses in them are relative, so that they hold behind any path prefix."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

import planproof
from planproof.errors import PlanproofError
from planproof.reports.html.page_templates import environment
from planproof.reports.wording import many, shows
from planproof.server.http_problems import Refused, problem, refused_for
from planproof.server.pages.static_files import digest

SHOW = shows(secrets=False)
"""Text of a case on a page: what looks like a secret is masked."""
_DEEPEST = 50
_SMALLEST_CHANGE = 0.0005
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page stands: its entry in the navigation, and how deep its path is."""

    entry: str
    depth: int = 0

    @property
    def root(self) -> str:
        """The way from it to the first page."""
        return "../" * self.depth or "./"


RUNS = Place("runs")
RUN = Place("runs", 1)
CASE = Place("runs", 3)
WAY_TO_CASE = Place("runs", 2)
COMPARE = Place("compare")
LIVE = Place("live")
TRY = Place("try")


def place_at(path: str) -> Place:
    """Where a page stands in the place of whatever was asked for."""
    # A path that is all slashes would make a page many times its own length.
    return Place("", min(path.count("/") - 1, _DEEPEST))


viewer: ContextVar[str | None] = ContextVar("viewer", default=None)
"""The name of the key that whoever looks has signed in with, where keys are demanded."""


def page(template: str, place: Place, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A page; everything that is given is escaped."""
    made = environment("planproof.server.pages").get_template(f"{template}.html.jinja")
    text = made.render(
        place=place,
        version=planproof.__version__,
        assets=digest(),
        viewer=viewer.get(),
        signed=signed,
        direction=direction,
        **values,
    )
    # Halves of characters, which a trace may hold, can't be sent.
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


def wants_page(headers: Headers) -> bool:
    """Whether who asks is a browser that would show what it gets."""
    return "text/html" in headers.get("accept", "")


def problem_for(scope: Scope, error: PlanproofError) -> Response:
    """What went wrong before any page could tell: for people on a page, for programs as JSON."""
    if not wants_page(Headers(scope=scope)):
        return problem(refused_for(error))
    viewer.set(scope.get("state", {}).get("key"))
    return problem_page(error, place_at(scope["path"]))


def problem_page(error: PlanproofError, place: Place) -> HTMLResponse:
    """The page that says what went wrong, and what to do."""
    refused = refused_for(error)
    if refused.status == 422:
        refused = Refused(404, error.what, where=error.where, advice=error.advice)
    answer = page(
        "problem",
        place,
        status=refused.status,
        is_lost=refused.status == 404,
        what=SHOW(refused.what),
        where=refused.where and SHOW(refused.where),
        advice=refused.advice and SHOW(refused.advice),
    )
    if refused.retry_after is not None:
        answer.headers["Retry-After"] = str(refused.retry_after)
    return answer


def query(**values: Any) -> str:
    """A query string, or nothing of what is empty."""
    return "?" + urlencode({name: value for name, value in values.items() if value}, doseq=True)


def ago(then: datetime, now: datetime | None = None) -> str:
    """How long ago it was, to the eye; after a day, when it was."""
    passed = ((now or datetime.now(UTC)) - then).total_seconds()
    if passed < _MINUTE:
        return "just now"
    if passed < _HOUR:
        return f"{many(int(passed // _MINUTE), 'minute')} ago"
    if passed < _DAY:
        return f"{many(int(passed // _HOUR), 'hour')} ago"
    return f"{then:%Y-%m-%d %H:%M}"


def signed(change: float) -> str:
    """A change with its sign, as it is printed."""
    return f"{change:+.3f}".replace("-", "−") if direction(change) else "0.000"


def direction(change: float | None) -> str:
    """Whether a change is for the better; nothing where it is too small to be printed."""
    if change is None or abs(change) < _SMALLEST_CHANGE:
        return ""
    return "yes" if change > 0 else "no"
