"""Read and write contract files: YAML or JSON, with short forms for the common case.

Short forms: the fields of a requirement directly on a step; a scalar or a list where a condition is
expected (`any_of`), `$name` for a variable and `$each` for the current value; the name of a tool
where a requirement is expected; one value where a list is expected; `times: 2`.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, cast, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from planproof.contracts.text_values import fold_text
from planproof.core.content import Json
from planproof.core.contract import (
    CONTRACT_FORMAT,
    Condition,
    Contract,
    MessageCondition,
    Requirement,
    SqlCondition,
    StepContract,
    Times,
    ToolMarks,
    Variable,
    When,
)
from planproof.core.digests import compute_digest
from planproof.core.json_values import is_list, is_object
from planproof.core.plan import Step
from planproof.errors import InvalidInput, did_you_mean
from planproof.readers.decoding.yaml_files import YamlDocument, YamlPath, read_yaml_text

MAX_STEPS = 10_000
MAX_ITEMS = 1_000
"""Maximum number of alternatives, or of other items, in one list."""
MAX_NAME_CHARS = 200
_MAX_CHARS = 8_000_000
_MAX_NODES = 500_000
_MAX_TEXT_CHARS = 50_000
_MAX_SHOWN_CHARS = 60
_LINE_WIDTH = 100

SCALAR_FIELDS: Mapping[type[Struct], str] = {
    Condition: "any_of",
    MessageCondition: "says",
    Requirement: "call",
    SqlCondition: "verb",
    ToolMarks: "mark",
    Variable: "from",
    When: "for",
}
"""The field that a scalar stands for where one of these types is expected."""
_LIST_TYPES = (Condition, MessageCondition, Requirement)
"""The types for which a list may stand as well, because that field is one."""
EACH = "$each"
_JSON_ESCAPE = re.compile(r"\\(?:(u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|.)")
_VARIABLE = re.compile(r"\$([^\W\d]\w*)")
_ONE_OR_MANY = frozenset("call program argument calls not absent with also".split())
"""Fields that are written as one value if they have one."""
_PLAIN = re.compile(r"(?:\d+ |\$)?[^\W\d](?:[^:#]|:(?=\S)|(?<=\S)#)*")
_PLAIN_IN_FLOW = re.compile(r"(?:\d+ |\$)?[^\W\d][\w ./+@()$%=;~'<>|&-]*")
_RESERVED_WORDS = frozenset("true false yes no on off y n null".split())
_EXAMPLES = {
    "one value": "VALUE",
    "a mapping": "{NAME: VALUE}",
    "a number": "1.5",
    "a whole number": "1",
    "true or false": "true",
    "a step with `number` and `text`": '[{number: "1", text: TEXT}]',
}
"""What an error advises to write, by what was expected."""
_MAX_PLAIN_NUMBER = 1e15
_NO_CONTRACT = f"is not a contract: `planproof: {CONTRACT_FORMAT}` is missing."


class ContractFile(NamedTuple):
    """A contract, and the document that says on which line each part of it is."""

    contract: Contract
    document: YamlDocument


def read_contract(path: Path) -> Contract:
    """Read a contract file."""
    return read_contract_file(path).contract


def read_contract_file(path: Path) -> ContractFile:
    """Read a contract file, and keep the positions of its parts."""
    return parse_contract_file(read_yaml_text(path, 4 * _MAX_CHARS), str(path))


def parse_contract(text: str, name: str) -> Contract:
    """Parse a contract, YAML or JSON; errors name the line and column."""
    return parse_contract_file(text, name).contract


def parse_contract_file(text: str, name: str) -> ContractFile:
    """Parse a contract, and keep the positions of its parts."""
    if text.lstrip().startswith("{"):
        # YAML knows no surrogate pairs, by which JSON may write characters such as emoji.
        text = _JSON_ESCAPE.sub(_join_surrogates, text)
    document = YamlDocument(text, name, nulls=True, max_chars=_MAX_CHARS, max_nodes=_MAX_NODES)
    if not is_object(document.value) or document.value.get("planproof") is None:
        raise document.error(_NO_CONTRACT)
    contract: Contract = _Decoder(document).decode(Contract, document.value, ())
    numbers: set[str] = set()
    for index, step in enumerate(contract.steps):
        if step.number in numbers:
            raise document.error(
                f"two steps have the number `{_shorten(step.number)}`.", ("steps", index, "number")
            )
        numbers.add(step.number)
    return ContractFile(contract, document)


def _join_surrogates(escape: re.Match[str]) -> str:
    return json.loads(f'"{escape[0]}"') if escape[1] else escape[0]


def contract_digest(contract: Contract) -> str:
    """Return the digest of a contract; comments and the way it is written do not matter."""
    return compute_digest(json.dumps(_encode_fields(contract), sort_keys=True))


def steps_digest(steps: Iterable[Step | StepContract]) -> str:
    """Return the digest of numbers and texts of steps; case and white space do not matter."""
    folded = [[step.number, fold_step(step.text)] for step in steps]
    return compute_digest(json.dumps(folded, separators=(",", ":")))


def fold_step(text: str) -> str:
    """Return the text of a step in the form in which two plans are compared."""
    return " ".join(fold_text(text).split())


def format_contract(contract: Contract, *, comments: Mapping[str, Sequence[str]] = {}) -> str:
    """Return a contract as YAML in short forms; `comments` go above the steps with these numbers.

    Nothing is lost: `parse_contract` returns an equal contract.
    """
    tree = encode_contract(contract)
    steps = cast("list[dict[str, Json]]", tree.pop("steps", []))
    after = {name: tree.pop(name) for name in ("never", "before") if name in tree}
    lines = [*_format_mapping(tree, "")]
    if steps:
        lines.append("steps:")
    for step in steps:
        lines += [
            f"  # {_to_comment(comment)}" for comment in comments.get(str(step["number"]), ())
        ]
        lines += _format_item(step, "  ")
    lines += _format_mapping(after, "")
    return "".join(f"{line}\n" for line in lines)


def to_json(contract: Contract) -> str:
    """Return a contract as JSON, in the same short forms."""
    return json.dumps(encode_contract(contract), indent=2) + "\n"


def update_contract_text(text: str, contract: Contract) -> str:
    """Return the text of a contract file, changed to another contract.

    Comments and the way in which unchanged parts are written stay.
    """
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - only where a contract is edited

    old = encode_contract(parse_contract(text, "contract"))
    if text.lstrip().startswith("{"):
        return to_json(contract)
    try:
        updated = _edit_text(text, old, encode_contract(contract))
        is_equal = parse_contract(updated, "contract") == contract
    except (YAMLError, InvalidInput):
        is_equal, updated = False, ""
    # An unusual layout may not survive the edit; the content must.
    return updated if is_equal else format_contract(contract)


def _edit_text(text: str, old: dict[str, Json], new: dict[str, Json]) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415 - only where a contract is edited

    yaml: Any = YAML()
    yaml.preserve_quotes = True
    yaml.width = _MAX_CHARS
    yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(text)
    old_steps = {step["number"]: step for step in old.get("steps", ())}
    steps: list[Json] = document.get("steps", [])
    if {"steps"} <= old.keys() & new.keys() and is_list(steps):
        kept = {str(step["number"]): step for step in steps}
        numbers = {step["number"] for step in new["steps"]}
        for index in reversed(range(len(steps))):
            if str(steps[index]["number"]) not in numbers:
                del steps[index]
        for index, step in enumerate(new["steps"]):
            number = step["number"]
            node = kept.get(number)
            if node is None:
                steps.insert(index, yaml.load("\n".join(_format_mapping(step, ""))))
            else:
                _edit_mapping(yaml, node, old_steps[number], step)
                if steps[index] is not node:
                    steps[index:] = [node, *(other for other in steps[index:] if other is not node)]
        old, new = {**old, "steps": None}, {**new, "steps": None}
    _edit_mapping(yaml, document, old, new)
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def _edit_mapping(yaml: Any, node: Any, old: dict[str, Json], new: dict[str, Json]) -> None:
    """Change the fields of a node that differ; the other ones stay as they are written."""
    if old == new:
        return
    for name in [name for name in node if name not in new]:
        del node[name]
    for name, value in new.items():
        if name not in node or old.get(name) != value:
            node[name] = yaml.load("\n".join(_format_mapping({name: value}, "")))[name]


def encode_contract(contract: Contract) -> dict[str, Json]:
    """Return a contract as a JSON value in short forms."""
    encoded = {"planproof": contract.format, **_encode_fields(contract)}
    try:
        json.dumps(encoded, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "contains half of a surrogate pair, which no file can hold.",
            where=contract.name or "the contract",
        ) from error
    return encoded


def _encode_fields(part: Struct) -> dict[str, Json]:
    """Return the fields of a part that differ from their defaults."""
    encoded: dict[str, Json] = {}
    for name, field in _index_fields(type(part)).items():
        value = getattr(part, field.name)
        if not field.required and value == _get_default(field):
            continue
        encoded[name] = _encode(value)
        if name in _ONE_OR_MANY and len(value) == 1:
            encoded[name] = value[0]
    if isinstance(part, StepContract) and len(part.all_of) == 1:
        direct = _encode_fields(part.all_of[0])
        if direct:
            del encoded["all_of"]
            encoded |= direct
    if isinstance(part, MessageCondition) and part.says:
        encoded["says"] = [group[0] if len(group) == 1 else list(group) for group in part.says]
    return encoded


def _encode(value: Any) -> Json:
    """Return a part of a contract as JSON, in its short form if it has one."""
    if isinstance(value, tuple):
        return [_encode(item) for item in cast("tuple[Any, ...]", value)]
    if is_object(value):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, Times):
        if value.min == value.max:
            return value.min
        return {"min": value.min} | ({} if value.max is None else {"max": value.max})
    if isinstance(value, Struct):
        return _encode_struct(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_PLAIN_NUMBER:
        return int(value)
    return value


def _encode_struct(part: Struct) -> Json:
    encoded = _encode_fields(part)
    name = SCALAR_FIELDS.get(type(part))
    if isinstance(part, Condition) and encoded.keys() == {"each"}:
        return EACH
    if isinstance(part, Condition) and encoded.keys() == {"var"}:
        short = f"${part.var}"
        return short if _VARIABLE.fullmatch(short) and short != EACH else encoded
    if name is None or encoded.keys() != {name}:
        return encoded
    short = encoded[name]
    if is_list(short):
        if isinstance(part, Requirement):
            return encoded
        is_one = len(short) == 1 and isinstance(short[0], str)
        # In a list a text is never a variable.
        return short[0] if is_one and not _VARIABLE.fullmatch(short[0]) else short
    return short


def _format_mapping(mapping: Mapping[str, Json], indent: str) -> Iterator[str]:
    for key, value in mapping.items():
        head = f"{indent}{_format_scalar(key, is_flow=True)}:"
        flow = format_flow(value)
        if not (is_list(value) or is_object(value)):
            yield f"{head} {_format_scalar(value)}"
        elif not value or len(head) + len(flow) < _LINE_WIDTH:
            yield f"{head} {flow}"
        elif is_object(value):
            yield head
            yield from _format_mapping(value, f"{indent}  ")
        else:
            yield head
            for item in value:
                yield from _format_item(item, f"{indent}  ")


def _format_item(item: Json, indent: str) -> Iterator[str]:
    if is_object(item) and ("number" in item or len(format_flow(item)) > _LINE_WIDTH):
        first, *others = _format_mapping(item, f"{indent}  ")
        yield f"{indent}- {first.lstrip()}"
        yield from others
    else:
        yield f"{indent}- {format_flow(item)}"


def format_flow(value: Json) -> str:
    """Return a value as YAML on one line."""
    if is_object(value):
        items = (
            f"{_format_scalar(key, is_flow=True)}: {format_flow(item)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(items)}}}"
    if is_list(value):
        return f"[{', '.join(map(format_flow, value))}]"
    return _format_scalar(value, is_flow=True)


def _format_scalar(value: Json, *, is_flow: bool = False) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    plain = _PLAIN_IN_FLOW if is_flow else _PLAIN
    is_plain = plain.fullmatch(value) and value.isprintable() and not value.endswith(" ")
    if is_plain and value.lower() not in _RESERVED_WORDS:
        return value
    return _escape_invisible(json.dumps(value, ensure_ascii=False))


def _to_comment(text: str) -> str:
    return _escape_invisible(" ".join(text.split()))


def _escape_invisible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable()
        else f"\\u{ord(character):04x}"
        if ord(character) < 0x10000
        else f"\\U{ord(character):08x}"
        for character in text
    )


def _get_default(field: FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


class _Decoder:
    """Converts the values of a document to the types of a contract, and expands short forms."""

    def __init__(self, document: YamlDocument) -> None:
        self._document = document

    def decode(self, type_: Any, value: Json, path: YamlPath) -> Any:
        if get_origin(type_) in (Union, UnionType):
            type_ = next(option for option in get_args(type_) if option is not NoneType)
        origin = get_origin(type_)
        if origin is tuple:
            return self._decode_tuple(get_args(type_)[0], value, path)
        if origin is dict:
            return self._decode_mapping(get_args(type_)[1], value, path)
        if type_ is StepContract:
            return self._decode_step(value, path)
        if type_ is Times:
            return self._decode_times(value, path)
        if isinstance(type_, type) and issubclass(type_, Struct):
            return self._decode_struct(type_, self._expand(type_, value, path), path)
        return self._decode_scalar(type_, value, path)

    def _decode_tuple(self, item_type: Any, value: Json, path: YamlPath) -> tuple[Any, ...]:
        if not is_list(value):
            return (self._decode_item(item_type, value, path),)
        allowed = MAX_STEPS if item_type is StepContract else MAX_ITEMS
        if len(value) > allowed:
            raise self._document.error(
                f"has {len(value):,} items; at most {allowed:,} are allowed.", path
            )
        return tuple(
            self._decode_item(item_type, item, (*path, index)) for index, item in enumerate(value)
        )

    def _decode_item(self, type_: Any, value: Json, path: YamlPath) -> Any:
        if value is None or (isinstance(value, str) and not value.strip()):
            raise self._document.error("an item of a list is empty.", path)
        return self.decode(type_, value, path)

    def _decode_mapping(self, value_type: Any, value: Json, path: YamlPath) -> dict[str, Any]:
        if not is_object(value):
            raise self._mismatch("a mapping", value, path)
        if len(value) > MAX_ITEMS:
            raise self._document.error(
                f"has {len(value):,} keys; at most {MAX_ITEMS:,} are allowed.", path
            )
        for key, item in value.items():
            if not key.strip() or len(key) > MAX_NAME_CHARS or not key.isprintable():
                raise self._document.error(
                    f"a name must have 1 to {MAX_NAME_CHARS} printable characters.", (*path, key)
                )
            if item is None and value_type is Condition:
                raise self._document.error(
                    f"`{_shorten(key)}` has no condition.",
                    (*path, key),
                    advice="Write {any: true} if any value will do.",
                )
        return {
            key: self.decode(value_type, {} if item is None else item, (*path, key))
            for key, item in value.items()
        }

    def _decode_step(self, value: Json, path: YamlPath) -> StepContract:
        if not is_object(value):
            raise self._mismatch("a step with `number` and `text`", value, path)
        own = {key: item for key, item in value.items() if key not in _index_fields(Requirement)}
        direct = {key: item for key, item in value.items() if key not in own}
        step: StepContract = self._decode_struct(StepContract, own, path)
        for name in ("number", "text"):
            if not getattr(step, name).strip():
                raise self._document.error(f"`{name}` is empty.", (*path, name))
        if not direct:
            return step
        if "all_of" in own:
            key = next(iter(direct))
            raise self._document.error(
                f"a step has `all_of` or `{key}`, not both.",
                (*path, key),
                advice="Move it into `all_of`.",
            )
        return msgspec.structs.replace(
            step, all_of=(self._decode_struct(Requirement, direct, path),)
        )

    def _decode_times(self, value: Json, path: YamlPath) -> Times:
        if is_object(value):
            self._check_fields(Times, value, path)
            low, high = value.get("min"), value.get("max")
            # Without `max` there is no upper limit; `times: {max: 3}` means one to three.
            times = Times(
                min=1 if low is None else self.decode(int, low, (*path, "min")),
                max=None if high is None else self.decode(int, high, (*path, "max")),
            )
        else:
            count: int = self.decode(int, value, path)
            times = Times(min=count, max=count)
        if times.min < 0 or (times.max is not None and times.max < max(times.min, 1)):
            raise self._document.error(
                "`times` allows no call.", path, advice="Write {min: 1, max: 3}, or one number."
            )
        return times

    def _expand(self, type_: type[Struct], value: Json, path: YamlPath) -> dict[str, Json]:
        """Return the fields of a type, given as a mapping or by the value of one of them."""
        if is_object(value):
            return value
        if type_ is Condition and isinstance(value, str):
            if value == EACH:
                return {"each": "true"}
            if variable := _VARIABLE.fullmatch(value):
                return {"var": variable[1]}
        is_short = isinstance(value, str) or (is_list(value) and type_ in _LIST_TYPES)
        if not is_short or type_ not in SCALAR_FIELDS:
            raise self._mismatch("a mapping", value, path)
        return {SCALAR_FIELDS[type_]: value}

    def _decode_struct(self, type_: type[Any], value: dict[str, Json], path: YamlPath) -> Any:
        known = self._check_fields(type_, value, path)
        for name, field in known.items():
            if field.required and value.get(name) is None:
                raise self._document.error(f"`{name}` is missing.", path)
        decoded = {
            known[name].name: self.decode(known[name].type, item, (*path, name))
            for name, item in value.items()
            if item is not None
        }
        return type_(**decoded)

    def _check_fields(
        self, type_: type[Struct], value: dict[str, Json], path: YamlPath
    ) -> Mapping[str, FieldInfo]:
        known = _index_fields(type_)
        for name in value:
            if name not in known:
                possible = {*known, *(_index_fields(Requirement) if type_ is StepContract else ())}
                advice = did_you_mean(name[:_MAX_SHOWN_CHARS], possible)
                if type_ is Condition:
                    advice += " An argument inside another is written `outer.inner`."
                raise self._document.error(
                    f"unknown field `{_shorten(name)}`.", (*path, name), advice
                )
        return known

    def _decode_scalar(self, type_: Any, value: Json, path: YamlPath) -> Any:
        if not isinstance(value, str):
            raise self._mismatch("one value", value, path)
        if len(value) > _MAX_TEXT_CHARS:
            raise self._document.error(
                f"has {len(value):,} characters; at most {_MAX_TEXT_CHARS:,} are allowed.", path
            )
        try:
            scalar = msgspec.convert(value, type_, strict=False)
        except msgspec.ValidationError as error:
            raise self._mismatch(_describe_type(type_), value, path) from error
        if isinstance(scalar, float) and not isfinite(scalar):
            raise self._mismatch("a number", value, path)
        return scalar

    def _mismatch(self, expected: str, value: Json, path: YamlPath) -> InvalidInput:
        given = "a list" if is_list(value) else "a mapping"
        if value is None:
            given = "nothing"
        elif isinstance(value, str):
            given = f"`{_shorten(value)}`"
        what = f"expected {expected}, got {given}."
        names = [part for part in path if isinstance(part, str)]
        if not names:
            return self._document.error(what, path)
        name = _shorten(names[-1])
        if not isinstance(path[-1], str):
            advice = f"Every item of `{name}` must be {expected}."
        elif expected in _EXAMPLES:
            advice = f"Write `{name}: {_EXAMPLES[expected]}`."
        else:
            advice = None
        return self._document.error(f"`{name}`: {what}", path, advice)


@cache
def _index_fields(type_: type[Struct]) -> dict[str, FieldInfo]:
    return {field.encode_name: field for field in fields(type_)}


def _describe_type(type_: Any) -> str:
    if choices := get_args(type_) or tuple(getattr(type_, "__members__", {}).values()):
        return f"one of {', '.join(map(str, choices))}"
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(type_, "text")


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
