"""Lines are matched in linear work, and the index of rules finds the first that fits."""

from __future__ import annotations

from typing import Any, Self, SupportsIndex

from hypothesis import assume, given
from hypothesis import strategies as st

from planproof.errors import InvalidInput
from planproof.readers.profile import Rule
from planproof.readers.profile_events import RuleIndex
from planproof.readers.toolkit.line_patterns import LinePattern
from planproof.readers.toolkit.profile_paths import CompiledCondition, Condition, Node, Test

LETTERS = "ab: "


class _CountedLine(str):
    """A line that counts the characters that are looked at."""

    looked_at: int

    def __new__(cls, text: str) -> Self:
        line = super().__new__(cls, text)
        line.looked_at = 0
        return line

    def startswith(self, prefix: Any, *args: Any) -> bool:
        self.looked_at += len(prefix)
        return super().startswith(prefix, *args)

    def endswith(self, suffix: Any, *args: Any) -> bool:
        self.looked_at += len(suffix)
        return super().endswith(suffix, *args)

    def find(self, sub: str, start: SupportsIndex | None = 0, *args: Any) -> int:
        found = super().find(sub, start, *args)
        begin = int(start or 0)
        self.looked_at += (len(self) if found < 0 else found + len(sub)) - begin
        return found

    def __getitem__(self, key: Any) -> str:
        part = super().__getitem__(key)
        self.looked_at += len(part)
        return part


literals = st.text(LETTERS, max_size=5)
fields = st.sampled_from(["{x}", "{x:word}", "{x:name}", "{x:number}"])
patterns = st.lists(st.tuples(literals, fields), max_size=12).flatmap(
    lambda parts: literals.map(lambda end: "".join(a + b for a, b in parts) + end)
)


@given(patterns, st.text(LETTERS, max_size=300))
def test_a_line_is_searched_from_left_to_right_once(pattern: str, text: str) -> None:
    try:
        compiled = LinePattern(pattern)
    except InvalidInput:
        assume(False)
        return
    line = _CountedLine(text)
    compiled.match(line)
    # Each character is searched once, and taken into a field once.
    assert line.looked_at <= 2 * len(line) + len(pattern)


@given(st.lists(st.tuples(st.text(":- ", min_size=1, max_size=3), st.text("ab", min_size=1))))
def test_the_fields_of_a_line_are_what_stands_between_the_literals(
    parts: list[tuple[str, str]],
) -> None:
    assume(parts)
    names = [f"{{{chr(97 + index % 26) * (1 + index // 26)}:name}}" for index in range(len(parts))]
    pattern = "".join(literal + name for (literal, _), name in zip(parts, names, strict=True))
    line = "".join(literal + value for literal, value in parts)
    found = LinePattern(pattern).match(line)
    assert found is not None
    assert list(found.values()) == [value for _, value in parts]


texts = st.sampled_from(["", "call", "result", "3"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(2, 3) | texts,
    lambda inner: st.dictionaries(st.sampled_from(["type", "sub"]), inner),
    max_leaves=4,
)
records = st.dictionaries(st.sampled_from(["type", "role", "sub"]), values)
tests = texts | st.tuples(texts, texts) | st.builds(Test, exists=st.booleans())
paths = st.sampled_from(["type", "role", "sub", "type.sub", "type | role", "^type", "*"])
conditions: st.SearchStrategy[Condition] = st.dictionaries(paths, tests, max_size=3)


@given(st.lists(conditions, max_size=5), records | values)
def test_the_index_finds_the_first_rule_that_fits(listed: list[Condition], value: Any) -> None:
    node = Node(value, "")
    fits = [CompiledCondition(condition).holds(node, node) for condition in listed]
    index = RuleIndex([Rule(when=condition, ignore="it fits") for condition in listed])
    found = index.find(node, node, set())
    assert (index.rules.index(found) if found else None) == (
        fits.index(True) if True in fits else None
    )
