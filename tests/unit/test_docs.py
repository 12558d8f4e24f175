"""What the docs show is what the program does."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from planproof.config import read_configuration
from planproof.extensions import package_of, registered
from scripts import refresh_docs, schemas

PAGES = refresh_docs.pages()
_TOML = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def _holding(*markers: str) -> list[Path]:
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    return [page for page, text in texts.items() if any(marker in text for marker in markers)]


def _name(page: Path) -> str:
    return str(page.relative_to(refresh_docs.ROOT))


@pytest.mark.parametrize("page", _holding("<!-- run -->", "<!-- prompt "), ids=_name)
def test_pages_show_what_commands_print_and_models_are_asked(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert refresh_docs.refreshed(text) == text, "python scripts/refresh_docs.py"


@pytest.mark.parametrize("page", _holding("```python\n"), ids=_name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(refresh_docs.EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    # The blocks of a page build on one another; the tests shown in them are run as well.
    names: dict[str, Any] = {"__name__": page.stem}
    for block in _PYTHON.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, str(page), "exec"), names)
    for name, value in names.items():
        if name.startswith("test_"):
            value()


@pytest.mark.parametrize("page", _holding("```toml\n"), ids=_name)
def test_configuration_examples_are_understood(page: Path, tmp_path: Path) -> None:
    for block in _TOML.findall(page.read_text(encoding="utf-8")):
        file = tmp_path / "planproof.toml"
        file.write_text(block, encoding="utf-8")
        assert read_configuration(file).path == file


@pytest.mark.parametrize("path", schemas.published(), ids=lambda path: path.name)
def test_published_schemas_are_those_of_the_program(path: Path) -> None:
    fresh = schemas.published()[path]
    assert path.read_text(encoding="utf-8") == fresh, "python scripts/refresh_docs.py"


def test_every_reader_stands_in_the_table_of_formats_and_every_page_in_the_navigation() -> None:
    formats = refresh_docs.ROOT / "docs" / "formats"
    table = (formats / "index.md").read_text(encoding="utf-8")
    navigation = (refresh_docs.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    built_in = [name for name in registered("readers") if package_of("readers", name) is None]
    assert sorted(re.findall(r"^\| \[`([a-z-]+)`\]\(\1\.md\)", table, re.MULTILINE)) == built_in
    for page in formats.glob("*.md"):
        assert f"      - formats/{page.name}\n" in navigation
