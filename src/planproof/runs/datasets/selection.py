"""Select cases of a data set: by field conditions, random sample, limit and shard."""

from __future__ import annotations

import json
import operator
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from planproof.core.content import Json
from planproof.core.json_values import is_list
from planproof.core.pointer import escape
from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.datasets.field_mapping import resolve_value

_T = TypeVar("_T")
_SHARD = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Selection of cases, applied in this order: `where`, `sample`, `limit`, `shard`.

    Together the shards contain exactly the cases of the selection without a shard, each once.
    """

    where: tuple[FieldCondition, ...] = ()
    sample: int | None = None
    seed: int = 0
    limit: int | None = None
    shard: tuple[int, int] | None = None

    def select(
        self, read: Callable[[], Iterator[CaseLine]], *, can_repeat: bool
    ) -> Iterator[tuple[int, CaseLine]]:
        """Yield the selected cases, each with its position in the data set.

        A sample is drawn in a first pass, so that it need not be kept in memory; input that can be
        read only once is kept.
        """
        selected = self._filter_lines(read())
        if self.sample is not None:
            if can_repeat:
                sampled = set(
                    _draw_sample((position for position, _ in selected), self.sample, self.seed)
                )
                selected = (
                    (position, line) for position, line in enumerate(read()) if position in sampled
                )
            else:
                selected = iter(_draw_sample(selected, self.sample, self.seed))
        selected = islice(selected, self.limit)
        if self.shard is not None:
            number, count = self.shard
            selected = islice(selected, number - 1, None, count)
        return selected

    def _filter_lines(self, lines: Iterator[CaseLine]) -> Iterator[tuple[int, CaseLine]]:
        for position, line in enumerate(lines):
            # A line that is not valid JSON can't be tested: keep it, so that it is reported.
            unknown = line.record is None and line.error is not None
            if unknown or all(condition.matches(line.record) for condition in self.where):
                yield position, line


def parse_shard(text: str) -> tuple[int, int]:
    """Parse the shard `I/N`: the I-th of N, counted from 1."""
    match = _SHARD.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise InvalidInput(
            f"`{text}` is not a valid shard.", where="--shard", advice="Write I/N, from 1/N to N/N."
        )
    return int(match[1]), int(match[2])


def _draw_sample(items: Iterable[_T], count: int, seed: int) -> list[_T]:
    """Draw a uniform random sample of `count` items, in their original order."""
    rng = random.Random(seed)  # noqa: S311 - for reproducibility, not secrecy
    sample: list[tuple[int, _T]] = []
    for seen, item in enumerate(items):
        if seen < count:
            sample.append((seen, item))
        elif (slot := rng.randrange(seen + 1)) < count:
            sample[slot] = (seen, item)
    return [item for _, item in sorted(sample, key=lambda pair: pair[0])]


# In a JSON pointer ~0 and ~1 are escapes.
_FIELD = r"/(?:[^=!<>~]|~[01])*|[^=!<>~]+"
_CONDITION = re.compile(rf"({_FIELD})(?:(!=|<=|>=|==|=|<|>|~)(.*))?", re.DOTALL)
_ORDERING_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SYNTAX_ADVICE = (
    "Write FIELD=VALUE with one of = != < <= > >= ~ (contains), or only FIELD to require that it "
    "exists. A field is a name or a JSON pointer such as /meta/team."
)


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """One condition; `sign` is None if the field only has to exist."""

    pointer: str
    sign: str | None
    value: Json

    def matches(self, record: Json) -> bool:
        """Return True if a record meets the condition. A missing field is null."""
        try:
            actual = resolve_value(record, self.pointer)
        except InvalidInput:
            actual = None
        if self.sign is None:
            return actual is not None
        if self.sign == "=":
            return _is_equal(actual, self.value)
        if self.sign == "!=":
            return not _is_equal(actual, self.value)
        if self.sign == "~":
            return _contains(actual, self.value)
        return _is_orderable(actual, self.value) and _ORDERING_OPERATORS[self.sign](
            actual, self.value
        )


def parse_condition(text: str) -> FieldCondition:
    """Parse a condition."""
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        raise InvalidInput(
            f"`{text}` is not a valid condition.", where="--where", advice=_SYNTAX_ADVICE
        )
    field, sign, value = match[1].strip(), match[2], match[3]
    pointer = field if field.startswith("/") else f"/{escape(field)}"
    if sign is None:
        return FieldCondition(pointer, None, None)
    return FieldCondition(pointer, "=" if sign == "==" else sign, _parse_value(value.strip()))


def _parse_value(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, (dict, list)) else value


def _is_equal(actual: Json, value: Json) -> bool:
    # `true` is not 1, and an id of digits equals the number that was typed.
    if isinstance(actual, bool) or isinstance(value, bool):
        return actual is value
    if isinstance(actual, str) and isinstance(value, (int, float)):
        return actual == json.dumps(value)
    return actual == value


def _contains(actual: Json, value: Json) -> bool:
    if is_list(actual):
        return any(_is_equal(item, value) for item in actual)
    text = value if isinstance(value, str) else json.dumps(value)
    return isinstance(actual, str) and text in actual


def _is_orderable(actual: Json, value: Json) -> bool:
    numbers = isinstance(actual, (int, float)) and isinstance(value, (int, float))
    return numbers or (isinstance(actual, str) and isinstance(value, str))
