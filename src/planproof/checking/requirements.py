"""What a step asks for, ready to be compared with events."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from planproof.checking.action_types import (
    ALTER,
    classify_step_parts,
    find_exclusive_types,
    find_part_exclusive_types,
    load_action_verbs,
    stem_words,
)
from planproof.contracts.terms import Word, extract_words
from planproof.contracts.values import Literal, LiteralKind, extract_literals, fold
from planproof.core.content import Json
from planproof.core.plan import Plan, Step
from planproof.core.vocabulary import Vocabulary

_MESSAGE_TYPES = frozenset({"ask", "tell", "delegate", "finish"})
_REASONING_TYPES = frozenset({"think"})
_MENTAL_TYPES = frozenset({"think", "plan", "compute"})
_WRITTEN_CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(\s*(\{.*\})\s*\)", re.DOTALL)
_AFTERWORD = re.compile(r"\n\s*\n|\bHere(?:'s| is| are) the\b|\bNote:")
_PURPOSE = re.compile(r"\bso that\b", re.IGNORECASE)
_REPETITION = re.compile(
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
    action_types: frozenset[str]
    literals: tuple[Literal, ...]

    @property
    def accepts_text(self) -> bool:
        """Whether it may be done by saying or thinking something."""
        return bool(self.action_types & (_MESSAGE_TYPES | _REASONING_TYPES))


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A step that is written as a call: the tool, and the arguments that it must have."""

    tool: str
    arguments: Json


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
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
    object_terms: frozenset[str]
    parts: tuple[Part, ...]
    subject: str
    accepts_message: bool
    message_only: bool
    accepts_reasoning: bool
    is_repetition: bool
    open_ended: bool
    folded_text: str
    call: WrittenCall | None
    action_types: tuple[frozenset[str], ...]
    all_action_types: frozenset[str]
    literals: tuple[Literal, ...]
    values: tuple[Literal, ...]
    requires_action: bool
    exclusive_types: frozenset[str]
    compatible_types: frozenset[str]


def compile_steps(plan: Plan, vocabulary: Vocabulary) -> tuple[Requirement, ...]:
    """The demands of the steps that count, in plan order."""
    aliases = tuple(vocabulary.aliases.items())
    return tuple([_compile_step(step, aliases) for step in plan.leaves])


# A step is taken apart once, so that what rests on demands can be remembered by which they are.
@lru_cache(maxsize=2_048)
def _compile_step(step: Step, aliases: tuple[tuple[str, str], ...]) -> Requirement:
    text = _strip_explanations(step.text)
    for word, tool in aliases:
        if word.lower() in text.lower():
            text = f"{text} {tool}"
    parts = _build_parts(step)
    action_types = tuple(part.action_types for part in parts)
    by_tool = _BY_TOOL.search(step.text) is not None
    accepts_message = not by_tool and any(
        part_types & _MESSAGE_TYPES for part_types in action_types
    )
    literals = tuple(literal for part in parts for literal in part.literals)
    words = extract_words(text)
    types_by_part = [find_part_exclusive_types(part.text) for part in parts]
    # A part that begins with any other verb may be done by anything.
    exclusive_types = (
        frozenset[str]().union(*types_by_part) if all(types_by_part) else frozenset[str]()
    )
    stems = frozenset(stem for word in words for stem in word.stems)
    object_words = (word for word in words if word.text not in load_action_verbs())
    return Requirement(
        step,
        words,
        stems,
        stems.union(*(word.concepts for word in words)),
        frozenset(chain.from_iterable(word.stems + word.concepts for word in object_words)),
        parts,
        subject=(_SUBJECT.match(step.text) or {1: ""})[1].lower(),
        accepts_message=accepts_message,
        message_only=not by_tool
        and all(part_types and part_types <= _MESSAGE_TYPES for part_types in action_types),
        accepts_reasoning=not by_tool
        and any(part_types & _REASONING_TYPES for part_types in action_types),
        is_repetition=_REPETITION.search(text) is not None,
        open_ended=step.loop or _OPEN_ENDED.search(step.text) is not None,
        folded_text=fold(text),
        call=_parse_call(step.text),
        action_types=action_types,
        all_action_types=frozenset[str]().union(*action_types),
        literals=literals,
        values=tuple(item for item in literals if item.kind is not LiteralKind.NAME),
        requires_action=by_tool
        or (not accepts_message and not all(_is_mental(part_types) for part_types in action_types)),
        exclusive_types=exclusive_types,
        compatible_types=_find_compatible_types(exclusive_types, text),
    )


def _find_compatible_types(exclusive_types: frozenset[str], text: str) -> frozenset[str]:
    """All deeds that may pass for the step; what alters something may, unless it only looks."""
    compatible_types = exclusive_types | find_exclusive_types(stem_words(text))
    return compatible_types if "look" in exclusive_types else compatible_types | ALTER


def _is_mental(action_types: frozenset[str]) -> bool:
    """Whether thinking alone can do it; what can only be computed takes more than words."""
    return action_types <= _MENTAL_TYPES and not action_types <= {"compute"}


def _parse_call(text: str) -> WrittenCall | None:
    match = _WRITTEN_CALL.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return WrittenCall(match[1].lower(), json.loads(match[2]))
    except (ValueError, RecursionError):
        return None


def _strip_explanations(text: str) -> str:
    """The step itself, without the explanations and listings that follow it in the same item."""
    return _AFTERWORD.split(text, maxsplit=1)[0].strip() or text


def _build_parts(step: Step) -> tuple[Part, ...]:
    """The parts with the values that stand in each; one that stands in none goes to the first."""
    texts = step.parts or (step.text,)
    literals_by_part: list[list[Literal]] = [[] for _ in texts]
    # What a step is to achieve it need not show.
    for literal in extract_literals(_PURPOSE.split(_strip_explanations(step.text), maxsplit=1)[0]):
        owner = next((i for i, text in enumerate(texts) if literal.text in text), 0)
        literals_by_part[owner].append(literal)
    return tuple(
        Part(text, action_types, tuple(literals))
        for text, action_types, literals in zip(
            texts, classify_step_parts(step), literals_by_part, strict=True
        )
    )
