"""Record the examples of the server's OpenAPI description: requests and their responses.

`python -m scripts.refresh_docs` writes the responses into the description.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.testclient import TestClient

from planproof.core.json_values import is_list, is_object
from planproof.llm.judge_registry import find_judge
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.server.lifecycle import make_app
from planproof.server.server_settings import ServerSettings

FILE = Path(__file__).parents[1] / "src" / "planproof" / "server" / "api" / "examples.json"
TAGS = {"verdicts", "runs", "results"}
# Values that change in each run, and their replacements.
_VOLATILE: dict[str, Any] = {
    "created": "2026-01-02T03:04:05+00:00",
    "finished": "2026-01-02T03:04:06+00:00",
    "fingerprint": "5f0d3c6a1b2e4978",
    "seconds": 0.004,
}
_SETUP_OPERATIONS = ("start_run", "stream_run_events")
_RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_SHOWN_RUN = "20260102-030405-a1b2c3"


def collect_answers() -> dict[str, Any]:
    """Return the responses to all examples, by operation."""
    with TemporaryDirectory() as folder:
        evaluator = CaseEvaluator(find_judge("rules"))
        settings = ServerSettings(
            store=str(Path(folder) / "runs.db"), evaluator=evaluator, processes=1
        )
        with TestClient(make_app(settings), base_url="http://127.0.0.1") as client:
            description = client.get("/openapi.json").json()
            operations = list(_iterate_operations(description))
            # Two runs, for the comparison; the second is shown.
            for request in operations:
                if request[2]["operationId"] in _SETUP_OPERATIONS:
                    _send_example(client, *request)
            return {
                operation["operationId"]: stabilize(_send_example(client, method, path, operation))
                for method, path, operation in operations
            }


def stabilize(answer: Any) -> Any:
    """Return a response with changing values replaced."""
    if is_object(answer):
        return {
            key: _VOLATILE[key] if key in _VOLATILE and value else stabilize(value)
            for key, value in answer.items()
        }
    if is_list(answer):
        return [stabilize(value) for value in answer]
    return _RUN_ID.sub(_SHOWN_RUN, answer) if isinstance(answer, str) else answer


def render_file() -> str:
    """Return the expected text of the examples file."""
    return json.dumps(collect_answers(), indent=1, ensure_ascii=False) + "\n"


def _iterate_operations(description: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return the example requests in the order in which they are sent."""
    operations = [
        (method, path, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        if TAGS.intersection(operation["tags"])
    ]
    # Progress is streamed until the run has finished, which the other examples need.
    yield from sorted(
        operations, key=lambda request: (request[0] != "post", not request[1].endswith("events"))
    )


def _send_example(client: TestClient, method: str, path: str, operation: dict[str, Any]) -> Any:
    query: dict[str, Any] = {}
    for parameter in operation.get("parameters", ()):
        example = parameter["schema"].get("examples", [None])[0]
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", example)
        elif example is not None:
            query[parameter["name"]] = example
    content: Any = None
    headers: dict[str, str] = {}
    if forms := operation.get("requestBody", {}).get("content"):
        media_type, body = next(iter(forms.items()))
        content = json.dumps(body["example"])
        headers["Content-Type"] = media_type
    answer = client.request(method, path, params=query, content=content, headers=headers)
    answer.raise_for_status()
    if answer.headers["content-type"].startswith("application/json"):
        return answer.json()
    # The number of progress events before that depends on the machine.
    return "".join(answer.text.rpartition("event: over")[1:])
