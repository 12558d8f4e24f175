"""Images of a case reach every model as images, in their positions, with every judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planproof import Verdict, evaluate
from planproof.core.judge import ModelOptions
from planproof.llm.judge_registry import find_judge
from planproof.llm.model_settings import ModelSettings
from planproof.llm.providers import open_model
from tests.images import GIF, JPEG, PNG, PNG_BYTES
from tests.scripted_model import ModelRequest, ScriptedModel

DIALECTS = ["openai:x", "openai-responses:x", "anthropic:x"]
TEMPLATE = (
    "{{ _fragments.multimodal_input_rules }}\n{{ user_task }}\n{{ agent_plan }}\n"
    "{{ execution_trace_json }}"
)


def openai_image(data: str, kind: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{data}"}}


def anthropic_image(data: str, kind: str) -> dict[str, Any]:
    source = {"type": "base64", "media_type": f"image/{kind}", "data": data}
    return {"type": "image", "source": source}


TRACE: list[dict[str, Any]] = [
    {"role": "user", "content": "Draw it as shown."},
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "t1", "name": "draw_chart", "input": {"of": "sales"}}
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [{"type": "text", "text": "drawn"}, anthropic_image(GIF, "gif")],
            }
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Here it is."}]},
]
CASE: dict[str, Any] = {
    "task": [{"type": "text", "text": "Draw it as shown."}, openai_image(PNG, "png")],
    "plan": ["Draw the chart of sales", openai_image(JPEG, "jpeg")],
    "trace": TRACE,
}
BARE: dict[str, Any] = {
    "task": "Draw it as shown.",
    "plan": ["Draw the chart of sales"],
    "trace": TRACE[:2] + TRACE[3:],
}


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    answer = json.dumps({"score": 1.0, "reason": 'Step 1 is shown by "draw_chart" at e2.'})
    with ScriptedModel(lambda asked: answer) as running:
        yield running


def judge_with_images(
    server: ScriptedModel, case: dict[str, Any], name: str = "openai:x", **asking: Any
) -> tuple[Verdict, ModelRequest]:
    address = server.root if name.startswith("anthropic") else server.url
    model = open_model(name, base_url=address, settings=ModelSettings())
    judge = find_judge("prompt", model=model, options=ModelOptions(**asking))
    verdict = evaluate(**case, judge=judge)
    (asked,) = server.calls
    return verdict, asked


@pytest.mark.parametrize("template", [None, TEMPLATE], ids=["our words", "a template"])
@pytest.mark.parametrize("name", DIALECTS)
def test_task_plan_and_result_show_their_images_in_their_places(
    server: ScriptedModel, name: str, template: str | None
) -> None:
    verdict, asked = judge_with_images(server, CASE, name, template=template)
    assert verdict.score == 1.0, verdict.reason
    texts, images = asked.parts[::2], asked.parts[1::2]
    assert images == [("image", f"image/{kind}") for kind in ("png", "jpeg", "gif")]
    last_lines = [str(text).rstrip().splitlines()[-1] for text in texts]
    assert last_lines[0] == "«Draw it as shown.» [image 1]"
    assert last_lines[1] == "[image 2]"
    assert "draw_chart" in last_lines[2]
    assert "[image 3]" in last_lines[2]
    told = asked.instructions if template is None else str(texts[0])
    assert "# Images" in told


@pytest.mark.parametrize("template", [None, TEMPLATE], ids=["our words", "a template"])
def test_without_images_no_word_is_said_of_them(
    server: ScriptedModel, template: str | None
) -> None:
    verdict, asked = judge_with_images(server, BARE, template=template)
    assert verdict.score == 1.0, verdict.reason
    assert "image" not in (asked.instructions + asked.text).lower()
    assert len(asked.parts) == 1


def test_addresses_are_passed_on_only_where_that_is_allowed(server: ScriptedModel) -> None:
    address = "https://example.org/sketch.png"
    case = {
        **BARE,
        "task": [
            {"type": "text", "text": "Draw it as shown."},
            {"type": "image_url", "image_url": {"url": address}},
        ],
    }
    verdict, asked = judge_with_images(server, case)
    assert verdict.coverage is not None
    assert any("--allow-image-urls" in note for note in verdict.coverage.notes)
    assert "[image 1: not shown]" in asked.text
    assert address not in json.dumps(asked.body)
    server.calls.clear()
    _, asked = judge_with_images(server, case, image_urls=True)
    assert ("image", address) in asked.parts


def test_a_local_file_is_sent_from_the_working_folder(
    server: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sketch.png").write_bytes(PNG_BYTES)
    image = {"type": "image_url", "image_url": {"url": "sketch.png"}}
    case = {**BARE, "task": [{"type": "text", "text": "Draw it as shown."}, image]}
    _, asked = judge_with_images(server, case)
    assert ("image", "image/png") in asked.parts


def test_rules_say_that_they_looked_at_no_image() -> None:
    verdict = evaluate(**CASE)
    assert verdict.coverage is not None
    assert "images ignored: 3" in verdict.coverage.notes
