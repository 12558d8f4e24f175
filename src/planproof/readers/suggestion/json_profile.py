"""Suggest a profile for JSON: where its records are, their rules, and how it is recognised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import Literal, TypeAlias, cast

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.readers.decoding.source import Source
from planproof.readers.record_counts import NON_RUN_KEYS
from planproof.readers.suggestion.record_shape import (
    COMMAND_KEYS,
    MAX_RECORDS,
    OUTPUT_KEYS,
    OWN_OUTPUT_KEYS,
    REASONING_KEYS,
    STEP_REASONING_KEYS,
    TEXT_KEYS,
    RecordKind,
    RecordShape,
    add_status,
    classify_words,
    find_call,
    find_key,
    find_pair,
    find_text,
    get_at,
    is_notice,
    is_time,
    last_key,
    rate_type_key,
    split_words,
    write_step,
)
from planproof.readers.suggestion.yaml_writer import Commented, Draft, Yaml
from planproof.readers.toolkit.profile_paths import value_text
from planproof.readers.toolkit.tool_calls import is_call_like

Certainty: TypeAlias = Literal["sure", "likely", "unsure"]
_Record: TypeAlias = Mapping[str, Json]
_Condition: TypeAlias = dict[str, Yaml]

_MAX_PART_DEPTH = 3
_MAX_GROUPS = 40
_MAX_VISITS = 50_000
_MAX_DEPTH = 6
_MAX_REPEATS = 20
_MOST = 0.8
_INSIDE = 1_000_000
_EVENT_KEYS = frozenset("thought observation action tool_calls function_call tool_name".split())
_TIME_KEYS = ("timestamp", "time", "created_at", "createdAt", "ts")
_ACTOR_KEYS = ("agent", "agent_name", "agentName", "actor", "speaker", "sender")
_TURN_KEYS = ("turn", "turn_id", "turnId", "step", "step_id", "iteration", "response_id")


@dataclass(slots=True)
class PairPart:
    """The calls or the results of one rule: their records, and the part of the rule to add to."""

    shape: RecordShape
    part: dict[str, Yaml]


@dataclass(slots=True)
class RuleSet:
    """Suggested rules, and what is needed to pair results with calls."""

    rules: list[Commented] = field(default_factory=list[Commented])
    calls: list[PairPart] = field(default_factory=list[PairPart])
    results: list[PairPart] = field(default_factory=list[PairPart])
    types: list[str] = field(default_factory=list[str])
    by_kind: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    counts: Counter[Certainty] = field(default_factory=Counter[Certainty])

    @property
    def has_named_calls(self) -> bool:
        """Whether a call was found with the name of its tool and arguments."""
        names = (
            (str(call.part.get("name", "=")), call.part.get("arguments")) for call in self.calls
        )
        return any(not name.startswith("=") and arguments != "." for name, arguments in names)


def suggest_rules(
    records: Sequence[_Record], inherited: RecordKind | None = None, depth: int = 0
) -> RuleSet:
    """Suggest one rule for each type of record; `inherited` is the kind of what holds them."""
    found = RuleSet()
    shape = RecordShape(records)
    types = shape.types[:2]
    found.types = types[:1]
    groups = _split_by_type(shape.records, types) if types else _split_by_keys(shape)
    builders = [
        _GroupRule(condition, RecordShape(group), found, inherited, depth)
        for condition, group in groups[:_MAX_GROUPS]
    ]
    # Whether a text of a tool is its result is known once the calls are.
    ordered = sorted(builders, key=lambda builder: (builder.is_text_of_tool, builder.is_unnamed))
    built: dict[int, Commented] = {}
    for builder in ordered:
        if depth == 0 and builder.is_unnamed:
            builder.guess_by_place(shape.records)
        built[id(builder)] = builder.build()
    found.rules += [built[id(builder)] for builder in builders]
    return found


def _split_by_keys(shape: RecordShape) -> list[tuple[_Condition, list[_Record]]]:
    """Group records without a type by the key under which their content is."""
    keys = [
        path
        for path, values in shape.values.items()
        if "." not in path
        and all(map(is_object, values))
        and classify_words(split_words(path)) in ("call", "result", "reasoning")
    ]
    if len(shape.keys) > 1:
        # What all records have is a part of each, such as the action of a step.
        keys = [path for path in keys if shape.share(path) < 1]
    groups: dict[str, list[_Record]] = {}
    for record in shape.records:
        key = next((key for key in keys if record.get(key.strip('"')) is not None), "")
        groups.setdefault(key, []).append(record)
    ordered = sorted(groups.items(), key=lambda pair: not pair[0])
    return [({key: {"kind": "object"}} if key else {}, group) for key, group in ordered]


def _split_by_type(
    records: Sequence[_Record], types: Sequence[str]
) -> list[tuple[_Condition, list[_Record]]]:
    """Group records by their type; where a second type says more, by both."""
    groups: dict[tuple[tuple[str, str], ...], list[_Record]] = {}
    for record in records:
        key = tuple(
            (path, value) for path in types if isinstance(value := get_at(record, path), str)
        )
        groups.setdefault(key, []).append(record)
    merged: dict[tuple[tuple[str, str], ...], list[_Record]] = {}
    for key, group in groups.items():
        words = [split_words(value) for _, value in key]
        needs_second = len(key) > 1 and classify_words(words[0]) in (None, "message")
        says_more = needs_second and (classify_words(words[1]) or is_notice(words[1]))
        merged.setdefault(key if says_more else key[:1], []).extend(group)
    # A type that adds no condition must come last, or it would take all records.
    ordered = sorted(merged.items(), key=lambda pair: -len(pair[0]))
    return [(dict(key), group) for key, group in ordered]


class _GroupRule:
    """Builds the rule for records of one type."""

    def __init__(
        self,
        condition: _Condition,
        shape: RecordShape,
        found: RuleSet,
        inherited: RecordKind | None,
        depth: int,
    ) -> None:
        self._condition = condition
        self._shape = shape
        self._found = found
        self._inherited = inherited
        self._depth = depth
        self._notes: list[str] = []
        self._used = {path for path, value in condition.items() if isinstance(value, str)}
        self._guess: RecordKind | None = None

    @property
    def _names(self) -> list[str]:
        """The types of the records, or the key that they have; the most specific first."""
        pairs = reversed(self._condition.items())
        return [value if isinstance(value, str) else path for path, value in pairs]

    @cached_property
    def _kind(self) -> RecordKind | None:
        """The kind that the words of the type say."""
        for name in self._names:
            kind = classify_words(split_words(name))
            if kind is not None:
                return kind
        return None

    @property
    def is_unnamed(self) -> bool:
        """Whether neither words nor a call say what the records are."""
        return self._kind is None and not self._find_call()

    def guess_by_place(self, records: Sequence[_Record]) -> None:
        """Guess by their order: results come right after calls, the user's come first."""
        own = set(map(id, self._shape.records))
        calls = {id(record) for call in self._found.calls for record in call.shape.records}
        after = sum(id(one) in calls and id(other) in own for one, other in pairwise(records))
        if after and after >= _MOST * self._shape.count:
            self._guess = "result"
            self._notes.append(f"{after:,} come right after a call")
        elif self._condition and id(records[0]) in own and "user" not in self._found.by_kind:
            self._guess = "user"
            self._notes.append("the first record is one of them")

    @property
    def is_text_of_tool(self) -> bool:
        """Whether the type names a tool, but the records have no name or arguments."""
        return self._kind == "call" and not self._find_call()

    def build(self) -> Commented:
        """Return the rule, with a comment on what it rests on."""
        shape = self._shape
        words = [word for name in self._names for word in split_words(name)]
        by_words = self._kind
        rule: dict[str, Yaml] = {"when": dict(self._condition)} if self._condition else {}
        body: dict[str, Yaml] = self._build_body(by_words or self._guess)
        confidence: Certainty
        if not body or (is_notice(words) and not _is_event(body)):
            body = {"ignore": "a notice of the program" if is_notice(words) else "not recognised"}
            confidence = "sure" if is_notice(words) else "unsure"
        else:
            confidence = "sure" if by_words or self._inherited else "likely"
        rule.update(body)
        if self._depth == 0:
            self._found.counts[confidence] += shape.count
            own = self._condition.get(self._found.types[0]) if self._found.types else None
            if isinstance(own, str):
                for kind in (key for part in iter_rules([body]) for key in part):
                    self._found.by_kind.setdefault(kind, []).append(own)
        told = ", ".join(
            f"{path} is {value}" if isinstance(value, str) else f"with {path}"
            for path, value in self._condition.items()
        )
        unit = "part" if self._depth else "record"
        notes = [f"{shape.count:,} {unit}{'s' if shape.count != 1 else ''}", told, *self._notes]
        head = {"sure": "", "likely": "Likely: ", "unsure": "Not known; decide: "}[confidence]
        return Commented(rule, head + "; ".join(note for note in notes if note) + ".")

    def _build_body(self, kind: RecordKind | None) -> dict[str, Yaml]:
        if kind == "call":
            named = self._build_call() or self._build_parts()
            return named or self._build_command() or self._build_without_name()
        if kind == "result":
            call = self._build_call(needs_output=True, needs_key=True)
            return call or self._build_parts() or self._build_result()
        if kind == "reasoning":
            return self._build_text("reasoning", REASONING_KEYS)
        if kind in ("user", "system"):
            return self._build_with_parts(kind)
        step = self._build_step()
        if step is not None:
            return step
        # A text in what the user or the system says is theirs.
        inherited = self._inherited
        return self._build_with_parts(inherited if inherited in ("user", "system") else "message")

    def _build_parts(self) -> dict[str, Yaml]:
        """Build the rule of records with lists of calls or results; empty if there are none."""
        before = len(self._found.calls) + len(self._found.results)
        parts = [rule for _, rule in self._iter_parts("message")]
        if len(self._found.calls) + len(self._found.results) == before:
            return {}
        return _join_parts(parts)

    def _build_without_name(self) -> dict[str, Yaml]:
        """Build the rule of records whose type names a tool, but that have no name."""
        text = find_key(self._shape, TEXT_KEYS, least=0.5)
        path = next(iter(self._condition), None)
        is_type = path is not None and isinstance(self._condition[path], str)
        if text is None and path is not None and is_type and not self._found.has_named_calls:
            self._note(f"the type at {path} names the tool", None)
            return self._finish_call({"name": path, "arguments": "."}, needs_output=False)
        result = self._build_result() if self._found.calls else None
        return result or self._build_text("message", TEXT_KEYS)

    def _build_with_parts(self, kind: RecordKind) -> dict[str, Yaml]:
        """Build the rule of a message: its text, its reasoning, and the calls and parts in it."""
        parts: list[dict[str, Yaml]] = []
        lists = list(self._iter_parts(kind))
        mixed = {path for path, _ in lists}
        text = self._find_text(TEXT_KEYS, mixed)
        if text is None and not lists:
            lists = list(self._iter_parts(kind, any_kind=True))
        if kind == "message":
            thought = find_key(self._shape, STEP_REASONING_KEYS, least=0.01)
            if thought is not None and thought != text and self._shape.find_texts(thought):
                self._used.add(thought)
                parts.append({"reasoning": thought})
        if text is not None:
            self._note(f"text at {text}", text)
            rule: dict[str, Yaml] = {kind: text}
            parts.append({"when": {text: {"kind": "text"}}, **rule} if text in mixed else rule)
        parts += [rule for _, rule in lists]
        direct = self._build_call() if kind == "message" else {}
        if direct:
            parts.append(direct)
        return _join_parts(parts)

    def _iter_parts(
        self, kind: RecordKind, *, any_kind: bool = False
    ) -> Iterator[tuple[str, dict[str, Yaml]]]:
        """Yield rules for lists in the record: calls, results, and parts with types of their own.

        With `any_kind`, parts may also be texts without a type.
        """
        if self._depth >= _MAX_PART_DEPTH:
            return
        for path in self._shape.list_paths():
            keys = [key.strip('"') for key in path.split(".")]
            items = self._shape.find_objects(path)
            if NON_RUN_KEYS.intersection(keys) or all("description" in item for item in items):
                continue
            inner = suggest_rules(items, kind, self._depth + 1)
            known = [rule for rule in inner.rules if "ignore" not in rule.value]
            told = inner.calls or inner.results or _tells_kinds(inner.rules)
            if not known or not (told or any_kind):
                continue
            self._found.calls += inner.calls
            self._found.results += inner.results
            yield path, join_rules(f"{path}.*", inner.rules)

    def _build_step(self) -> dict[str, Yaml] | None:
        """Build the rule of a step: thought, call and observation in one record."""
        before = len(self._found.calls)
        call = self._build_call(needs_output=self._depth > 0)
        if not call and not self._depth:
            call = self._build_command()
        if not call:
            return None
        part = cast("dict[str, Yaml]", call["call"])
        rule: dict[str, Yaml] = {}
        thought = find_key(self._shape, STEP_REASONING_KEYS)
        if thought is not None and thought not in part.values():
            rule["reasoning"] = thought
        if rule or "output" in part or self._depth > 0:
            return {**rule, **call}
        if self._find_text(TEXT_KEYS) is None:
            return call
        # A message with a call: it is built again, beside the text.
        del self._found.calls[before:]
        return None

    def _build_call(
        self, *, needs_output: bool = False, needs_key: bool = False
    ) -> dict[str, Yaml]:
        """Build a call from a name and arguments in the same object; empty if there is none."""
        best = self._find_call(needs_key=needs_key)
        if best is None:
            return {}
        name, arguments = best
        part: dict[str, Yaml] = {"name": name}
        if arguments is not None:
            part["arguments"] = arguments
        self._note(f"the tool's name at {name}", name)
        if arguments:
            self._note(f"arguments at {arguments}", arguments)
        return self._finish_call(part, needs_output=needs_output)

    def _build_command(self) -> dict[str, Yaml]:
        """Build a call from a command without a name."""
        texts = [path for path in self._shape.values if self._shape.find_texts(path)]
        path = find_key(self._shape, COMMAND_KEYS, least=0.5, within=texts) if texts else None
        if path is None:
            return {}
        key = last_key(path)
        name = "=shell" if key in ("command", "cmd") else f"={key}"
        self._note(f"a text at {path} and no name", path)
        part: dict[str, Yaml] = (
            {"parse": path} if key == "action" else {"name": name, "arguments": {key: path}}
        )
        return self._finish_call(part, needs_output=False)

    def _finish_call(self, part: dict[str, Yaml], *, needs_output: bool) -> dict[str, Yaml]:
        used = {value for value in part.values() if isinstance(value, str)}
        free = [path for path in self._shape.values if path not in used | set(self._condition)]
        output = find_key(self._shape, OWN_OUTPUT_KEYS, within=free) if free else None
        if output is not None:
            part["output"] = output
            self._note(f"its result at {output}", output)
        elif needs_output:
            return {}
        add_status(part, self._shape, self._condition)
        self._found.calls.append(PairPart(self._shape, part))
        return {"call": part}

    def _build_result(self) -> dict[str, Yaml]:
        output = self._find_text(OUTPUT_KEYS)
        if output is None:
            return {}
        part: dict[str, Yaml] = {"output": output}
        self._note(f"the result at {output}", output)
        add_status(part, self._shape, self._condition)
        self._found.results.append(PairPart(self._shape, part))
        return {"result": part}

    def _build_text(self, kind: str, keys: Sequence[str]) -> dict[str, Yaml]:
        text = self._find_text(keys)
        if text is None:
            return {}
        self._note(f"text at {text}", text)
        return {kind: text}

    def _find_call(self, *, needs_key: bool = False) -> tuple[str, str | None] | None:
        guessable = self._kind in (None, "call")
        return find_call(self._shape, self._condition, guess=guessable, needs_key=needs_key)

    def _find_text(self, keys: Sequence[str], lists: Collection[str] = ()) -> str | None:
        is_result = "result" in (self._kind, self._guess)
        return find_text(self._shape, keys, lists, self._used, any_text=is_result)

    def _note(self, text: str, path: str | None) -> None:
        present = self._shape.count if path is None else len(self._shape.values.get(path, ()))
        share = "" if present >= self._shape.count else f" in {present:,}"
        if (note := f"{text}{share}") not in self._notes:
            self._notes.append(note)
        if path is not None:
            self._used.add(path)


