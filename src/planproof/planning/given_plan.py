"""Parse a plan as given by the caller, including its images."""

from __future__ import annotations

from dataclasses import replace

from planproof.core.content import Image, Json
from planproof.core.json_values import is_list, is_object
from planproof.core.plan import Origin, Plan
from planproof.planning.plan_parser import parse_plan
from planproof.readers.toolkit.content_parts import parse_image

_IMAGE_KEYS = frozenset(("type", "image_url", "image", "source", "detail"))


def parse_given_plan(raw: Json | Plan) -> Plan:
    """Parse a plan given as text, list, JSON, or content parts with images."""
    if is_object(raw):
        # The format of `planproof plan --model --format json`.
        inner = raw.get("plan", raw)
        if is_object(inner) and inner.get("origin") == Origin.INFERRED:
            return replace(parse_plan(raw), origin=Origin.INFERRED)
    if is_list(raw):
        rest, images = _split_images(raw)
        if images:
            return replace(parse_plan(rest), images=images)
    return parse_plan(raw)


def _split_images(items: list[Json]) -> tuple[Json, tuple[Image, ...]]:
    """Return the list without its images, and the images; a lone text is returned itself."""
    rest: list[Json] = []
    images: list[Image] = []
    for item in items:
        image = parse_image(item) if is_object(item) else None
        if image is None:
            rest.append(_unwrap_text_part(item))
            continue
        images.append(image)
        step = {key: value for key, value in item.items() if key not in _IMAGE_KEYS}
        if step:
            rest.append(step)
    alone = len(rest) == 1 and isinstance(rest[0], str)
    return (rest[0] if alone else rest), tuple(images)


def _unwrap_text_part(item: Json) -> Json:
    """Return the text of a text part; anything else unchanged."""
    is_part = is_object(item) and item.get("type") == "text" and isinstance(item.get("text"), str)
    return item["text"] if is_part else item
