"""Small traces of every format, grown to any size: the examples and goldens, many times over.

Ids are numbered anew each time, so that results still belong to one call and spans to one parent.
What is said in an example is short; it is lengthened, to the few hundred to some thousand events in
a megabyte that real traces have.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from planproof.core.json_values import is_list, is_object

ROOT = Path(__file__).parents[1]
_TRACE_FOLDERS = ("examples", "tests/goldens")
# Another form of what a reader reads, measured by itself; the reader's name begins its own.
_EXTRA_FORMATS = frozenset(("autogen-groupchat",))
_ID_KEY = re.compile(r"(?:^|_|[a-z])(?:[iI][dD]|ID)$|[uU]uid$|^(?:cause|parent)$")
# What holds a trace together is the same in all of it.
_SHARED_ID_KEY = re.compile(
    r"trace|session|thread|sample|run|instance|model|user|app|group", re.IGNORECASE
)
_ID_MARKER = "@again@"
_MIN_PROSE_LENGTH = 20
_FILLER_TEXT = " The rest of it is as long as such things are when nobody makes them short." * 16
_NUMBER_MARKER = re.compile(r'"@number (\d+)@"')
_KEY_MARKER = re.compile(r'"@key (\d+)@"')


def find_small_traces() -> dict[str, Path]:
    """One JSON or JSON Lines trace a reader, the largest that there is, and one a further form."""
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
    """The trace repeated until it has at least so many bytes; `file` is JSON or JSON Lines."""
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
    """The arrays that belong together entry by entry, if a document has such."""
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
    """The text of a document, with what is to be repeated apart from what stands around it."""
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
        return value + _FILLER_TEXT if isinstance(value, str) and _is_prose(value) else value
    if isinstance(value, str) and value:
        return value + _ID_MARKER
    return f"@number {value}@" if isinstance(value, int) and value >= 0 else value


def _is_prose(text: str) -> bool:
    return (
        len(text) >= _MIN_PROSE_LENGTH
        and text.count(" ") > 2
        and not text.lstrip().startswith(("{", "["))
    )
