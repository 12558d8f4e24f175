"""Where a request comes from, as far as a browser says: other sites are refused.

Without keys, a server on loopback trusts whoever can reach it. A page from elsewhere could make a
browser on this machine ask it, by its address, or by a name that it lets point here.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from planproof.server.http_problems import RequestRefused
from planproof.server.server_settings import is_loopback

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_OWN_SITES = frozenset(("same-origin", "none"))


def check_host(headers: Headers) -> None:
    """Refuse a request that was made under a name which is not this machine's own."""
    host = headers.get("host", "")
    if not is_loopback(_strip_port(host)):
        raise RequestRefused(
            403,
            f"the host `{host}` is not loopback.",
            where="Host",
            advice="Ask http://127.0.0.1 or localhost; with --demand-keys other names do.",
        )


def check_origin(method: str, headers: Headers) -> None:
    """Refuse what a browser sends on behalf of another site; its links may be followed."""
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise _make_origin_error("Origin")
    site = headers.get("sec-fetch-site", "none")
    if site in _OWN_SITES:
        return
    followed = headers.get("sec-fetch-mode") == "navigate"
    is_document = headers.get("sec-fetch-dest", "document") == "document"
    if not (followed and is_document and method in SAFE_METHODS):
        raise _make_origin_error("Sec-Fetch-Site")


def _strip_port(host: str) -> str:
    """The name in a `Host`, without the port."""
    if host.startswith("["):
        return host.partition("]")[0][1:]
    return host.partition(":")[0]


def _make_origin_error(header: str) -> RequestRefused:
    return RequestRefused(
        403,
        "it is sent on behalf of another site.",
        where=header,
        advice="Requests from other sites are not served.",
    )
