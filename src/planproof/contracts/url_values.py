"""Compare URLs by host, path and query, as a browser would read them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from planproof.core.contract import Truth

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{0,20}):(?=/|\\)", re.IGNORECASE)
_HOST = re.compile(
    r"(?=.*[a-z])[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|localhost|\d{1,3}(?:\.\d{1,3}){3}"
)
_ESCAPE = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
_IGNORED = dict.fromkeys(map(ord, "\t\n\r"))
"""Browsers drop these characters from a URL."""
_DEFAULT_PORTS = frozenset({"80", "443"})
_MAX_CHARS = 10_000


class Url(NamedTuple):
    """The parts of a URL that are compared; `host` is empty if there is only a path."""

    host: str
    path: str
    query: tuple[tuple[str, str], ...]


def check_url(wanted: str, value: str) -> Truth:
    """Check a URL: the same host, and the path and query parameters that are asked for.

    The scheme, "www.", a trailing slash, the fragment and further parameters make no difference. If
    a text has several URLs and only some match, it is unknown which one counts.
    """
    target = parse_url(wanted)
    if target is None:
        return Truth.UNKNOWN
    if len(value) > _MAX_CHARS:
        return Truth.MISMATCH
    words = [word.strip("'\"`()<>[],;.!?:") for word in value.split()]
    urls = [url for word in words if (url := parse_url(word)) is not None]
    results = [_includes(target, url) for url in urls]
    if any(results):
        return Truth.MATCH if all(results) else Truth.UNKNOWN
    return Truth.MISMATCH


def _includes(target: Url, url: Url) -> bool:
    if target.host and target.host != url.host:
        return False
    if target.path and target.path != url.path:
        return False
    return set(target.query) <= set(url.query)


@lru_cache(maxsize=1_024)
def parse_url(text: str) -> Url | None:
    """Return the parts of a URL, of "host/path" or of "/path"; None for anything else."""
    bare = text.strip().translate(_IGNORED)
    if not bare or any(character.isspace() for character in bare):
        return None
    scheme = _SCHEME.match(bare)
    rest = bare[scheme.end() :] if scheme else bare
    rest, mark, query = rest.partition("#")[0].partition("?")
    rest = rest.replace("\\", "/")
    if scheme or rest.startswith("//"):
        authority, _, path = rest.lstrip("/").partition("/")
        host = _read_host(authority)
        if not host:
            return None
    elif rest.startswith("/"):
        host, path = "", rest[1:]
    else:
        authority, _, path = rest.partition("/")
        host = _read_host(authority)
        if not _HOST.fullmatch(host.partition(":")[0]) or "@" in authority:
            return None
    parameters = (part.partition("=") for part in query.split("&") if part) if mark else ()
    return Url(
        host,
        _decode(path).rstrip("/"),
        tuple((_decode(name), _decode(value.replace("+", " "))) for name, _, value in parameters),
    )


def _read_host(authority: str) -> str:
    """Return the host: what comes after the user, in lower case, without a usual port."""
    host = normalize("NFKC", authority.rpartition("@")[2]).casefold()
    name, _, port = host.rpartition(":")
    if name and (port in _DEFAULT_PORTS or not port):
        host = name
    return host.removeprefix("www.").rstrip(".")


def _decode(text: str) -> str:
    """Decode percent escapes; bytes that are not UTF-8 stay as they are."""
    if "%" not in text:
        return text
    parts: list[bytes] = []
    position = 0
    for match in _ESCAPE.finditer(text):
        parts.append(text[position : match.start()].encode("utf-8", "surrogatepass"))
        parts.append(bytes.fromhex(match[0][1:]))
        position = match.end()
    parts.append(text[position:].encode("utf-8", "surrogatepass"))
    try:
        return b"".join(parts).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text
