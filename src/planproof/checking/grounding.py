"""Whether the events of a step show what the step names: values, and deeds that leave a mark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from planproof.checking.call_text import call_text
from planproof.checking.candidates import Unit
from planproof.checking.reported_values import untold
from planproof.checking.requirements import Demand, Part
from planproof.contracts.terms import words_of
from planproof.contracts.values import Literal, LiteralKind, literals_of
from planproof.core.trace import Kind

_HEAD = r"(?:^|\band\b|\bthen\b|,|;|\bto\b)\s*(?:also\s+)?"
_KEEPING = re.compile(
    _HEAD + r"(?:sav(?:e|es|ing)|stor(?:e|es|ing)|export(?:s|ing)?|back(?:s|ing)? (?:\w+ )?up"
    r"|keep(?:s|ing)? (?:a copy|[\w ]+ in \S*[./]\w)"
    r"|writ(?:e|es|ing) (?:[\w ]+ )?(?:to|into) \S*[./]\w)\b",
    re.IGNORECASE,
)
_SORTING = re.compile(
    rf"{_HEAD}(?:sort|rank)(?:s|ed|ing)?\b|\bsorted (?:by|from|in|with|up|down|alphabet)"
    r"|\b(?:largest|biggest|smallest|newest|oldest) first\b"
    r"|\b(?:ascending|descending|alphabetical) order\b|\bby (?:de|a)scending\b",
    re.IGNORECASE,
)
_SORTS = re.compile(r"\b(?:sort(?:ed)?|order by|order_by|rank|nlargest|nsmallest|ls\s+-\w*[st])")
_DOWNWARDS = re.compile(
    r"\bdescending|most .{0,40}(?:first|to fewest)|(?:largest|biggest) first", re.IGNORECASE
)
_UPWARDS = re.compile(r"\bascending|(?:smallest|fewest) .{0,40}(?:first|to most)", re.IGNORECASE)
_DESCRIBED = re.compile(r"(?:^\W*|\bsql\s+|: )(?:describe|desc|show columns from)\s+`?([a-z_]\w*)")
_EACH_TABLE = re.compile(r"\b(?:each|every|all)\b(?: of)?(?: the)? tables?\b", re.IGNORECASE)
_LISTED = re.compile(r"\('([a-z_]\w*)',\)")
_LEAVES_A_MARK = frozenset({"compute", "write", "change", "remove", "transact"})
_KEEPS = frozenset({"write", "change"})
_SHORT_NAME = 5
_FLAG = re.compile(r"-[A-Za-z]{1,8}")
_NO_LETTERS = re.compile(r"[\W_]+")
_CURRENCIES = frozenset("$€£")
_CALLED_BY = frozenset({LiteralKind.IDENTIFIER, LiteralKind.QUOTED})


def ungrounded(
    demand: Demand, run: Sequence[Unit], whole: Sequence[Unit], actors: frozenset[str]
) -> list[str]:
    """What the step asks for and its events do not show, in words; empty when they show it all."""
    if demand.call is not None:
        same = any(unit.event.arguments == demand.call.arguments for unit in run)
        return [] if same else ["it was called with other arguments"]
    absent = [literal for part in demand.parts for literal in _absent(part, run, whole)]
    chosen = bool(demand.step.choices) and _chosen(demand, run, absent)
    if chosen:
        absent = [value for value in absent if not _stands_in(value, demand.step.choices)]
    found = [f"{literal.text} stands in no event of it" for literal in absent]
    done = [unit for unit in run if not unit.said]
    asked = _asked_of(demand)
    if done and asked.to_keep and not (chosen or any(unit.deeds & _KEEPS for unit in done)):
        found.append("nothing was saved")
    if done and asked.to_sort:
        if not any(_SORTS.search(unit.call_text) for unit in done):
            found.append("nothing was sorted")
        elif any(_turned(demand.step.text, unit.call_text) for unit in done):
            found.append("it was sorted the other way")
    found.extend(_undone(asked.marked, run))
    found.extend(_other_tables(demand, done, whole))
    found.extend(_other_actors(demand, run, actors))
    found.extend(untold(demand, run))
    return found


class _Asked(NamedTuple):
    """What a step asks for that its events can show; `marked` are later parts that leave a mark."""

    to_keep: bool
    to_sort: bool
    marked: tuple[Part, ...]


@lru_cache(maxsize=2_048)
def _asked_of(demand: Demand) -> _Asked:
    return _Asked(
        any(_KEEPING.search(part.text) for part in demand.parts),
        _SORTING.search(demand.step.text) is not None,
        tuple(part for part in demand.parts[1:] if part.deeds and part.deeds <= _LEAVES_A_MARK),
    )


def _chosen(demand: Demand, run: Sequence[Unit], absent: Sequence[Literal]) -> bool:
    """Whether one of the alternatives that the step leaves open is shown; then the others lapse."""
    return any(
        not any(value.text in choice for value in absent)
        and any(not unit.terms.isdisjoint(_stems_of(choice)) for unit in run)
        for choice in demand.step.choices
    )


def _stands_in(value: Literal, choices: Sequence[str]) -> bool:
    return any(value.text in choice for choice in choices)


def _has_flag(flag: str, run: Sequence[Unit]) -> bool:
    """Whether a call has this option, in this very case, be it among others: -R in `ls -aR`."""
    alone = rf"(?<!\S)-[A-Za-z]{{0,20}}{flag[1]}"
    pattern = re.compile(alone if len(flag) == 2 else re.escape(flag))
    return any(pattern.search(call_text(unit.event)) for unit in run)


def _undone(marked: Sequence[Part], run: Sequence[Unit]) -> list[str]:
    """The parts of a step that ask for a deed of a sort that none of its events is."""
    if not marked or not run or any(unit.said for unit in run):
        return []
    done = frozenset[str]().union(*(unit.deeds for unit in run))
    return [f"nothing was done to {part.text}" for part in marked if not part.deeds & done]


def _other_actors(demand: Demand, run: Sequence[Unit], actors: frozenset[str]) -> list[str]:
    """Who should have done it, where somebody else did."""
    asked = {actor for actor in actors if len(actor) > _SHORT_NAME and actor in demand.folded}
    if demand.subject in actors:
        asked = {demand.subject}
    if not asked:
        return []
    present = {name for unit in run for name in (unit.manner.actor, unit.manner.name)}
    # Who is handed over to stands in the call, as a rule in another spelling.
    spelt = [_letters(unit.call_text) for unit in run if not unit.said]
    absent = [one for one in sorted(asked - present) if not any(_letters(one) in s for s in spelt)]
    return [f"{absent[0]} had no part in it"] if len(absent) == len(asked) else []


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text)


def _turned(asked: str, call: str) -> bool:
    """Whether a query sorts upwards where downwards was asked, or the other way round."""
    if "order by" not in call:
        return False
    downwards = " desc" in call
    return bool(
        (_DOWNWARDS.search(asked) and not downwards) or (_UPWARDS.search(asked) and downwards)
    )


def _other_tables(demand: Demand, done: Sequence[Unit], whole: Sequence[Unit]) -> list[str]:
    """The database table that the step speaks of, where others were described."""
    used = {
        table
        for unit in done
        if "desc" in unit.call_text or "show columns" in unit.call_text
        for table in _DESCRIBED.findall(unit.call_text)
    }
    if not used:
        return []
    known = used.union(*(_LISTED.findall(unit.output_text) for unit in whole))
    if _EACH_TABLE.search(demand.step.text) and used < known:
        return [f"{min(known - used)} was not described"]
    named = {table for table in known if _stems_of(table) <= demand.stems}
    return [] if not named or named & used else [f"{min(named)} was not described"]


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(stem for word in words_of(text) for stem in word.stems)


def _absent(part: Part, run: Sequence[Unit], whole: Sequence[Unit]) -> list[Literal]:
    """The values of a part of a step that its events do not show."""
    if not part.literals:
        return []
    of_words = part.of_words
    doing = [u for u in run if not (u.said or u.deeds.isdisjoint(part.deeds))] or run
    calls = [unit.call_text for unit in doing]
    absent: list[Literal] = []
    for literal in part.literals:
        if literal.text[0] == "-" and _FLAG.fullmatch(literal.text):
            shown = _has_flag(literal.text, run)
        elif of_words:
            shown = _is_told(literal, run, whole)
        else:
            shown = literal.held_by_any(calls) or _is_read(literal, doing, run, whole)
        if not shown:
            absent.append(literal)
    return absent


def _is_told(literal: Literal, run: Sequence[Unit], whole: Sequence[Unit]) -> bool:
    # Words may speak of a value without naming it again: it need only be known to the trace.
    # A code is named by what is done with it, and a price by whoever tells it.
    coded = literal.kind is LiteralKind.IDENTIFIER and any(c.isdigit() for c in literal.text)
    strict = literal.text[:1] in _CURRENCIES or (coded and any(not u.said for u in run))
    return _held(literal, run) or (not strict and _held(literal, whole))


def _is_read(
    literal: Literal, doing: Sequence[Unit], run: Sequence[Unit], whole: Sequence[Unit]
) -> bool:
    """Whether a value that no call holds came back, or may have."""
    if literal.kind is LiteralKind.NUMBER and (_counts(literal, run) or _held(literal, run)):
        return True
    if literal.kind not in _CALLED_BY and any(literal.held_by(u.output_text) for u in doing):
        return True
    # A call whose output was not recorded may have returned the value; a name may be left unsaid.
    unrecorded = not any(unit.output_text for unit in run) and not _competes(literal, doing)
    return (literal.kind is LiteralKind.NAME or unrecorded) and _held(literal, whole)


def _counts(number: Literal, run: Sequence[Unit]) -> bool:
    """Whether the number is that of the calls: "for 4 days" is shown by four of them."""
    calls = [unit.event.name for unit in run if unit.event.kind is Kind.ACTION]
    return len(calls) > 1 and str(max(map(calls.count, calls))) in number.forms


def _competes(literal: Literal, units: Sequence[Unit]) -> bool:
    """Whether the calls name another file where the step names this one."""
    return literal.kind is LiteralKind.PATH and any(
        other.kind is LiteralKind.PATH for unit in units for other in literals_of(unit.call_text)
    )


def _held(literal: Literal, units: Sequence[Unit]) -> bool:
    return any(
        literal.held_by(unit.call_text) or literal.held_by(unit.output_text) for unit in units
    )
