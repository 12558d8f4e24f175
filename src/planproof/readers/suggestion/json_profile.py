"""Suggest a profile for JSON: where its records are, their rules, and how it is recognised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.readers.decoding.source import Source
from planproof.readers.record_counts import NON_RUN_KEYS
from planproof.readers.suggestion.json_rules import PairPart, RuleSet, iter_rules, suggest_rules
from planproof.readers.suggestion.record_shape import (
    MAX_RECORDS,
    RecordShape,
    find_key,
    find_pair,
    get_at,
    is_time,
    last_key,
    rate_type_key,
    write_step,
)
from planproof.readers.suggestion.record_words import classify_words, split_words
from planproof.readers.suggestion.yaml_writer import Draft, Yaml
from planproof.readers.toolkit.profile_paths import value_text
from planproof.readers.toolkit.tool_calls import is_call_like

_MAX_VISITS = 50_000
_MAX_DEPTH = 6
_MAX_REPEATS = 20
_MOST = 0.9
_INSIDE = 1_000_000
_EVENT_KEYS = frozenset("thought observation action tool_calls function_call tool_name".split())
_TIME_KEYS = ("timestamp", "time", "created_at", "createdAt", "ts")
_ACTOR_KEYS = ("agent", "agent_name", "agentName", "actor", "speaker", "sender")
_TURN_KEYS = ("turn", "turn_id", "turnId", "step", "step_id", "iteration", "response_id")


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
    search = _RecordSearch()
    search.visit(document, "", 0)
    rated: dict[str, float] = {}
    for path, objects in search.found.items():
        looked_at = objects[:MAX_RECORDS]
        informative = sum(map(_has_evidence, looked_at))
        # A list inside records is read by the rules of the records, unless nothing is found there.
        inside = any(rated[outer] and path.startswith(f"{outer}.") for outer in rated)
        rating = informative * (0.5 + informative / max(len(looked_at), 1))
        rated[path] = rating / _INSIDE if inside else rating
    if not any(rated.values()):
        rated = {path: float(len(objects)) for path, objects in search.found.items()}
    ordered = sorted(rated, key=lambda path: -rated[path])
    whole = (".", [document] if is_object(document) else [])
    return [(path, search.found[path]) for path in ordered] or [whole]


class _RecordSearch:
    """Finds all lists of objects in a document, by path; the outer ones first."""

    def __init__(self) -> None:
        self.found: dict[str, list[dict[str, Json]]] = {}
        self._visits = 0

    def visit(self, value: Json, path: str, depth: int) -> None:
        """Visit a value and what is in it."""
        self._visits += 1
        if depth > _MAX_DEPTH or self._visits > _MAX_VISITS:
            return
        if is_list(value):
            self._visit_items(value, path, depth)
        elif is_object(value):
            values = list(value.values())
            if len(values) > 2 and all(map(is_object, values)):
                self._visit_items(values, path, depth)
                return
            for key, item in value.items():
                step = write_step(key)
                if step is not None and key not in NON_RUN_KEYS:
                    self.visit(item, f"{path}.{step}" if path else step, depth + 1)

    def _visit_items(self, values: list[Json], path: str, depth: int) -> None:
        inner = f"{path}.*" if path else "*"
        objects = [item for item in values if is_object(item)]
        if 2 * len(objects) >= len(values) and objects:
            self.found.setdefault(inner, []).extend(objects)
        for item in values:
            if is_object(item) or is_list(item):
                self.visit(item, inner, depth + 1)


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
    types = found.types[:1]
    for path in shape.values:
        words = split_words(last_key(path))
        is_id = "id" in words and "parent" not in words
        if not is_id or not types or not _is_beside(path, types[0]):
            continue
        kinds_by_id: dict[str, list[str]] = {}
        for record in shape.records:
            id_, kind = get_at(record, path), get_at(record, types[0])
            if id_ is not None and kind:
                kinds_by_id.setdefault(str(id_), []).append(str(kind))
        again = [kinds for kinds in kinds_by_id.values() if len(kinds) > 1]
        if len(again) < 2 or max(map(len, again)) > _MAX_REPEATS:
            continue
        if sum(len(set(kinds)) == 1 for kinds in again) >= _MOST * len(again):
            draft.values["repeats"] = {"key": path}
            draft.comments["repeats"] = (
                f"{len(again):,} records are written more than once, with the same {path}: the "
                "last is read, in the place of the first."
            )
            return


def _is_beside(path: str, other: str) -> bool:
    return path.rpartition(".")[0] == other.rpartition(".")[0]
