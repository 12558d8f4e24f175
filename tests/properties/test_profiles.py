"""Matching a line takes work that is linear in it, whatever the pattern; counted, not timed."""

from __future__ import annotations

from typing import Any, Self, SupportsIndex

from hypothesis import assume, given
from hypothesis import strategies as st

from planproof.errors import InvalidInput
from planproof.readers.toolkit.line_patterns import LinePattern

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