def join_rules(path: str, rules: Sequence[Commented]) -> dict[str, Yaml]:
    """Return one rule that applies the first of these that fits to each value at a path."""
    only = rules[0].value if len(rules) == 1 else {}
    return {"at": path, **only} if only and "when" not in only else {"at": path, "rules": [*rules]}


def _join_parts(parts: Sequence[dict[str, Yaml]]) -> dict[str, Yaml]:
    """Return one rule that applies all of these; empty if there are none."""
    if len(parts) == 1:
        return parts[0]
    return {"read": [*parts]} if parts else {}


def _is_event(body: Mapping[str, Yaml]) -> bool:
    return "call" in body or "result" in body


def _tells_kinds(rules: Sequence[Commented]) -> bool:
    """Return whether the parts of a list have types of their own, or are reasoning."""
    return any("when" in rule.value or "reasoning" in rule.value for rule in rules)


def iter_rules(rules: Iterable[Yaml]) -> Iterator[dict[str, Yaml]]:
    """Yield rules, and the rules in them."""
    for item in rules:
        rule = item.value if isinstance(item, Commented) else item
        if isinstance(rule, dict):
            yield rule
            for inner in (rule.get("read"), rule.get("rules")):
                yield from iter_rules(inner if isinstance(inner, list) else ())


