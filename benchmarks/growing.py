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
_FOLDERS = ("examples", "tests/goldens")
# Another form of what a reader reads, measured by itself; the reader's name begins its own.
_FORMS = frozenset(("autogen-groupchat",))
_ID = re.compile(r"(?:^|_|[a-z])(?:[iI][dD]|ID)$|[uU]uid$|^(?:cause|parent)$")
# What holds a trace together is the same in all of it.
_KEPT = re.compile(r"trace|session|thread|sample|run|instance|model|user|app|group", re.IGNORECASE)
_TEXT_MARK = "@again@"
_SPOKEN = 20
_MORE = " The rest of it is as long as such things are when nobody makes them short." * 16
_NUMBER = re.compile(r'"@number (\d+)@"')
_KEY = re.compile(r'"@key (\d+)@"')


def small_traces() -> dict[str, Path]:
    """One JSON or JSON Lines trace a reader, the largest that there is, and one a further form."""
    found: dict[str, Path] = {}
    for folder in _FOLDERS:
        for counted in sorted(ROOT.glob(f"{folder}/*/expected.json")):
            expected = json.loads(counted.read_bytes())
            form = counted.parent.name
            name = form if form in _FORMS else expected["reader"]
            for file in counted.parent.glob("trace.json*"):
                best = found.get(name)
                if "pick" not in expected and (not best or _size(best) < _size(file)):
                    found[name] = file
    return dict(sorted(found.items()))


def grown(file: Path, size: int) -> bytes:
    """The trace repeated until it has at least so many bytes; `file` is JSON or JSON Lines."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
        block = "\n".join(json.dumps(_marked(value)) for value in values) + "\n"
        return "".join(_again(block, n) for n in range(_times(block, size))).encode()
    document = json.loads(text)
    if arrays := _side_by_side(document):
        for array in arrays:
            array[:] = [_marked(entry) for entry in array]
        times = _times(json.dumps(arrays), size)
        for array in arrays:
            array[:] = array * times
        return json.dumps(document).encode()
    before, block, after = _around(document)
    blocks = (_again(block, n) for n in range(_times(block, size)))
    return f"{before}{','.join(blocks)}{after}".encode()


def _size(file: Path) -> int:
    return file.stat().st_size


def _times(block: str, size: int) -> int:
    return size // len(_again(block, 0)) + 1


def _again(block: str, number: int) -> str:
    block = block.replace(_TEXT_MARK, f"-{number}")
    block = _KEY.sub(lambda found: f'"{int(found[1]) + number * 10**6}"', block)
    return _NUMBER.sub(lambda found: str(int(found[1]) + number * 10**6), block)


def _side_by_side(document: Any) -> list[list[Any]]:
    """The arrays that belong together entry by entry, if a document has such."""
    if not is_object(document):
        return []
    arrays = [held for held in document.values() if is_list(held) and len(held) > 1]
    if len(arrays) > 1 and len({len(held) for held in arrays}) == 1:
        return arrays
    for held in document.values():
        if nested := _side_by_side(held):
            return nested
    return []


def _around(document: Any) -> tuple[str, str, str]:
    """The text of a document, with what is to be repeated apart from what stands around it."""
    if is_list(document):
        return "[", json.dumps([_marked(entry) for entry in document])[1:-1], "]"
    if all(key.isdigit() for key in document):
        entries = {f"@key {key}@": _marked(entry) for key, entry in document.items()}
        return "{", json.dumps(entries)[1:-1], "}"
    held = {key for key, value in document.items() if is_list(value) or is_object(value)}
    key = max(held, key=lambda key: len(json.dumps(document[key])))
    rest = {name: value for name, value in document.items() if name != key}
    before, block, after = _around(document[key])
    opening = f"{json.dumps(rest)[:-1]}{', ' if rest else ''}{json.dumps(key)}: "
    return opening + before, block, after + "}"


def _marked(value: Any, key: str = "") -> Any:
    if is_object(value):
        return {name: _marked(held, name) for name, held in value.items()}
    if is_list(value):
        return [_marked(held, key) for held in value]
    if _ID.search(key) is None or _KEPT.search(key) is not None or isinstance(value, bool):
        return value + _MORE if isinstance(value, str) and _is_prose(value) else value
    if isinstance(value, str) and value:
        return value + _TEXT_MARK
    return f"@number {value}@" if isinstance(value, int) and value >= 0 else value


def _is_prose(text: str) -> bool:
    return len(text) >= _SPOKEN and text.count(" ") > 2 and not text.lstrip().startswith(("{", "["))
