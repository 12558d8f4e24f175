"""Profiles: formats as data. A YAML file says where the events of a format are.

A profile names the records of a source and gives rules for them: which records are messages, calls,
results or reasoning, and under which names their parts are. docs/profiles.md describes the file,
`profile_reader.py` reads by it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct, field

from planproof.readers.toolkit.profile_paths import Condition

Field: TypeAlias = str | list[str]
"""A path, or several of which the first with a value counts; `=text` is a constant.

`path ~ pattern` takes the first field of the first line of the value that matches the pattern.
"""
_TIME_PATHS = ("timestamp", "time", "created_at", "createdAt", "ts")


class _Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all parts of a profile: data without unknown fields."""


class TextPart(_Part, frozen=True):
    """A text that becomes an event. `actions`: calls written in it are recognised.

    `once`: a text that the same actor has already said is skipped, for formats that repeat it.
    """

    text: Field
    actor: Field | None = None
    actions: bool = False
    once: bool = False


class CallPart(_Part, frozen=True):
    """A call and, where the record has it, its result.

    `arguments` is a path, or an object that is built from paths; a list of names with values counts
    as an object, and the keys in `omit` are left out. `parse` is a text that holds name and
    arguments, such as `search[Paris]`.
    """

    name: Field | None = None
    arguments: Field | dict[str, Field] | None = None
    omit: list[str] = []
    text: Field | None = None
    parse: Field | None = None
    id: Field | None = None
    actor: Field | None = None
    output: Field | None = None
    error: Field | None = None
    status: Field | None = None
    exit_code: Field | None = None


class ResultPart(_Part, frozen=True):
    """The result of a call, found by its id, its tool's name, or its place.

    If no call waits for it, it is an action with the name `call`, if that is given.
    """

    output: Field
    call: Field | None = None
    id: Field | None = None
    name: Field | None = None
    error: Field | None = None
    status: Field | None = None
    exit_code: Field | None = None


class Rule(_Part, frozen=True, kw_only=True):
    """What a record, or a part of it at `at`, becomes, if `when` holds.

    Its events are written in the order of the fields below. `read` applies several rules to the
    same value; `rules` applies the first that fits.
    """

    when: Condition = {}
    at: str | None = None
    ignore: str | None = None
    system: Field | TextPart | None = None
    user: Field | TextPart | None = None
    reasoning: Field | TextPart | None = None
    message: Field | TextPart | None = None
    plan: Field | TextPart | None = None
    call: CallPart | None = None
    result: ResultPart | None = None
    read: list[Rule] = []
    rules: list[Rule] = []


class Block(Rule, frozen=True, kw_only=True):
    """Lines of a text: those that match `line` begin one, and it lasts until the next.

    The fields of the pattern are the record that the rule reads. The lines after the first continue
    the last field, if that takes the rest of the line, and are the field `body` otherwise. With
    `single`, the block has one line, and what follows belongs to the block before it.
    """

    line: str | list[str]
    until: str | list[str] = []
    single: bool = False


class Detect(_Part, frozen=True):
    """How the format is recognised; all that is given must hold.

    `document` is a condition on the whole document, `some` and `every` on its first records,
    `lines` are patterns that must all occur in the first lines of a text.
    """

    document: Condition = {}
    some: Condition = {}
    every: Condition = {}
    lines: list[str] = []


class Repeats(_Part, frozen=True):
    """Records with the same key are one record: the place of the first, the content of the last.

    A record that meets `restart` begins a new part of the log, in which keys may be used again.
    """

    key: Field
    when: Condition = {}
    restart: Condition = {}


class Profile(_Part, frozen=True, kw_only=True):
    """A profile as written in its file.

    The records of `jsonl` are its lines, the items of a JSON list, or those at `records` in a JSON
    object. `parent` is the id of the call in which a record happened, such as that of a sub-agent.
    `unwrap` is the part of a record that is read, such as the one inside an envelope. With
    `newest_first`, the records are read from the last to the first, unless the value at this path
    grows from the first to the last.
    """

    planproof: Literal["profile/1"]
    name: str
    title: str
    form: Literal["json", "jsonl", "text"] = "json"
    detect: Detect
    records: list[str] | str = "*"
    rules: list[Rule] = []
    blocks: list[Block] = []
    before: Literal["user", "system", "ignore"] = "ignore"
    after: Condition = {}
    actor: Field | None = None
    turn: Field | None = None
    parent: Field | None = None
    time: Field = field(default_factory=lambda: list(_TIME_PATHS))
    unwrap: Field | None = None
    newest_first: Field | None = None
    repeats: Repeats | None = None
    repeated_calls: Literal["keep", "drop"] = "keep"
    test_file: str = ""
    source: str = ""