def suggest_json_profile(source: Source, draft: Draft, choice: int = 0) -> RuleSet | None:
    """Add to a draft what is found in JSON or JSON Lines; return the rules.

    `choice` is the number of the list that is taken for the records, from the most likely one; None
    is returned if there are fewer lists.
    """
    if source.form == "jsonl":
        draft.values["form"] = "jsonl"
        lists = [("", [value for _, value in source.document if is_object(value)])]
    else:
        lists = _find_record_lists(source.document)
    if choice >= len(lists):
        return None
    path, records = lists[choice]
    shape = RecordShape(records)
    found = suggest_rules(shape.records)
    _add_ids(found, draft)
    _add_detection(source, draft, shape, found, path)
    if path:
        draft.values["records"] = path
        draft.comments["records"] = f"{len(records):,} objects are here."
    _add_record_fields(draft, shape, found)
    _add_repeats(draft, shape, found)
    for rule in () if found.calls else iter_rules(found.rules):
        if isinstance(text := rule.get("message"), str):
            # The agent may write its calls into its messages.
            rule["message"] = dict[str, Yaml](text=text, actions=True)
    draft.values["rules"] = [*found.rules] or [{"ignore": "not recognised"}]
    draft.comments["rules"] = (
        "The first rule whose condition holds is applied. The types of records are told by "
        f"{', '.join(found.types)}."
        if found.types
        else "No key tells types of records apart: one rule for all."
    )
    return found


