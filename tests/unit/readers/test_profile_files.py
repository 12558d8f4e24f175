"""Profiles in files and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from planproof.errors import InvalidInput
from planproof.readers.profile_files import read_profiles
from tests.own_format import PROFILE, make_reader


def _write(path: Path, name: str = "shop-bot") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PROFILE.replace("shop-bot", name), encoding="utf-8")
    return path


def test_files_folders_and_readers_are_read_in_order(tmp_path: Path) -> None:
    _write(tmp_path / "formats" / "b.yml", "b")
    _write(tmp_path / "formats" / "a.yaml", "a")
    (tmp_path / "formats" / "README.md").write_text("no profile", encoding="utf-8")
    one = _write(tmp_path / "one.yaml", "one")
    found = read_profiles([one, make_reader("made"), tmp_path / "formats"])
    assert [reader.name for reader in found] == ["one", "made", "a", "b"]


def test_a_name_that_is_given_twice_names_both_files(tmp_path: Path) -> None:
    first, second = _write(tmp_path / "1.yaml"), _write(tmp_path / "2.yaml")
    with pytest.raises(InvalidInput, match="another profile with the name `shop-bot`") as error:
        read_profiles([first, second])
    assert str(first) in str(error.value)
    assert str(second) in str(error.value)


def test_a_folder_without_profiles_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="contains no profiles"):
        read_profiles([tmp_path])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "can't be read: No such file"),
        (b"\xff\xfe\xfa", "byte 0 is not valid UTF-8"),
        (b"#" * 4_000_001, "has more than 4,000,000 bytes"),
        (b"name: [", "is not valid YAML"),
    ],
    ids=["missing", "encoding", "size", "syntax"],
)
def test_what_can_not_be_read_says_why(tmp_path: Path, data: bytes | None, message: str) -> None:
    path = tmp_path / "p.yaml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InvalidInput, match=r"p\.yaml") as error:
        read_profiles([path])
    assert message in str(error.value)
