"""Render HTML pages and serve assets. Links are relative: they work behind any path prefix."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from os import PathLike, stat_result
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

import planproof
from planproof.errors import PlanproofError
from planproof.reports.html.page_templates import get_environment
from planproof.reports.wording import make_sanitizer, pluralize
from planproof.server.http_problems import RequestRefused, make_problem_response, to_request_refused

mask_text = make_sanitizer(secrets=False)
"""Sanitize text of a case for a page; text that looks like a secret is masked."""
_MAX_DEPTH = 50
_SMALLEST_CHANGE = 0.0005
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True)
class PageLocation:
    """A page's entry in the navigation, and the depth of its path."""

    nav_entry: str
    depth: int = 0

    @property
    def root(self) -> str:
        """The relative URL from the page to the overview page."""
        return "../" * self.depth or "./"


RUNS = PageLocation("runs")
RUN = PageLocation("runs", 1)
CASE = PageLocation("runs", 3)
CASE_REDIRECT = PageLocation("runs", 2)
COMPARE = PageLocation("compare")
LIVE = PageLocation("live")
TRY = PageLocation("try")


def locate_page(path: str) -> PageLocation:
    """Return the location of an error page that is shown at any requested path."""
    # Limit the depth: each slash of a path adds `../` to every link of the page.
    return PageLocation("", min(path.count("/") - 1, _MAX_DEPTH))


viewer: ContextVar[str | None] = ContextVar("viewer", default=None)
"""Name of the key that the viewer has signed in with, where keys are required."""


def render_page(
    template: str, location: PageLocation, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """Render a page; all values are escaped."""
    jinja_template = get_environment("planproof.server.pages").get_template(
        f"{template}.html.jinja"
    )
    text = jinja_template.render(
        location=location,
        version=planproof.__version__,
        assets=compute_assets_digest(),
        viewer=viewer.get(),
        signed=format_change,
        direction=classify_change,
        **values,
    )
    # Lone surrogates, which a trace may contain, can't be encoded as UTF-8.
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


def accepts_html(headers: Headers) -> bool:
    """Return whether the client is a browser that would display HTML."""
    return "text/html" in headers.get("accept", "")


def respond_to_error(scope: Scope, error: PlanproofError) -> Response:
    """Return an error response for a request without a page: HTML for browsers, else JSON."""
    if not accepts_html(Headers(scope=scope)):
        return make_problem_response(to_request_refused(error))
    viewer.set(scope.get("state", {}).get("key"))
    return render_problem_page(error, locate_page(scope["path"]))


def render_problem_page(error: PlanproofError, location: PageLocation) -> HTMLResponse:
    """Render the page for an error: what went wrong, and what to do."""
    refused = to_request_refused(error)
    if refused.status == 422:
        refused = RequestRefused(404, error.what, where=error.where, advice=error.advice)
    answer = render_page(
        "problem",
        location,
        status=refused.status,
        is_not_found=refused.status == 404,
        what=mask_text(refused.what),
        where=refused.where and mask_text(refused.where),
        advice=refused.advice and mask_text(refused.advice),
    )
    if refused.retry_after is not None:
        answer.headers["Retry-After"] = str(refused.retry_after)
    return answer


def build_query_string(**values: Any) -> str:
    """Return a query string of the values that are not empty."""
    return "?" + urlencode({name: value for name, value in values.items() if value}, doseq=True)


def format_age(then: datetime, now: datetime | None = None) -> str:
    """Return a relative time such as "2 hours ago"; after a day, the date and time."""
    passed = ((now or datetime.now(UTC)) - then).total_seconds()
    if passed < _MINUTE:
        return "just now"
    if passed < _HOUR:
        return f"{pluralize(int(passed // _MINUTE), 'minute')} ago"
    if passed < _DAY:
        return f"{pluralize(int(passed // _HOUR), 'hour')} ago"
    return f"{then:%Y-%m-%d %H:%M}"


def format_change(change: float) -> str:
    """Format a change with its sign."""
    return f"{change:+.3f}".replace("-", "−") if classify_change(change) else "0.000"


def classify_change(change: float | None) -> str:
    """Return "yes" for an improvement, "no" for a decline, "" for a change too small to print."""
    if change is None or abs(change) < _SMALLEST_CHANGE:
        return ""
    return "yes" if change > 0 else "no"


_PACKAGES = ("planproof.reports.html", "planproof.server.pages")
_FOLDER = "assets"


class Assets(StaticFiles):
    """Serve asset files; browsers may cache them forever, since their URLs contain a digest."""

    def __init__(self) -> None:
        super().__init__(packages=[(package, _FOLDER) for package in _PACKAGES])

    def file_response(
        self,
        full_path: str | PathLike[str],
        stat_result: stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """Return a file as an immutable, cacheable response."""
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers["Cache-Control"] = "private, max-age=31536000, immutable"
        return answer


@cache
def compute_assets_digest() -> str:
    """Return a digest of all assets, which is part of their URLs."""
    hasher = sha256()
    for package in _PACKAGES:
        for asset in sorted(files(package).joinpath(_FOLDER).iterdir(), key=lambda file: file.name):
            hasher.update(asset.name.encode() + b"\0" + asset.read_bytes())
    return hasher.hexdigest()[:12]
