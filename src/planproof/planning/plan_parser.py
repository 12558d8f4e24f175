"""Parse a plan of any common shape: text, list, or JSON as tools write it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from planproof.core.content import Image, Json
from planproof.core.json_values import is_list, is_object
from planproof.core.phrases import find_step_ranges
from planproof.core.plan import Origin, Plan, Step
from planproof.planning.json_plans import parse_plan_value
from planproof.planning.step_builder import leaves_order_open, make_step
from planproof.planning.text_plans import PlanDraft
from planproof.readers.toolkit.content_parts import parse_image

_MAX_CACHED_CHARS = 20_000


def parse_plan(raw: Json | str | Plan) -> Plan:
    """Parse a plan given as text, list or JSON; the result has no steps if none are found."""
    if isinstance(raw, Plan):
        return raw
    texts = _collect_texts(raw)
    if texts is not None and sum(map(len, texts)) <= _MAX_CACHED_CHARS:
        return _parse_cached(raw if isinstance(raw, str) else texts)
    return _parse_uncached(raw)


def _parse_uncached(raw: Json) -> Plan:
    return Plan(tuple(_build_steps(parse_plan_value(raw))))


# Many traces are often checked against the same plan.
_parse_cached = lru_cache(maxsize=256)(_parse_uncached)


def _collect_texts(raw: Json) -> tuple[str, ...] | None:
    """Return the texts of a plan that consists only of text; None otherwise."""
    if isinstance(raw, str):
        return (raw,)
    if not isinstance(raw, list):
        return None
    items = cast("list[Json]", raw)
    return tuple(items) if all(isinstance(item, str) for item in items) else None


def _build_steps(draft: PlanDraft) -> Iterator[Step]:
    entries = draft.entries
    numbers = number_steps([e.label for e in entries], [e.parent for e in entries])
    free = _find_free_order_steps(draft, numbers)
    for index, (number, entry) in enumerate(zip(numbers, entries, strict=True)):
        yield make_step(
            number,
            _replace_surrogates(entry.text),
            parent=numbers[entry.parent] if entry.parent is not None else None,
            condition=entry.condition and _replace_surrogates(entry.condition),
            optional=entry.optional,
            free_order=entry.free_order or index in free,
        )


def _find_free_order_steps(draft: PlanDraft, numbers: list[str]) -> set[int]:
    """Return the indices of items with a free order, by a remark or by their parent."""
    index_by_number = {number: index for index, number in enumerate(numbers)}
    all_indices = range(len(numbers))
    free: set[int] = set()
    if leaves_order_open(draft.remarks):
        free.update(_find_mentioned_steps(draft.remarks, index_by_number) or all_indices)
    open_parents: set[int] = set()
    for index, entry in enumerate(draft.entries):
        if leaves_order_open(entry.text[:4_000]):
            open_parents.add(index)
            free.update(_find_mentioned_steps(entry.text[:4_000], index_by_number))
        if entry.parent in open_parents:
            free.add(index)
    return free


def _find_mentioned_steps(text: str, index_by_number: dict[str, int]) -> set[int]:
    """Return the indices of the steps that a text names: "steps 2 to 4", "steps 1 and 3"."""
    indices: set[int] = set()
    for first, last in find_step_ranges(text):
        start = index_by_number.get(first)
        end = index_by_number.get(last, start)
        if start is not None and end is not None:
            indices.update(range(start, end + 1))
    return indices


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be printed or encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def number_steps(labels: Sequence[str | None], parents: Sequence[int | None]) -> list[str]:
    """Return a number for each item, from its printed label and the index of its parent."""
    printed = _assign_numbers(labels, parents)
    if len(set(printed)) == len(printed):
        return printed
    return _assign_numbers([None] * len(labels), parents)


def _assign_numbers(labels: Sequence[str | None], parents: Sequence[int | None]) -> list[str]:
    siblings: defaultdict[int | None, list[int]] = defaultdict(list)
    for index, parent in enumerate(parents):
        siblings[parent].append(index)
    has_unique_labels = {
        parent: _all_differ([labels[index] for index in indexes])
        for parent, indexes in siblings.items()
    }
    counts: defaultdict[int | None, int] = defaultdict(int)
    numbers: list[str] = []
    for index, parent in enumerate(parents):
        counts[parent] += 1
        label = labels[index] if has_unique_labels[parent] else None
        above = numbers[parent] if parent is not None else None
        numbers.append(_join_number(above, label or str(counts[parent])))
    return numbers


def _all_differ(labels: Sequence[str | None]) -> bool:
    return None not in labels and len(set(labels)) == len(labels)


def _join_number(above: str | None, label: str) -> str:
    if above is None or label.startswith(f"{above}."):
        return label
    return f"{above}{label}" if label.isalpha() else f"{above}.{label}"


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
