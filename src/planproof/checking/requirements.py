"""What a step asks for, ready to be compared with events."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from planproof.checking.action_types import (
    ALTERS,
    deeds_asked,
    distinct_deeds_asked,
    stems_in_order,
    verbs,
)
from planproof.checking.distinct_actions import distinct_deeds
from planproof.contracts.terms import Word, words_of
from planproof.contracts.values import Literal, LiteralKind, fold, literals_of
from planproof.core.content import Json
from planproof.core.plan import Plan, Step
from planproof.core.vocabulary import Vocabulary

_SAYING = frozenset({"ask", "tell", "delegate", "finish"})
_THINKING = frozenset({"think"})
_MENTAL = frozenset({"think", "plan", "compute"})
_WRITTEN_CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(\s*(\{.*\})\s*\)", re.DOTALL)
_AFTERWORD = re.compile(r"\n\s*\n|\bHere(?:'s| is| are) the\b|\bNote:")
_PURPOSE = re.compile(r"\bso that\b", re.IGNORECASE)
_AGAIN = re.compile(
    r"\b(?:again|once more|another time|(?:second|third) (?:time|attempt|try)|twice|thrice|re-?run"
    r"|repeat(?:ed|ing)?|re-?try(?:ing)?|re-?issue|re-?send|re-?submit|anew|the same)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"\W*([A-Z]\w{3,40})\W*(?::|\bwill\b|\bshould\b|\bshall\b)")
_BY_TOOL = re.compile(
    r"\b(?:use|using|via|with|through|call|ask|direct|instruct|have|let)\b[^.;:]{0,60}?(?:\btool\b|\b[a-z]+_agent\b)",
    re.IGNORECASE,
)
_OPEN_ENDED = re.compile(r"\b(?:all|each|every|others?|further|etc)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a step asks for: its text, its values, and the deeds that do it."""

    text: str
    deeds: frozenset[str]
    literals: tuple[Literal, ...]

    @property
    def of_words(self) -> bool:
        """Whether it may be done by saying or thinking something."""
        return bool(self.deeds & (_SAYING | _THINKING))


@dataclass(frozen=True, slots=True)
class Call:
    """A step that is written as a call: the tool, and the arguments that it must have."""

    tool: str
    arguments: Json


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """A step with its words and its parts; `again` marks one that asks for a repetition.

    `open_ended` is one that goes on to more than it names: "app.log and all other logs".
    `stems` are those of its words, `terms` these and the concepts that may stand in for them,
    `things` those of the words that name no sort of deed.
    `deeds` are, for each part, the sorts of deed that would execute it, `asked` those of all parts;
    `literals` are the names and values that the step names, `values` those that are no mere names.
    `subject` is the agent, in lower case, that the step gives the work to.
    `of_deeds` says that something must be done, neither said nor thought out alone.
    `distinct` are the deeds, of those that do not stand for one another, that its parts begin with;
    `named` those of all its words. A call of none of these is another deed.
    """

    step: Step
    words: tuple[Word, ...]
    stems: frozenset[str]
    terms: frozenset[str]
    things: frozenset[str]
    parts: tuple[Part, ...]
    subject: str
    says: bool
    only_says: bool
    thinks: bool
    again: bool
    open_ended: bool
    folded: str
    call: Call | None
    deeds: tuple[frozenset[str], ...]
    asked: frozenset[str]
    literals: tuple[Literal, ...]
    values: tuple[Literal, ...]
    of_deeds: bool
    distinct: frozenset[str]
    named: frozenset[str]


def demands_of(plan: Plan, vocabulary: Vocabulary) -> tuple[Demand, ...]:
    """The demands of the steps that count, in plan order."""
    aliases = tuple(vocabulary.aliases.items())
    return tuple([_demand(step, aliases) for step in plan.leaves])


# A step is taken apart once, so that what rests on demands can be remembered by which they are.
@lru_cache(maxsize=2_048)
def _demand(step: Step, aliases: tuple[tuple[str, str], ...]) -> Demand:
    text = _gist(step.text)
    for word, tool in aliases:
        if word.lower() in text.lower():
            text = f"{text} {tool}"
    parts = _parts(step)
    deeds = tuple(part.deeds for part in parts)
    by_tool = _BY_TOOL.search(step.text) is not None
    says = not by_tool and any(found & _SAYING for found in deeds)
    literals = tuple(literal for part in parts for literal in part.literals)
    words = words_of(text)
    begun = [distinct_deeds_asked(part.text) for part in parts]
    # A part that begins with any other verb may be done by anything.
    distinct = frozenset[str]().union(*begun) if all(begun) else frozenset[str]()
    stems = frozenset(stem for word in words for stem in word.stems)
    things = (word for word in words if word.text not in verbs())
    return Demand(
        step,
        words,
        stems,
        stems.union(*(word.concepts for word in words)),
        frozenset(chain.from_iterable(word.stems + word.concepts for word in things)),
        parts,
        subject=(_SUBJECT.match(step.text) or {1: ""})[1].lower(),
        says=says,
        only_says=not by_tool and all(found and found <= _SAYING for found in deeds),
        thinks=not by_tool and any(found & _THINKING for found in deeds),
        again=_AGAIN.search(text) is not None,
        open_ended=step.loop or _OPEN_ENDED.search(step.text) is not None,
        folded=fold(text),
        call=_call(step.text),
        deeds=deeds,
        asked=frozenset[str]().union(*deeds),
        literals=literals,
        values=tuple(item for item in literals if item.kind is not LiteralKind.NAME),
        of_deeds=by_tool or (not says and not all(_in_the_mind(found) for found in deeds)),
        distinct=distinct,
        named=_named(distinct, text),
    )


def _named(distinct: frozenset[str], text: str) -> frozenset[str]:
    """All deeds that may pass for the step; what alters something may, unless it only looks."""
    named = distinct | distinct_deeds(stems_in_order(text))
    return named if "look" in distinct else named | ALTERS


def _in_the_mind(deeds: frozenset[str]) -> bool:
    """Whether thinking alone can do it; what can only be computed takes more than words."""
    return deeds <= _MENTAL and not deeds <= {"compute"}


def _call(text: str) -> Call | None:
    match = _WRITTEN_CALL.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return Call(match[1].lower(), json.loads(match[2]))
    except (ValueError, RecursionError):
        return None


def _gist(text: str) -> str:
    """The step itself, without the explanations and listings that follow it in the same item."""
    return _AFTERWORD.split(text, maxsplit=1)[0].strip() or text


def _parts(step: Step) -> tuple[Part, ...]:
    """The parts with the values that stand in each; one that stands in none goes to the first."""
    texts = step.parts or (step.text,)
    found: list[list[Literal]] = [[] for _ in texts]
    # What a step is to achieve it need not show.
    for literal in literals_of(_PURPOSE.split(_gist(step.text), maxsplit=1)[0]):
        owner = next((i for i, text in enumerate(texts) if literal.text in text), 0)
        found[owner].append(literal)
    return tuple(
        Part(text, deeds, tuple(literals))
        for text, deeds, literals in zip(texts, deeds_asked(step), found, strict=True)
    )
