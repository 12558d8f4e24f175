"""The configuration: where it is found, what it may say, and how it objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from planproof.config import Configuration, find_configuration, read_configuration
from planproof.errors import InvalidConfiguration

WHOLE = """
judge = "rules"
min_score = 0.75
bookkeeping = ["log_progress"]
closing = ["hand_in"]
profiles = ["formats", "/etc/own.yaml"]
[aliases]
"look up" = "kb_search"
[limits]
max_bytes = 1_000
max_depth = 20
max_values = 300
"""


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_is_read(tmp_path: Path) -> None:
    path = _write(tmp_path / "planproof.toml", WHOLE)
    found = read_configuration(path)
    assert (found.judge, found.min_score, found.path) == ("rules", 0.75, path)
    assert (found.limits.bytes, found.limits.depth, found.limits.values) == (1_000, 20, 300)
    assert found.vocabulary.is_bookkeeping("log_progress")
    assert found.vocabulary.is_bookkeeping("think"), "built-in knowledge stays"
    assert found.vocabulary.is_closing("hand_in")
    assert found.profiles == (tmp_path / "formats", Path("/etc/own.yaml"))
    assert found.vocabulary.aliases == {"look up": "kb_search"}


def test_without_a_file_the_defaults_apply(tmp_path: Path) -> None:
    assert find_configuration(tmp_path) == Configuration()


def test_the_nearest_file_at_or_above_the_directory_counts(tmp_path: Path) -> None:
    _write(tmp_path / "planproof.toml", "min_score = 0.25")
    inner = _write(tmp_path / "a" / "pyproject.toml", "[tool.planproof]\nmin_score = 0.5")
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert find_configuration(deep).path == inner


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    outer = _write(tmp_path / "planproof.toml", "min_score = 0.25")
    _write(tmp_path / "a" / "pyproject.toml", "[project]\nname = 'x'")
    _write(tmp_path / "a" / "b" / "pyproject.toml", "tool = 3")
    assert find_configuration(tmp_path / "a" / "b").path == outer


def test_planproof_toml_wins_over_pyproject_beside_it(tmp_path: Path) -> None:
    _write(tmp_path / "pyproject.toml", "[tool.planproof]\nmin_score = 0.5")
    own = _write(tmp_path / "planproof.toml", "")
    assert find_configuration(tmp_path).path == own


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min_scroe = 0.5", "unknown setting `min_scroe`. Did you mean `min_score`? Known: "),
        ("colour = 1", "unknown setting `colour`. Known: aliases, bookkeeping"),
        ("min_confidence = 2", "`min_confidence` must be a number from 0 to 1, not 2"),
        ("min_score = 1.5", "`min_score` must be a number from 0 to 1, not 1.5"),
        ("min_score = nan", "`min_score` must be a number from 0 to 1, not nan"),
        ("min_score = true", "`min_score` must be a number from 0 to 1, not True"),
        ("judge = ''", "`judge` must be a name in quotes"),
        ("judge = 3", "`judge` must be a name in quotes"),
        ("closing = 'finish'", "`closing` must be a list of tool names, not 'finish'"),
        ("bookkeeping = ['a', 3]", "`bookkeeping` must be a list of tool names"),
        ("aliases = ['a']", "`aliases` must be a table"),
        ("[aliases]\nfind = 3", "`aliases` must be a table"),
        ("profiles = 3", "`profiles` must be the path of a file or folder, or a list of paths"),
        ("profiles = ['']", "`profiles` must be the path of a file or folder"),
        ("limits = 3", "`limits` must be a table of max_bytes, max_depth, max_values"),
        ("[limits]\nmax_bites = 3", "`limits` must be a table of max_bytes, max_depth, max_values"),
        ("[limits]\nmax_bytes = 0", "positive integers"),
        ("[limits]\nmax_depth = true", "positive integers"),
        ("min_score = ", "not valid TOML: "),
    ],
)
def test_unknown_settings_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = _write(tmp_path / "planproof.toml", text)
    with pytest.raises(InvalidConfiguration) as caught:
        find_configuration(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_a_table_that_is_none_is_named(tmp_path: Path) -> None:
    _write(tmp_path / "pyproject.toml", "[tool]\nplanproof = 3")
    with pytest.raises(InvalidConfiguration, match=r"`tool\.planproof` must be a table"):
        find_configuration(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.toml", None, "can't be read: No such file"),
        ("latin.toml", b"judge = '\xe9'", "can't be read: "),
        ("pyproject.toml", b"[project]", "no [tool.planproof] table"),
    ],
)
def test_a_named_file_must_be_one(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidConfiguration) as caught:
        read_configuration(path)
    assert message in str(caught.value)
