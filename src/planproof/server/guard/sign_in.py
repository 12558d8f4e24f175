"""Signing in with a key, in a browser: the form that stands in the place of every page."""

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
    """The page that asks for a key, in the place of the one `at` which it was asked.

    `to` is where whoever has a key is led. Ways are relative: they hold behind any path prefix.
    """
    style = _load_style()
    template = get_environment("planproof.server.pages").get_template("sign_in.html.jinja")
    page = template.render(
        style=style, told=message, root=locate_page(path).root, to=to_local_path(next_path)
    )
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(page, status, headers={"Content-Security-Policy": policy})


def parse_form(body: bytes) -> tuple[str, str]:
    """The key that was typed, and where to go on."""
    try:
        fields = parse_qs(body.decode("utf-8"), max_num_fields=8)
    except ValueError:
        return "", "/"
    return fields.get("key", [""])[0].strip(), to_local_path(fields.get("to", ["/"])[0])


def make_sign_in_response(session: str, next_path: str, *, secure: bool) -> Response:
    """The answer to a key that is good."""
    answer = RedirectResponse(f".{next_path}", 303)
    answer.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=secure)
    return answer


def make_sign_out_response() -> Response:
    """The answer to who wants to leave."""
    answer = RedirectResponse("./", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def to_local_path(path: str) -> str:
    """A place on this server; the first page for whatever could lead elsewhere."""
    if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable():
        return path
    return "/"


@cache
def _load_style() -> str:
    """What the page looks like stands in it, for files are not given out without a key."""
    return "\n".join(
        files(package).joinpath("assets", name).read_text(encoding="utf-8")
        for package, name in _STYLE_FILES
    )


_MAX_AGE_SECONDS = 12 * 60 * 60.0
_MAX_SESSIONS = 1_000


class Sessions:
    """Stand for keys, for some hours; where there are too many, the oldest ends."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def begin(self, key_digest: str) -> str:
        """A new session for the key with this digest; what it returns is for its holder alone."""
        session = token_urlsafe(32)
        self._open[hash_secret(session)] = key_digest, monotonic() + _MAX_AGE_SECONDS
        if len(self._open) > _MAX_SESSIONS:
            self._open.popitem(last=False)
        return session

    def key_digest(self, session: str) -> str | None:
        """The digest of the key that a session stands for."""
        key_digest, until = self._open.get(hash_secret(session), (None, 0.0))
        return key_digest if monotonic() < until else None

    def end(self, session: str) -> None:
        """Let a session stand for nothing any more."""
        self._open.pop(hash_secret(session), None)
