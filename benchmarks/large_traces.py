"""Grow the examples and goldens of every format to large traces, by repeating their records.

Ids are renumbered in each repetition, so that results still belong to one call and spans to one
parent. Messages in the examples are short; they are lengthened until a megabyte has a few hundred
to a few thousand events, as in real traces.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from planproof.core.json_values import is_list, is_object

ROOT = Path(__file__).parents[1]
_TRACE_FOLDERS = ("examples", "tests/goldens")
# Other formats of a reader, measured separately; their names begin with the name of the reader.
_EXTRA_FORMATS = frozenset(("autogen-groupchat",))
_ID_KEY = re.compile(r"(?:^|_|[a-z])(?:[iI][dD]|ID)$|[uU]uid$|^(?:cause|parent)$")
# These ids are shared by all records of a trace, and are not renumbered.
_SHARED_ID_KEY = re.compile(
    r"trace|session|thread|sample|run|instance|model|user|app|group", re.IGNORECASE
)
_ID_MARKER = "@again@"
_MIN_PROSE_LENGTH = 20
_FILLER_TEXT = " The rest of it is as long as such things are when nobody makes them short." * 16
_NUMBER_MARKER = re.compile(r'"@number (\d+)@"')
_KEY_MARKER = re.compile(r'"@key (\d+)@"')


def find_small_traces() -> dict[str, Path]:
    """Return the largest JSON or JSON Lines trace of each reader, and one for each other format."""
    trace_by_reader: dict[str, Path] = {}
    for folder in _TRACE_FOLDERS:
        for counted in sorted(ROOT.glob(f"{folder}/*/expected.json")):
            expected = json.loads(counted.read_bytes())
            form = counted.parent.name
            name = form if form in _EXTRA_FORMATS else expected["reader"]
            for file in counted.parent.glob("trace.json*"):
                best = trace_by_reader.get(name)
                if "pick" not in expected and (not best or _file_size(best) < _file_size(file)):
                    trace_by_reader[name] = file
    return dict(sorted(trace_by_reader.items()))


def grow_trace(file: Path, size: int) -> bytes:
    """Repeat a JSON or JSON Lines trace until it has at least `size` bytes."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
        block = "\n".join(json.dumps(_insert_markers(value)) for value in values) + "\n"
        return "".join(_renumber(block, n) for n in range(_count_repeats(block, size))).encode()
    document = json.loads(text)
    if arrays := _find_parallel_arrays(document):
        for array in arrays:
            array[:] = [_insert_markers(entry) for entry in array]
        times = _count_repeats(json.dumps(arrays), size)
        for array in arrays:
            array[:] = array * times
        return json.dumps(document).encode()
    before, block, after = _split_at_repeated_block(document)
    blocks = (_renumber(block, n) for n in range(_count_repeats(block, size)))
    return f"{before}{','.join(blocks)}{after}".encode()


def _file_size(file: Path) -> int:
    return file.stat().st_size


def _count_repeats(block: str, size: int) -> int:
    return size // len(_renumber(block, 0)) + 1


def _renumber(block: str, number: int) -> str:
    block = block.replace(_ID_MARKER, f"-{number}")
    block = _KEY_MARKER.sub(lambda match: f'"{int(match[1]) + number * 10**6}"', block)
    return _NUMBER_MARKER.sub(lambda match: str(int(match[1]) + number * 10**6), block)


def _find_parallel_arrays(document: Any) -> list[list[Any]]:
    """Return the parallel arrays of a document, if it has any."""
    if not is_object(document):
        return []
    arrays = [value for value in document.values() if is_list(value) and len(value) > 1]
    if len(arrays) > 1 and len({len(value) for value in arrays}) == 1:
        return arrays
    for value in document.values():
        if nested := _find_parallel_arrays(value):
            return nested
    return []


def _split_at_repeated_block(document: Any) -> tuple[str, str, str]:
    """Split the text of a document into prefix, repeated block and suffix."""
    if is_list(document):
        return "[", json.dumps([_insert_markers(entry) for entry in document])[1:-1], "]"
    if all(key.isdigit() for key in document):
        entries = {f"@key {key}@": _insert_markers(entry) for key, entry in document.items()}
        return "{", json.dumps(entries)[1:-1], "}"
    container_keys = {key for key, value in document.items() if is_list(value) or is_object(value)}
    key = max(container_keys, key=lambda key: len(json.dumps(document[key])))
    rest = {name: value for name, value in document.items() if name != key}
    before, block, after = _split_at_repeated_block(document[key])
    prefix = f"{json.dumps(rest)[:-1]}{', ' if rest else ''}{json.dumps(key)}: "
    return prefix + before, block, after + "}"


def _insert_markers(value: Any, key: str = "") -> Any:
    if is_object(value):
        return {name: _insert_markers(item, name) for name, item in value.items()}
    if is_list(value):
        return [_insert_markers(item, key) for item in value]
    if (
        _ID_KEY.search(key) is None
        or _SHARED_ID_KEY.search(key) is not None
        or isinstance(value, bool)
    ):
        return _lengthen(value) if isinstance(value, str) and _is_prose(value) else value
    if isinstance(value, str) and value:
        return value + _ID_MARKER
    return f"@number {value}@" if isinstance(value, int) and value >= 0 else value


def _lengthen(text: str) -> str:
    # On a line of its own, so that a fence that ends the text is still one.
    return f"{text}\n{_FILLER_TEXT}" if "\n" in text else text + _FILLER_TEXT


def _is_prose(text: str) -> bool:
    return (
        len(text) >= _MIN_PROSE_LENGTH
        and text.count(" ") > 2
        and not text.lstrip().startswith(("{", "["))
    )
