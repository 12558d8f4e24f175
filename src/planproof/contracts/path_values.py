"""Compare file paths by their parts."""

from __future__ import annotations

import re
from functools import lru_cache

from planproof.core.contract import Truth

_DRIVE = re.compile(r"/?([a-z]):(?=/|$)")
_MAX_CHARS = 10_000
_QUOTES = "'\"`"
_HOME = re.compile(r"(?:\$home|\$\{home\})(?=/|$)")


def check_path(wanted: str, value: str) -> Truth:
    """Check a path; a relative one matches the end of a longer one, by whole names.

    A value that is shorter than the path asked for depends on the working directory: unknown. In a
    text of several words one of them has to match.
    """
    if len(value) > _MAX_CHARS:
        return Truth.MISMATCH
    truth = _compare(wanted, value)
    if truth is Truth.MATCH:
        return truth
    words = [word.strip(_QUOTES + "(),;<>") for word in value.split()]
    if len(words) < 2:
        return truth
    results = {_compare(wanted, word.rpartition("=")[2]) for word in words if word}
    return next((best for best in (Truth.MATCH, Truth.UNKNOWN) if best in results), Truth.MISMATCH)


def has_path_suffix(path: str, suffix: str) -> bool:
    """Return whether a path ends with the names of another one, or equals it."""
    return len(path) <= _MAX_CHARS and _compare(suffix, path) is Truth.MATCH


def _compare(wanted: str, value: str) -> Truth:
    wanted_root, wanted_names = split_path(wanted)
    root, names = split_path(value)
    if not wanted_names or not names:
        same = (wanted_root, wanted_names) == (root, names) and bool(root or wanted.strip())
        return Truth.MATCH if same else Truth.MISMATCH
    if wanted_names == names and (wanted_root == root or not wanted_root):
        return Truth.MATCH
    if not wanted_root and wanted_names[0] != ".." and names[-len(wanted_names) :] == wanted_names:
        return Truth.MATCH
    if not root and wanted_names[-len(names) :] == names:
        return Truth.UNKNOWN
    return Truth.MISMATCH


@lru_cache(maxsize=1_024)
def split_path(path: str) -> tuple[str, tuple[str, ...]]:
    """Return the root of a path ("/", "~", "c:" or "" if it is relative) and its names."""
    bare = path.strip().strip(_QUOTES).casefold().replace("\\", "/")
    bare = bare.removeprefix("file://")
    bare = _HOME.sub("~", bare, count=1) if bare.startswith("$") else bare
    root = ""
    if (drive := _DRIVE.match(bare)) is not None:
        root, bare = f"{drive[1]}:", bare[drive.end() :]
    elif bare.startswith("/"):
        root = "/"
    elif bare == "~" or bare.startswith("~/"):
        root, bare = "~", bare[1:]
    names: list[str] = []
    for name in bare.split("/"):
        if name == ".." and (names or root) and names[-1:] != [".."]:
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    return root, tuple(names)
