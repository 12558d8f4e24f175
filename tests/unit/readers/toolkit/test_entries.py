from __future__ import annotations

import pytest

from planproof.core.content import Json
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import iter_entries


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([1, {"a": 2}], [("/0", 1), ("/1", {"a": 2})]),
        ({"events": [{"a": 1}]}, [("/events/0", {"a": 1})]),
        ({"log": [{"a": 1}]}, []),
        ({"events": "none"}, []),
        ('{"a": 1}\n\n{"a": 2}\n', [("L1", {"a": 1}), ("L3", {"a": 2})]),
        ("plain text\nof two lines", []),
    ],
)
def test_each_entry_comes_with_its_pointer(value: Json, found: Json) -> None:
    assert list(iter_entries(Source.from_value(value), ("history", "events"))) == found
