"""A page is one file with a policy that lets in nothing but its own style and script."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from planproof.reports.html.page_templates import to_embeddable_json
from planproof.reports.html.report_page import render_case_page
from tests.judged_cases import EVERY_STATUS

PAGE = "".join(render_case_page(EVERY_STATUS))


class Elements(HTMLParser):
    """Every tag with its attributes, and the text of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"style": [], "script": []}
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside in self.texts:
            self.texts[self._inside].append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def parse_page(page: str) -> Elements:
    elements = Elements()
    elements.feed(page)
    return elements


def test_the_policy_names_the_style_and_the_script_and_nothing_else() -> None:
    elements = parse_page(PAGE)
    policy = next(
        each["content"] or ""
        for tag, each in elements.tags
        if tag == "meta" and "http-equiv" in each
    )
    (style,) = elements.texts["style"]
    script = elements.texts["script"][-1]
    hashed = {
        name: b64encode(sha256(text.encode()).digest()).decode()
        for name, text in (("style", style), ("script", script))
    }
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{hashed['style']}'",
        f"script-src 'sha256-{hashed['script']}'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ]


def test_no_element_has_a_handler_a_style_or_an_address_elsewhere() -> None:
    for tag, attributes in parse_page(PAGE).tags:
        names = set(attributes)
        assert not {name for name in names if name.startswith("on")}, tag
        assert not names & {"style", "src", "srcset", "action", "integrity"}, tag
        assert (attributes.get("href") or "#").startswith("#"), tag


def test_scripts_set_text_and_never_markup() -> None:
    assets = files("planproof.reports.html").joinpath("assets")
    for asset in assets.iterdir():
        source = asset.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", source)
        assert not re.search(
            r"fetch\(|XMLHttpRequest|WebSocket|import\(|https?://(?!www\.w3)", source
        )
        assert not re.search(r"@import|url\(", source)


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&amp;", "\u2028", "'\"\\"])
def test_embedded_data_stays_inside_its_element(text: str) -> None:
    written = to_embeddable_json({"text": text})
    assert not set("<>&") & set(written)
    assert json.loads(written) == {"text": text}


def test_the_page_is_well_formed_text_and_small() -> None:
    PAGE.encode("utf-8")
    assert PAGE.startswith("<!doctype html>")
    assert len(PAGE) < 80_000
