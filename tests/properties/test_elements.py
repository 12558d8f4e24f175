"""The elements of an array are those that parsing the whole of it gives, however it is read."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planproof.core.limits import Limits
from planproof.readers.decoding.trace_files import split_array

_TEXT = st.text('a\\"[]{},: é\n\U0001f600', max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(
    array=st.lists(_VALUES, max_size=6),
    indent=st.none() | st.integers(0, 2),
    ascii_only=st.booleans(),
    at_once=st.integers(1, 9),
)
def test_elements_are_those_of_the_parsed_array(
    array: list[Any], indent: int | None, ascii_only: bool, at_once: int
) -> None:
    text = json.dumps(array, indent=indent, ensure_ascii=ascii_only)
    file = io.BytesIO(text.encode())
    found = split_array(lambda _: file.read(at_once), "f", Limits())
    assert [json.loads(element) for element in found] == array
