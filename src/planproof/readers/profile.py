"""Profiles: formats as data. A YAML file says where the events of a format are.

A profile names the records of a source and gives rules for them: which records are messages, calls,
results or reasoning, and under which names their parts are. docs/profiles.md describes the file,
`profile_reader.py` reads by it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from planproof.readers.toolkit.profile_paths import Condition, Field

Lines: TypeAlias = str | tuple[str, ...]
"""A pattern for lines, or several of which one must match."""
_TIME_PATHS = ("timestamp", "time", "created_at", "createdAt", "ts")


class _Part(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all parts of a profile: data without unknown fields."""


class TextPart(_Part, frozen=True):
    """A text that becomes an event.

    `actions`: calls written in it are recognised; in a text profile, or with `actor`, it is a turn
    of a chat of named speakers, whose code is an action if it was run. `comment`: a message is
    reasoning if its turn makes a call, or in a text if a call follows.
    `once`: a text that the same actor has already said is skipped, for formats that repeat it.
    `chunks`: the texts of consecutive records in JSON Lines are one text that arrived in pieces.
    `images`: the paths of the URLs of images that belong to the text.
    """

    text: Field
    images: str | None = None
    actor: Field | None = None
    actions: bool = False
    once: bool = False
    chunks: bool = False
    comment: bool = False


class CallPart(_Part, frozen=True):
    """A call and, where the record has it, its result.

    `arguments` is a path, or an object that is built from paths; a list of names with values counts
    as an object, and the keys in `omit` are left out. `parse` is a text that holds name and
    arguments, such as `search[Paris]`. A call that is `written` is in a text of the agent, which
    may only look like one: it counts if no calls of the agent are recorded.
    """

    name: Field | None = None
    arguments: Field | dict[str, Field] | None = None
    omit: tuple[str, ...] = ()
    text: Field | None = None
    parse: Field | None = None
    written: bool = False
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

    A rule with `up_to` applies only before the first record that meets that condition.
    `ignore` says why a record is no event; with `repeats`, it only repeats others.
    Its events are written in the order of the fields below. `read` applies several rules to the
    same value; `rules` applies the first that fits. `input` is the arguments of the last call, if
    they are in another record. `runs: next` says that the next piece of code in the turns before is
    run, `all` that all of it is. `calls: open` says that what follows is part of the last call,
    until a rule with `calls: close`.
    """

    when: Condition = {}
    up_to: Condition = {}
    at: str | None = None
    ignore: str | None = None
    repeats: bool = False
    system: Field | TextPart | None = None
    user: Field | TextPart | None = None
    reasoning: Field | TextPart | None = None
    message: Field | TextPart | None = None
    plan: Field | TextPart | None = None
    call: CallPart | None = None
    result: ResultPart | None = None
    input: Field | None = None
    runs: Literal["next", "all"] | None = None
    calls: Literal["open", "close"] | None = None
    read: tuple[Rule, ...] = ()
    rules: tuple[Rule, ...] = ()


class Block(Rule, frozen=True, kw_only=True):
    """Lines of a text: those that match `line` begin one, and it lasts until the next.

    The fields of the pattern, and the line as `@line`, are the record that the rule reads. The
    lines after the first continue the last field, if that takes the rest of the line, and are the
    field `body` otherwise. A block also ends before a line that matches `until`, which is left out,
    and after one that matches `last`, which is part of it (its text is then the field `@block`).
    With `single`, the block has one line, and what follows is outside. With `outside`, it begins
    only outside of other blocks. With `opaque`, only `until` and `last` end it. With `margin`, its
    first and last line are not indented. Inside it, lines that match `drop` say nothing, those that
    match `parts` begin another field, and those that match one of `blocks` begin a block that also
    has the fields of this one.
    """

    line: Lines
    until: Lines = ()
    last: Lines = ()
    drop: Lines = ()
    parts: tuple[str, ...] = ()
    single: bool = False
    opaque: bool = False
    margin: bool = False
    outside: bool = False
    blocks: tuple[Block, ...] = ()


class Detect(_Part, frozen=True):
    """How the format is recognised; all that is given must hold.

    `document` is a condition on the whole document, `some` and `every` on its first records.
    `lines` are patterns, or lists of patterns of which one suffices, that must all occur in the
    first lines of a text; `first` are those of which one must fit its first line that is not blank.
    `never` are those that must not occur.
    """

    document: Condition = {}
    some: Condition = {}
    every: Condition = {}
    lines: tuple[Lines, ...] = ()
    first: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


class ParentPart(_Part, frozen=True):
    """The call in which a record that meets `when` happened: that which started a sub-agent.

    `call` is its id. Without one, it is the call that other records name for the id `agent`:
    `started` has the paths of `agent` and `call` in those. Without that, it is the call of the
    record `above`, by its id `record`, or one that has the text at `prompt` as an argument.
    """

    call: Field
    when: Condition = {}
    agent: Field | None = None
    started: dict[str, Field] = {}
    record: Field | None = None
    above: Field | None = None
    prompt: Field | None = None


class Repeats(_Part, frozen=True):
    """Records with the same key are one record: the place of the first, the content of the last.

    If `same` is given, they also have the same value there.
    A record that meets `restart` begins a new part of the log, in which keys may be used again.
    """

    key: Field
    same: Field | None = None
    when: Condition = {}
    restart: Condition = {}


class Profile(_Part, frozen=True, kw_only=True):
    """A profile as written in its file.

    The records of `jsonl` are its lines, the items of a JSON list, or those at `records` in a JSON
    object. `parent` is the id of the call in which a record happened, such as that of a sub-agent.
    The form `repr` is a text of Python values as `print` writes them; its records are values. In a
    text, `marks` are sequences such as the codes of a colour: a line is broken before one, and the
    mark is replaced, except after a colon, where it is removed.
    `unwrap` is the part of a record that is read, such as the one inside an envelope. With `order`,
    the records are read in the order of the values at this path; a record without one follows the
    record before it. With `handoffs`, what an agent does is part of the call that handed over to
    it. A record is a turn of its own, unless it has a value at `turn`; with `turns: results`, a
    turn lasts until a result, or a text that is not the agent's.
    """

    planproof: Literal["profile/1"]
    name: str
    title: str
    form: Literal["json", "jsonl", "text", "repr"] = "json"
    detect: Detect
    records: Field = "*"
    rules: tuple[Rule, ...] = ()
    blocks: tuple[Block, ...] = ()
    marks: dict[str, str] = {}
    before: Literal["user", "system", "message", "ignore"] = "ignore"
    actor: Field | None = None
    turn: Field | None = None
    turns: Literal["records", "results"] = "records"
    parent: ParentPart | Field | None = None
    time: Field = _TIME_PATHS
    unwrap: Field | None = None
    order: Field | None = None
    handoffs: bool = False
    repeats: Repeats | None = None
    repeated_calls: Literal["keep", "drop"] = "keep"
    test_file: str = ""
    source: str = ""
