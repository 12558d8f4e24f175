from __future__ import annotations

import pytest
from pydantic_ai.models.test import TestModel

from planproof.errors import InvalidConfiguration, UnknownName
from planproof.llm.model_settings import ModelSettings, SpendingLimit
from planproof.llm.providers import open_model

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)


@pytest.mark.parametrize("name", ["gpt-4o", ":x", "openai:", ""])
def test_a_model_has_a_provider_and_a_name(name: str) -> None:
    with pytest.raises(UnknownName, match="openai:NAME"):
        open_model(name, settings=ModelSettings())


def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(UnknownName, match="unknown provider `opnai`"):
        open_model("opnai:x", settings=ModelSettings())


@pytest.mark.parametrize("name", ["openai:x", "anthropic:x"])
def test_a_missing_key_is_an_error_before_any_request(name: str) -> None:
    with pytest.raises(InvalidConfiguration, match="_API_KEY"):
        open_model(name, settings=ModelSettings())


def test_a_server_of_ones_own_needs_no_key() -> None:
    model = open_model("openai:x", base_url="http://127.0.0.1:9/v1", settings=ModelSettings())

    assert model.name == "openai:x"


def test_ollama_is_looked_for_where_it_usually_is() -> None:
    assert open_model("ollama:x", settings=ModelSettings()).name == "ollama:x"


def test_a_ready_made_object_does_as_well() -> None:
    assert open_model(TestModel(), settings=ModelSettings()).name == "test:test"


def test_a_limit_on_cost_needs_a_price() -> None:
    settings = ModelSettings(spending=SpendingLimit(limit=1.0))

    with pytest.raises(InvalidConfiguration, match="price is unknown"):
        open_model("openai:x", base_url="http://127.0.0.1:9/v1", settings=settings)


def test_the_fingerprint_knows_all_that_decides_the_answers() -> None:
    here, there = "http://127.0.0.1:9/v1", "http://127.0.0.1:8/v1"
    prints = [
        open_model(name, base_url=address, settings=settings).fingerprint
        for name in ("openai:x", "openai:y")
        for address in (here, there)
        for settings in (ModelSettings(), ModelSettings(temperature=0.7), ModelSettings(seed=1))
    ]
    again = open_model("openai:x", base_url=here, settings=ModelSettings(concurrency=2))

    assert len(set(prints)) == len(prints)
    assert again.fingerprint == prints[0]


def test_the_settings_of_an_object_count_too() -> None:
    bare, bound = TestModel(), TestModel(settings={"max_tokens": 9})

    assert (
        open_model(bare, settings=ModelSettings()).fingerprint
        != open_model(bound, settings=ModelSettings()).fingerprint
    )
