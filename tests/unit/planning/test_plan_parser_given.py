"""A plan whose content parts hold images keeps its steps, and the images."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.planning.plan_parser import parse_given_plan
from tests.images import PNG

OPENAI = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
ANTHROPIC = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PNG},
}


AROUND: list[list[Any]] = [
    ["Draw it", None, "Send it"],
    [{"type": "text", "text": "1. Draw it\n2. Send it"}, None],
    [None, {"step": "Draw it"}, {"step": "Send it"}],
]


@pytest.mark.parametrize("image", [OPENAI, ANTHROPIC])
@pytest.mark.parametrize("around", AROUND)
def test_images_are_taken_out_and_kept(image: dict[str, Any], around: list[Any]) -> None:
    plan = parse_given_plan([image if part is None else part for part in around])
    assert [step.text for step in plan.steps] == ["Draw it", "Send it"]
    assert [(each.media_type, each.data) for each in plan.images] == [("image/png", PNG)]


def test_the_text_of_a_step_with_an_image_stays() -> None:
    plan = parse_given_plan([{"step": "Draw it", "image_url": "chart.png"}, "Send it"])
    assert [step.text for step in plan.steps] == ["Draw it", "Send it"]
    assert [image.url for image in plan.images] == ["chart.png"]


def test_a_plan_without_images_is_read_as_ever() -> None:
    assert parse_given_plan(["Draw it", "Send it"]).images == ()
    assert len(parse_given_plan("1. Draw it\n2. Send it").steps) == 2
