"""The fingerprint of `rules` changes with everything that its verdicts rest on."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import pytest

from planproof.checking import rules
from planproof.checking.rules import Rules


@pytest.fixture(autouse=True)
def _clear_caches() -> Iterator[None]:
    rules.compute_release_fingerprint.cache_clear()
    yield
    rules.compute_release_fingerprint.cache_clear()


def _set_version(name: str) -> str:
    return f"{name} 99"


def test_it_changes_with_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Rules().fingerprint
    rules.compute_release_fingerprint.cache_clear()
    monkeypatch.setattr(rules, "version", _set_version)
    assert Rules().fingerprint != before


def test_every_file_of_knowledge_is_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    class Digest:
        def __init__(self, start: bytes) -> None:
            del start

        def update(self, data: bytes) -> None:
            read.append(data.decode())

        def hexdigest(self) -> str:
            return "0" * 64

    monkeypatch.setattr(rules, "sha256", Digest)
    _ = Rules().fingerprint
    knowledge = files("planproof.core").joinpath("knowledge").iterdir()
    texts = {file.read_text("utf-8") for file in knowledge if file.name.endswith(".txt")}
    assert texts <= set(read)
