"""What a model says, made into the answer that was asked for; or what is wrong with it."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

_FENCE = "```"
_MOST_ERRORS = 8
_LONGEST_ERROR = 300
_REFUSALS = (
    "i'm sorry",
    "i’m sorry",
    "i am sorry",
    "sorry, ",
    "i can't",
    "i can’t",
    "i cannot",
    "i'm unable",
    "i’m unable",
    "i am unable",
    "i won't",
    "i won’t",
    "i will not",
    "i'm not able",
    "i must decline",
)


class InvalidAnswer(Exception):
    """Says what is wrong with an answer, in words that a model can mend it by."""


@cache
def build_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer."""
    return answer.model_json_schema()


def parse_answer(text: str, answer: type[BaseModel]) -> BaseModel:
    """The answer in what a model said: JSON, alone or in one fence; `InvalidAnswer` for the rest.

    Nothing is bent into shape: "80%" is no number and true is no 1.
    """
    json = _strip_fence(text.strip())
    if not json:
        raise InvalidAnswer("The answer was empty.")
    try:
        return answer.model_validate_json(json, strict=True)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        problems = [
            f"{'.'.join(str(part) for part in problem['loc']) or 'answer'}: {problem['msg']}"
            for problem in errors[:_MOST_ERRORS]
        ]
        if len(errors) > _MOST_ERRORS:
            problems.append(f"and {len(errors) - _MOST_ERRORS} more")
        raise InvalidAnswer("; ".join(problem[:_LONGEST_ERROR] for problem in problems)) from error


def is_refusal(text: str) -> bool:
    """Whether a model says, instead of an answer, that it will not give one."""
    return text.lstrip().lower().startswith(_REFUSALS)


def write_retry_feedback(problem: str) -> str:
    """What a model is told when it is asked again."""
    return (
        "Your last answer to this could not be used, for it did not have the form that is asked "
        f"for. What was wrong with it: {problem}\nAnswer again, whole, as one JSON object "
        "that fits "
        "the schema, and with nothing before or after it."
    )


def _strip_fence(text: str) -> str:
    before, fence, rest = text.partition(_FENCE)
    if not fence or before.lstrip().startswith("{"):
        return text  # a fence inside of a string is part of what is said
    inside, closing, _ = rest.rpartition(_FENCE)
    body = inside if closing else rest
    first, _, following = body.partition("\n")
    return (following if first.strip().isalpha() else body).strip()
