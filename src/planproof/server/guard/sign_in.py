"""Sign in with an API key in a browser: the form shown instead of a page, and sessions."""

from __future__ import annotations

from base64 import b64encode
from collections import OrderedDict
from functools import cache
from hashlib import sha256
from importlib.resources import files
from secrets import token_urlsafe
from time import monotonic
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, RedirectResponse, Response

from planproof.reports.html.page_templates import get_environment
from planproof.server.guard.api_keys import hash_secret
from planproof.server.pages.rendering import locate_page

COOKIE = "planproof_session"
SIGN_IN_PATH = "/sign-in"
SIGN_OUT_PATH = "/sign-out"

_STYLE_FILES = (("planproof.reports.html", "page.css"), ("planproof.server.pages", "sign-in.css"))


def render_form(
    next_path: str, *, path: str = SIGN_IN_PATH, message: str = "", status: int = 401
) -> Response:
    """Return the page that asks for a key, shown at `path` instead of the requested page.

    `next_path` is where the browser goes after signing in. Links are relative, so that they work
    behind any path prefix.
    """
    style = _load_style()
    template = get_environment("planproof.server.pages").get_template("sign_in.html.jinja")
    page = template.render(
        style=style, message=message, root=locate_page(path).root, to=to_local_path(next_path)
    )
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(page, status, headers={"Content-Security-Policy": policy})


def parse_form(body: bytes) -> tuple[str, str]:
    """Return the typed key and the path to go to next."""
    try:
        fields = parse_qs(body.decode("utf-8"), max_num_fields=8)
    except ValueError:
        return "", "/"
    return fields.get("key", [""])[0].strip(), to_local_path(fields.get("to", ["/"])[0])


def make_sign_in_response(session: str, next_path: str, *, secure: bool) -> Response:
    """Return the response to a valid key: a redirect with the session cookie."""
    answer = RedirectResponse(f".{next_path}", 303)
    answer.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=secure)
    return answer


def make_sign_out_response() -> Response:
    """Return the response to signing out: a redirect that deletes the session cookie."""
    answer = RedirectResponse("./", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def to_local_path(path: str) -> str:
    """Return the path if it is on this server, else `/`: prevents open redirects."""
    if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable():
        return path
    return "/"


@cache
def _load_style() -> str:
    """Return the CSS to inline in the page, because asset files are not served without a key."""
    return "\n".join(
        files(package).joinpath("assets", name).read_text(encoding="utf-8")
        for package, name in _STYLE_FILES
    )


_MAX_AGE_SECONDS = 12 * 60 * 60.0
_MAX_SESSIONS = 1_000


class Sessions:
    """Sign-in sessions, each valid for 12 hours; above the limit, the oldest one ends."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def begin(self, key_digest: str) -> str:
        """Start a session for the key with this digest; return the session's secret."""
        session = token_urlsafe(32)
        self._open[hash_secret(session)] = key_digest, monotonic() + _MAX_AGE_SECONDS
        if len(self._open) > _MAX_SESSIONS:
            self._open.popitem(last=False)
        return session

    def find_key_digest(self, session: str) -> str | None:
        """Return the digest of the key of a session, or None if it has ended."""
        key_digest, until = self._open.get(hash_secret(session), (None, 0.0))
        return key_digest if monotonic() < until else None

    def end(self, session: str) -> None:
        """End a session."""
        self._open.pop(hash_secret(session), None)
