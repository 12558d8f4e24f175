"""Signing in with a key, in a browser: the form that stands in the place of every page."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, RedirectResponse, Response

COOKIE = "planproof_session"
PATH = "/sign-in"
OUT = "/sign-out"

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 22rem; margin: 15vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.25rem; }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
input, button { margin: .25rem 0 1rem; padding: .5rem .75rem; }
"""
_DIGEST = b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · planproof</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>planproof</h1>
{told}
<form method="post" action="{path}">
<input type="hidden" name="to" value="{to}">
<label for="key">Key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>
<p>Signed in already? <a href="{to}">Go on</a>.</p>
</main>
</body>
</html>
"""


def form(to: str, *, told: str = "", status: int = 401) -> Response:
    """The page that asks for a key; `to` is where whoever has one is led."""
    words = f'<p role="alert">{escape(told)}</p>' if told else ""
    page = _PAGE.format(style=_STYLE, told=words, path=PATH, to=escape(local(to)))
    return HTMLResponse(page, status, headers={"Content-Security-Policy": _POLICY})


def filled_in(body: bytes) -> tuple[str, str]:
    """The key that was typed, and where to go on."""
    try:
        fields = parse_qs(body.decode("utf-8"), max_num_fields=8)
    except ValueError:
        return "", "/"
    return fields.get("key", [""])[0].strip(), local(fields.get("to", ["/"])[0])


def signed_in(session: str, to: str, *, secure: bool) -> Response:
    """The answer to a key that is good."""
    answer = RedirectResponse(to, 303)
    answer.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=secure)
    return answer


def signed_out() -> Response:
    """The answer to who wants to leave."""
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer


def local(to: str) -> str:
    """A place on this server; the first page for whatever could lead elsewhere."""
    if to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable():
        return to
    return "/"
