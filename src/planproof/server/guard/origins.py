"""Where a request comes from, as far as a browser says: other sites are refused.

Without keys, a server on loopback trusts whoever can reach it. A page from elsewhere could make a
browser on this machine ask it, by its address, or by a name that it lets point here.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from planproof.server.http_problems import Refused
from planproof.server.server_settings import is_loopback

SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_OURS = frozenset(("same-origin", "none"))


def check_host(headers: Headers) -> None:
    """Refuse a request that was made under a name which is not this machine's own."""
    host = headers.get("host", "")
    if not is_loopback(_name(host)):
        raise Refused(
            403,
            f"the host `{host}` is not loopback.",
            where="Host",
            advice="Ask http://127.0.0.1 or localhost; with --demand-keys other names do.",
        )


def check_origin(method: str, headers: Headers) -> None:
    """Refuse what a browser sends on behalf of another site; its links may be followed."""
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise _foreign("Origin")
    site = headers.get("sec-fetch-site", "none")
    if site in _OURS:
        return
    followed = headers.get("sec-fetch-mode") == "navigate"
    whole = headers.get("sec-fetch-dest", "document") == "document"
    if not (followed and whole and method in SAFE):
        raise _foreign("Sec-Fetch-Site")


def _name(host: str) -> str:
    """The name in a `Host`, without the port."""
    if host.startswith("["):
        return host.partition("]")[0][1:]
    return host.partition(":")[0]


def _foreign(header: str) -> Refused:
    return Refused(
        403,
        "it is sent on behalf of another site.",
        where=header,
        advice="Requests from other sites are not served.",
    )
