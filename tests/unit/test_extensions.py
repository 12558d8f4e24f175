"""Names that are registered, names that are not, and names that lead nowhere."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from planproof import extensions
from planproof.errors import UnknownName, did_you_mean
from planproof.llm.judge_registry import find_judge


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(kind: str) -> dict[str, EntryPoint]:
        group = f"planproof.{kind}"
        values = {
            "good": "planproof.core.vocabulary:Vocabulary",
            "gone": "planproof.no_such_module:Judge",
            "empty": "planproof.core.vocabulary:NoSuchName",
        }
        return {name: EntryPoint(name, value, group) for name, value in values.items()}

    monkeypatch.setattr(extensions, "_entries", found)


def test_built_in_readers_and_judges_are_registered_as_anybody_elses() -> None:
    assert "rules" in extensions.list_names("judges")
    assert set(extensions.list_names("readers")) >= {"native", "openai-messages", "general"}
    assert find_judge().name == "rules"


@pytest.mark.usefixtures("entries")
def test_what_is_registered_is_loaded() -> None:
    assert extensions.load("judges", "good").__name__ == "Vocabulary"


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("god", "no judge is registered as `god`. Did you mean `good`? Known: empty, gone, good."),
        ("x", "no judge is registered as `x`. Known: empty, gone, good."),
        ("gone", "the judge `gone` can't be loaded from `planproof.no_such_module:Judge`: "),
        (
            "empty",
            "the judge `empty` can't be loaded from `planproof.core.vocabulary:NoSuchName`: ",
        ),
    ],
)
def test_other_names_are_errors_that_help(name: str, message: str) -> None:
    with pytest.raises(UnknownName) as caught:
        extensions.load("judges", name)
    assert str(caught.value).startswith(message)


def test_suggestions_do_not_mind_case() -> None:
    assert did_you_mean("RULES", ["rules", "audit"]).startswith("Did you mean `rules`?")
    assert did_you_mean("vra", ["var", "never"]).startswith("Did you mean `var`?")
    assert did_you_mean("owner", ["never", "name"]) == "Known: name, never."
    assert did_you_mean("x", []) == "None is registered."
