"""Banned words are found in prose and names, not in data."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import check_words
from scripts.check_words import BannedWords, find_hits, list_files
from scripts.doc_blocks import ROOT

WORDS = "# a comment\n\nforsooth: indeed\nforsooths: indeeds\nfor lo: because\n"


@pytest.fixture
def banned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BannedWords:
    folder = tmp_path / "root" / "scripts"
    folder.mkdir(parents=True)
    (folder / "banned_words.txt").write_text(WORDS, encoding="utf-8")
    monkeypatch.setattr(check_words, "ROOT", folder.parent)
    return BannedWords.load()


def find(
    banned: BannedWords, folder: Path, text: str, name: str = "module.py"
) -> list[tuple[int, str]]:
    """Return the line and the word of each hit in a file with this text."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return [(hit.line, hit.word) for hit in find_hits([file], banned)]


def test_entries_are_words_with_what_to_write_instead(banned: BannedWords) -> None:
    assert banned.instead == {"forsooth": "indeed", "forsooths": "indeeds", "for lo": "because"}
    assert list(banned.find("fine\nForsooths, for\nlo!")) == [
        (1, "forsooths", "indeeds"),
        (1, "for lo", "because"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("forsooth = 1\n", 1, id="name"),
        pytest.param("def find_forsooth_at(): ...\n", 1, id="snake case"),
        pytest.param("class BigForsooth: ...\n", 1, id="camel case"),
        pytest.param("x.forsoothCount = 1\n", 1, id="attribute"),
        pytest.param("f(forsooth=1)\n", 1, id="keyword"),
        pytest.param('def f():\n    """Say\n\n    forsooth.\n    """\n', 4, id="docstring"),
        pytest.param("x = 1  # forsooth\n", 1, id="comment"),
        pytest.param("raise ValueError('forsooth, no')\n", 1, id="message"),
        pytest.param("print(f'{x} forsooth {x}')\n", 1, id="f-string"),
        pytest.param("x = {\n    'no_forsooth': 1}\n", 2, id="key"),
        pytest.param("x = 'Forsooth'\n", 1, id="capital letter"),
    ],
)
def test_a_banned_word_in_python_is_found(
    banned: BannedWords, tmp_path: Path, text: str, line: int
) -> None:
    assert find(banned, tmp_path, text) == [(line, "forsooth")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = re.compile('forsooth')\n", id="pattern"),
        pytest.param("x = re.compile(\n    r'a|'\n    r'forsooth'\n)\n", id="pattern in parts"),
        pytest.param("x = re.search(rf'{y}forsooth', y)\n", id="f-string pattern"),
        pytest.param("'é', re.compile('forsooth')\n", id="pattern after a wide character"),
        pytest.param("x = 'forsooth verily'.split()\n", id="word list"),
        pytest.param("x = ('verily '\n     'forsooth').split()\n", id="word list in parts"),
        pytest.param("x = 'forsooth'  # words: exempt\n", id="exempt line"),
        pytest.param("x = 'forsoothly'\n", id="part of a word"),
    ],
)
def test_data_may_have_any_word(banned: BannedWords, tmp_path: Path, text: str) -> None:
    assert find(banned, tmp_path, text) == []


def test_an_exempt_line_exempts_no_other(banned: BannedWords, tmp_path: Path) -> None:
    text = "x = 'forsooth'  # words: exempt\ny = 'forsooth'\n"
    assert find(banned, tmp_path, text) == [(2, "forsooth")]


def test_a_split_of_a_variable_is_not_a_word_list(banned: BannedWords, tmp_path: Path) -> None:
    assert find(banned, tmp_path, "x = text.split('forsooth')\n") == [(1, "forsooth")]


def test_markdown_is_prose(banned: BannedWords, tmp_path: Path) -> None:
    text = "# Title\n\nIt is, forsooth,\na sentence for\nlo.\n"
    assert find(banned, tmp_path, text, "page.md") == [(3, "forsooth"), (4, "for lo")]


def test_a_superseded_decision_may_have_any_word(banned: BannedWords, tmp_path: Path) -> None:
    text = "# 7. Words\n\nStatus: {}\n\nForsooth.\n"
    assert find(banned, tmp_path, text.format("superseded by 9"), "0007.md") == []
    assert find(banned, tmp_path, text.format("accepted"), "0007.md") == [(5, "forsooth")]


def test_fixtures_and_history_are_not_checked() -> None:
    names = {file.relative_to(ROOT).as_posix() for file in list_files()}
    assert {"README.md", "Makefile", "tests/unit/test_check_words.py"} <= names
    assert not {"CHANGELOG.md", "scripts/check_words.py"} & names
    assert not [name for name in names if name.startswith(("tests/goldens/", "examples/"))]


def test_hits_are_printed_and_fail(
    banned: BannedWords,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = check_words.ROOT
    bad, good = root / "docs" / "bad.md", root / "docs" / "good.md"
    good.parent.mkdir()
    bad.write_text("Well,\nforsooth.\n", encoding="utf-8")
    good.write_text("Well.\n", encoding="utf-8")
    monkeypatch.setattr(check_words, "list_files", lambda: [bad, good])
    assert check_words.main([]) == check_words.main([str(bad.parent)]) == 1
    line = f"{Path('docs', 'bad.md')}:2: 'forsooth': write indeed\n1 banned words\n"
    assert capsys.readouterr().out == line * 2
    assert check_words.main([str(good)]) == 0
