"""Jinja templates of the HTML pages, with autoescaping."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from planproof.core.content import Json

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "planproof.reports.html"


@cache
def get_environment(*packages: str) -> Environment:
    """Return an environment for these packages' templates, which can import the ones here."""
    from jinja2 import (  # noqa: PLC0415 - heavy
        ChoiceLoader,
        Environment,
        PackageLoader,
        StrictUndefined,
    )

    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, _PACKAGE)]),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["embeddable"] = to_embeddable_json
    return templates


def to_embeddable_json(value: Json) -> str:
    """Serialize to JSON in which no text can open or close an HTML element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