def _find_record_lists(document: Json) -> list[tuple[str, list[dict[str, Json]]]]:
    """Return the paths of the lists that may hold the events, with their objects; likely first."""
    lists: dict[str, list[dict[str, Json]]] = {}
    for path, objects in islice(_iter_lists(document, "", 0), _MAX_VISITS):
        lists.setdefault(path, []).extend(objects)
    lists = {path: objects for path, objects in lists.items() if objects}
    rated: dict[str, float] = {}
    for path, objects in lists.items():
        looked_at = objects[:MAX_RECORDS]
        informative = sum(map(_has_evidence, looked_at))
        # A list inside records is read by the rules of the records, unless nothing is found there.
        inside = any(rated[outer] and path.startswith(f"{outer}.") for outer in rated)
        rating = informative * (0.5 + informative / max(len(looked_at), 1))
        rated[path] = rating / _INSIDE if inside else rating
    if not any(rated.values()):
        rated = {path: float(len(objects)) for path, objects in lists.items()}
    ordered = sorted(rated, key=lambda path: -rated[path])
    whole = (".", [document] if is_object(document) else [])
    return [(path, lists[path]) for path in ordered] or [whole]


def _iter_lists(value: Json, path: str, depth: int) -> Iterator[tuple[str, list[dict[str, Json]]]]:
    """Yield the objects of every list, and of every object of objects, with its path."""
    items = list(value.values()) if is_object(value) else value if is_list(value) else []
    if depth > _MAX_DEPTH or not items:
        return
    if is_list(value) or (len(items) > 2 and all(map(is_object, items))):
        inner = f"{path}.*" if path else "*"
        objects = [item for item in items if is_object(item)]
        yield inner, objects if 2 * len(objects) >= len(items) else []
        for item in items:
            yield from _iter_lists(item, inner, depth + 1)
    elif is_object(value):
        for key, item in value.items():
            step = write_step(key)
            if step is not None and key not in NON_RUN_KEYS:
                yield from _iter_lists(item, f"{path}.{step}" if path else step, depth + 1)


