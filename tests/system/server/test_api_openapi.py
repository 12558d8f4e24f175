"""The description of the API: what it shows was really answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.openapi.utils import get_openapi

from planproof.server.api import (
    health,
    result_routes,
    run_routes,
    verdict_routes,
)
from scripts import server_examples
from scripts.server_examples import TAGS

_ROUTERS = (health, result_routes, run_routes, verdict_routes)


@pytest.fixture(scope="module")
def operations() -> dict[str, dict[str, Any]]:
    routes = [route for part in _ROUTERS for route in part.router.routes]
    described = get_openapi(title="planproof", version="1", routes=routes)
    return {
        operation["operationId"]: operation
        for methods in described["paths"].values()
        for operation in methods.values()
    }


def test_examples_are_what_the_server_answers() -> None:
    kept = json.loads(server_examples.FILE.read_text(encoding="utf-8"))
    assert server_examples.collect_answers() == kept, "python -m scripts.refresh_docs"


def test_every_operation_of_the_api_shows_an_example(operations: dict[str, dict[str, Any]]) -> None:
    of_the_api = [each for each in operations.values() if TAGS.intersection(each["tags"])]
    assert len(of_the_api) == 10
    for operation in of_the_api:
        good = next(answer for status, answer in operation["responses"].items() if status < "300")
        [content] = good["content"].values()
        assert content["example"], operation["operationId"]
        assert content["schema"], operation["operationId"]
