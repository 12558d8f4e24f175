"""Styles and scripts: those of the report, and those that only the server's pages have."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from os import PathLike, stat_result

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_PACKAGES = ("planproof.reports.html", "planproof.server.pages")
_FOLDER = "assets"


class Assets(StaticFiles):
    """The files; browsers keep them, for an address never stands for another content."""

    def __init__(self) -> None:
        super().__init__(packages=[(package, _FOLDER) for package in _PACKAGES])

    def file_response(
        self,
        full_path: str | PathLike[str],
        stat_result: stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """A file as an answer."""
        answer = super().file_response(full_path, stat_result, scope, status_code)
        answer.headers["Cache-Control"] = "private, max-age=31536000, immutable"
        return answer


@cache
def compute_assets_digest() -> str:
    """Changes with any of the files; it is part of their addresses."""
    hasher = sha256()
    for package in _PACKAGES:
        for asset in sorted(files(package).joinpath(_FOLDER).iterdir(), key=lambda file: file.name):
            hasher.update(asset.name.encode() + b"\0" + asset.read_bytes())
    return hasher.hexdigest()[:12]