def _has_evidence(record: Mapping[str, Json]) -> bool:
    """Return whether a record looks like an event of a run."""
    kinds = [value for key, value in record.items() if rate_type_key(key)]
    if any(isinstance(kind, str) and classify_words(split_words(kind)) for kind in kinds):
        return True
    return is_call_like(dict(record)) or not _EVENT_KEYS.isdisjoint(record)


def _add_ids(found: RuleSet, draft: Draft) -> None:
    """Add the ids by which calls and results, or two records of the same call, belong together."""
    notes: list[str] = []
    for results in found.results:
        pairs = ((calls, _find_pair(calls, results)) for calls in found.calls)
        calls, pair = next(((calls, pair) for calls, pair in pairs if pair), (None, None))
        if calls is not None and pair is not None:
            (call_path, result_path), same = pair
            calls.part.setdefault("id", call_path)
            results.part.setdefault("id", result_path)
            notes.append(
                f"{same:,} of {results.shape.count:,} results have the id of a call "
                f"({result_path} is {call_path})"
            )
    if found.results and not notes:
        notes.append("No ids pair results with calls: each belongs to the last call before it")
    for calls in found.calls:
        if (path := _find_own_id(calls, found.calls)) is not None:
            calls.part.setdefault("id", path)
    repeated = _count_repeated(found.calls)
    if repeated:
        draft.values["repeated_calls"] = "drop"
        draft.comments["repeated_calls"] = f"{repeated:,} calls have the id of an earlier one."
    if notes:
        draft.comments["pairs"] = "; ".join(dict.fromkeys(notes)) + "."


