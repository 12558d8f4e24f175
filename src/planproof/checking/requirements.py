"""Compile the steps of a plan into requirements to compare with events."""

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
from planproof.core import contract
from planproof.core.content import Json
from planproof.core.contract import Contract, ContractOrigin, Similarity, StepContract, When
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
# Sending to someone other than the user takes a call; a message only claims that it was sent.
_SENDING = re.compile(
    r"\W*(?:(?:I|We) will |[Tt]hen )?(?:[Ss]end|[Ff]orward)(?:s|ing)?\s(?:[A-Z][a-z]|[^.;]*?\bto\s)"
    r"(?![^.;]*\b(?:users?|customers?|clients?|callers?|them|him|her|me|you|conversation|chat|group)\b)"
)
_OPEN_ENDED = re.compile(r"\b(?:all|each|every|others?|further|etc)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a step: its text, its values, and the action types that execute it."""

    text: str
    action_types: frozenset[str]
    literals: tuple[Literal, ...]

    @property
    def accepts_text(self) -> bool:
        """True if a message or reasoning can execute this part."""
        return bool(self.action_types & (_MESSAGE_TYPES | _REASONING_TYPES))

    @property
    def may_take_call(self) -> bool:
        """True if a call can execute this part."""
        return not self.action_types <= _MESSAGE_TYPES | _MENTAL_TYPES


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A step written as a call: the tool, and the arguments that it must have."""

    tool: str
    arguments: Json


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """A step with its words and parts; `is_repetition` marks one that asks for a repetition.

    `open_ended` marks a step that covers more than it names: "app.log and all other logs". `stems`
    are those of its words, `terms` these and the concepts that may replace them, `object_terms`
    those of the words that name no action type. `action_types` are, for each part, the action types
    that execute it, `all_action_types` those of all parts. `literals` are the names and values in
    the step, `values` those without the names. `subject` is the agent, in lower case, that the step
    assigns the work to. `requires_action` means that a message or reasoning alone is not enough,
    `needs_call` that it says so: by a tool, or to send something to others. `exclusive_types` are
    the exclusive action types that its parts begin with, `compatible_types` those of all its words;
    a call with none of these does something else.
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
    needs_call: bool
    requires_action: bool
    exclusive_types: frozenset[str]
    compatible_types: frozenset[str]


def compile_similarity(plan: Plan, vocabulary: Vocabulary) -> Contract:
    """Compile a plan without a model: what each step says, to be graded by similarity."""
    return _compile_similarity(plan, tuple(vocabulary.aliases.items()))


def compile_steps(plan: Plan, vocabulary: Vocabulary) -> tuple[Requirement, ...]:
    """Compile the leaf steps of a plan into requirements, in plan order."""
    aliases = tuple(vocabulary.aliases.items())
    return tuple([_compile_step(step, aliases) for step in plan.leaves])


@lru_cache(maxsize=256)
def _compile_similarity(plan: Plan, aliases: tuple[tuple[str, str], ...]) -> Contract:
    leaves = {step.number for step in plan.leaves}
    return Contract(
        steps=tuple(
            StepContract(
                number=step.number,
                text=step.text,
                all_of=(_state_similarity(_compile_step(step, aliases)),)
                if step.number in leaves
                else (),
                when=None if step.condition is None else When(for_=step.condition),
                optional=step.text if step.optional else None,
                free_order=step.free_order,
                parent=step.parent,
            )
            for step in plan.steps
        ),
        origin=ContractOrigin(plan=plan.origin, compiler="built-in"),
    )


def _state_similarity(requirement: Requirement) -> contract.Requirement:
    kind = "tell" if requirement.message_only else "act"
    if requirement.accepts_reasoning and not requirement.requires_action:
        kind = "think"
    return contract.Requirement(
        like=Similarity(
            kind=kind,
            words=tuple(sorted(requirement.stems)),
            values=tuple(literal.text for literal in requirement.literals),
        )
    )


# Cached, so that later caches can use requirements as keys by identity.
@lru_cache(maxsize=2_048)
def _compile_step(step: Step, aliases: tuple[tuple[str, str], ...]) -> Requirement:
    text = _strip_explanations(step.text)
    for word, tool in aliases:
        if word.lower() in text.lower():
            text = f"{text} {tool}"
    parts = _build_parts(step)
    action_types = tuple(part.action_types for part in parts)
    needs_call = _BY_TOOL.search(step.text) is not None or _SENDING.match(step.text) is not None
    accepts_message = not needs_call and any(
        part_types & _MESSAGE_TYPES for part_types in action_types
    )
    literals = tuple(literal for part in parts for literal in part.literals)
    words = extract_words(text)
    types_by_part = [find_part_exclusive_types(part.text) for part in parts]
    # A part that begins with any other verb can be executed by any type of action.
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
        message_only=not needs_call
        and all(part_types and part_types <= _MESSAGE_TYPES for part_types in action_types),
        accepts_reasoning=not needs_call
        and any(part_types & _REASONING_TYPES for part_types in action_types),
        # The first round of a loop repeats nothing.
        is_repetition=not step.loop and _REPETITION.search(text) is not None,
        open_ended=step.loop or _OPEN_ENDED.search(step.text) is not None,
        folded_text=fold(text),
        call=_parse_call(step.text),
        action_types=action_types,
        all_action_types=frozenset[str]().union(*action_types),
        literals=literals,
        values=tuple(item for item in literals if item.kind is not LiteralKind.NAME),
        needs_call=needs_call,
        requires_action=needs_call
        or (not accepts_message and not all(_is_mental(part_types) for part_types in action_types)),
        exclusive_types=exclusive_types,
        compatible_types=_find_compatible_types(exclusive_types, text),
    )


def _find_compatible_types(exclusive_types: frozenset[str], text: str) -> frozenset[str]:
    """Return all exclusive types that can pass for the step, altering ones unless it only looks.

    To open something may be to look at it, or to create it.
    """
    compatible_types = exclusive_types | find_exclusive_types(stem_words(text))
    return compatible_types if exclusive_types == frozenset({"look"}) else compatible_types | ALTER


def _is_mental(action_types: frozenset[str]) -> bool:
    """Return whether reasoning alone is enough; a step that only computes needs more than words."""
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
    """Return the step without the explanations and listings that follow it in the same item."""
    return _AFTERWORD.split(text, maxsplit=1)[0].strip() or text


def _build_parts(step: Step) -> tuple[Part, ...]:
    """Build the parts of a step with their values; a value in no part goes to the first."""
    texts = step.parts or (step.text,)
    literals_by_part: list[list[Literal]] = [[] for _ in texts]
    # A step need not show its purpose ("so that ...").
    for literal in extract_literals(_PURPOSE.split(_strip_explanations(step.text), maxsplit=1)[0]):
        owner = next((i for i, text in enumerate(texts) if literal.text in text), 0)
        literals_by_part[owner].append(literal)
    return tuple(
        Part(text, action_types, tuple(literals))
        for text, action_types, literals in zip(
            texts, classify_step_parts(step), literals_by_part, strict=True
        )
    )