def _find_pair(one: PairPart, other: PairPart) -> tuple[tuple[str, str], int] | None:
    taken = {path for part in (one, other) for path in _list_paths(part.part)}
    return find_pair(one.shape, other.shape, taken)


def _find_own_id(calls: PairPart, others: Sequence[PairPart]) -> str | None:
    """Return the path of a call's id: one that other records of calls share, or near its name."""
    pairs = (_find_pair(calls, other) for other in others if other is not calls)
    shared = Counter(pair[0][0] for pair in pairs if pair)
    if shared:
        return max(shared, key=lambda path: shared[path])
    base = str(calls.part.get("name", ""))
    while base:
        base = base.rpartition(".")[0]
        for path in calls.shape.values:
            is_id = path.rpartition(".")[0] == base and split_words(last_key(path))[-1:] == ["id"]
            if is_id and calls.shape.share(path) == 1:
                return path
    return None


def _count_repeated(parts: Sequence[PairPart]) -> int:
    """Return how many calls have the id, the name and the arguments of an earlier one."""
    counts: Counter[tuple[str, ...]] = Counter()
    for part in parts:
        paths = [part.part.get(key) for key in ("id", "name", "arguments")]
        columns = [part.shape.values.get(path, ()) for path in paths if isinstance(path, str)]
        if len(columns) == len(paths) and len(set(map(len, columns))) == 1:
            counts.update(tuple(map(value_text, call)) for call in zip(*columns, strict=True))
    return counts.total() - len(counts)


def _list_paths(part: Mapping[str, Yaml]) -> Iterator[str]:
    """Yield the paths that a call or result uses for other things than its id."""
    for key, value in part.items():
        if isinstance(value, dict):
            yield from _list_paths(value)
        elif isinstance(value, str) and key != "id":
            yield value


def _add_detection(
    source: Source, draft: Draft, shape: RecordShape, found: RuleSet, path: str
) -> None:
    detect: dict[str, Yaml] = {}
    document = source.document
    if source.form == "json" and is_object(document) and path not in ("", ".", "*"):
        root = path.split(".", maxsplit=1)[0]
        others = [step for key in document if (step := write_step(key)) and step != root][:2]
        kind = "object" if is_object(document.get(root.strip('"'))) else "list"
        detect["document"] = {
            **{step: {"exists": True} for step in others if document.get(step) is not None},
            root: {"kind": kind},
        }
    common = [key for key in shape.values if "." not in key and shape.share(key) == 1][:3]
    every = [*found.types, *common] if found.types and shape.share(found.types[0]) == 1 else common
    if every:
        detect["every"] = {key: {"exists": True} for key in dict.fromkeys(every)}
    informative = [*found.by_kind.get("call", ()), *found.by_kind.get("message", ())]
    if found.types and informative:
        detect["some"] = {found.types[0]: list(dict.fromkeys(informative))}
        present = {value for value in shape.values[found.types[0]] if isinstance(value, str)}
        if not present.intersection(informative):
            del detect["some"]
    draft.values["detect"] = detect or {"every": {".": {"exists": True}}}
    draft.comments["detect"] = (
        "A file has this format if all of this holds. Make it specific: no other format may have "
        "the same keys."
    )


def _add_record_fields(draft: Draft, shape: RecordShape, found: RuleSet) -> None:
    """Add where all records have their time, agent and turn."""
    time = find_key(shape, _TIME_KEYS, least=0.5) or next(
        (path for path, values in shape.values.items() if all(map(is_time, values))), None
    )
    if time is not None and time not in _TIME_KEYS:
        draft.values["time"] = time
    actor = find_key(shape, _ACTOR_KEYS, least=0.5)
    if actor is not None and actor not in found.types and len(set(shape.find_texts(actor))) > 1:
        draft.values["actor"] = actor
    turn = find_key(shape, _TURN_KEYS, least=0.5)
    if turn is not None and last_key(turn) not in found.types:
        values = [str(value) for value in shape.values[turn]]
        changes = sum(one != other for one, other in pairwise(values))
        if changes and len(set(values)) == changes + 1 < len(values):
            draft.values["turn"] = turn


def _add_repeats(draft: Draft, shape: RecordShape, found: RuleSet) -> None:
    """Add the key of records that are written again when more of them is known."""
    for path in shape.values if found.types else ():
        words, kind_path = split_words(last_key(path)), found.types[0]
        is_beside = path.rpartition(".")[0] == kind_path.rpartition(".")[0]
        if "id" not in words or "parent" in words or not is_beside:
            continue
        kinds_by_id: dict[str, list[str]] = {}
        for record in shape.records:
            id_, kind = get_at(record, path), get_at(record, kind_path)
            if id_ is not None and kind:
                kinds_by_id.setdefault(str(id_), []).append(str(kind))
        again = [kinds for kinds in kinds_by_id.values() if len(kinds) > 1]
        if len(again) < 2 or max(map(len, again)) > _MAX_REPEATS:
            continue
        if sum(len(set(kinds)) == 1 for kinds in again) >= 0.9 * len(again):
            draft.values["repeats"] = {"key": path}
            draft.comments["repeats"] = (
                f"{len(again):,} records are written more than once, with the same {path}: the "
                "last is read, in the place of the first."
            )
            return
