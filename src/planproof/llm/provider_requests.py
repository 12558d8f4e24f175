"""Build provider requests from questions, and parse provider responses into answers."""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings as AISettings
from pydantic_ai.tools import ToolDefinition

from planproof.core.content import Image
from planproof.core.model import Cause, Question, Usage
from planproof.llm.answer_fields import build_schema
from planproof.llm.model_settings import ModelSettings
from planproof.llm.prices import compute_cost
from planproof.llm.provider_errors import AttemptFailed, Failure

_ANTHROPIC_MAX_TOKENS = 16_000
"""Anthropic requires a limit; a lower one could truncate long answers."""
_CACHE_MARKS: dict[str, Any] = {"anthropic": {"anthropic_cache_instructions": True}}
_PROVIDERS_TAKING_URLS = {"anthropic", "azure", "ollama", "openai", "openrouter", "vllm"}
"""Providers whose client passes on image URLs; others would download them here."""


def build_messages(
    question: Question, model: Model, *, feedback: str | None = None
) -> list[ModelRequest]:
    """Build the message for a question; `feedback` says what was wrong with the last answer."""
    content: list[UserContent] = [
        _convert_image(part, model) if isinstance(part, Image) else part for part in question.parts
    ]
    if feedback is not None:
        content.append(write_retry_feedback(feedback))
    # A single text is sent as a plain string: clients are slow to process a list of parts.
    prompt = content[0] if len(content) == 1 and isinstance(content[0], str) else content
    return [ModelRequest([UserPromptPart(prompt)], instructions=question.instructions or None)]


def build_request_parameters(question: Question, model: Model) -> ModelRequestParameters:
    """Build the request for structured output: by JSON schema, or as a tool call."""
    schema, name = build_schema(question.answer), question.answer.__name__
    if model.profile.get("supports_json_schema_output", False):
        form = OutputObjectDefinition(json_schema=schema, name=name)
        return ModelRequestParameters(output_mode="native", output_object=form)
    tool = ToolDefinition(
        name="answer", parameters_json_schema=schema, description="Give the answer.", kind="output"
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def build_settings(question: Question, model: Model, settings: ModelSettings) -> AISettings:
    """Build the settings: temperature and seed, where the model accepts them, and cache marks.

    The instructions are the same for all cases and precede them. OpenAI and Google cache such a
    prefix by themselves; Anthropic does so only up to a mark.
    """
    chosen = AISettings(**_CACHE_MARKS.get(model.system, {}))
    if not _is_reasoning_model(model):
        chosen["temperature"] = settings.temperature
    chosen["seed"] = settings.seed + question.sample
    if model.system == "anthropic":
        chosen["max_tokens"] = _ANTHROPIC_MAX_TOKENS
    return chosen


def extract_text(response: ModelResponse) -> str:
    """Return the text of a response, or the arguments of the tool call it answers with."""
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    if calls:
        return calls[0].args_as_json_str()
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def find_refusal(response: ModelResponse) -> str | None:
    """Return the provider's message if the answer was refused or filtered."""
    details = response.provider_details or {}
    if response.finish_reason == "content_filter" or "refusal" in details:
        return str(details.get("refusal") or "the provider's content filter stopped the answer")
    return None


def extract_usage(response: ModelResponse) -> Usage:
    """Return the tokens and cost of a response."""
    used = response.usage
    return Usage(
        calls=1,
        tokens_in=used.input_tokens,
        tokens_out=used.output_tokens,
        cached_tokens=used.cache_read_tokens,
        cost=compute_cost(response),
    )


def _is_reasoning_model(model: Model) -> bool:
    """Return True for a reasoning model, which accepts no temperature."""
    profile = model.profile
    return bool(
        profile.get("anthropic_disallows_sampling_settings", False)
        or (
            profile.get("openai_supports_reasoning", False)
            and (
                profile.get("thinking_enabled_by_default", False)
                or not profile.get("openai_supports_reasoning_effort_none", False)
            )
        )
    )


def _convert_image(image: Image, model: Model) -> BinaryContent | ImageUrl:
    if image.data is not None:
        try:
            return BinaryContent(b64decode(image.data, validate=True), media_type=image.media_type)
        except (binascii.Error, ValueError) as error:
            raise _make_bad_request_error("an image is not valid base64") from error
    if image.url is None:
        raise _make_bad_request_error("an image has neither data nor a URL")
    if model.system not in _PROVIDERS_TAKING_URLS:
        raise _make_bad_request_error(f"{model.system} accepts images only as data, not by URL")
    return ImageUrl(image.url, media_type=image.media_type)


def _make_bad_request_error(message: str) -> AttemptFailed:
    return AttemptFailed(Failure(Cause.BAD_REQUEST, message), Usage())


_FENCE = "```"
_MAX_KEY_CHARS = 80
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
    """An answer is invalid; the message tells the model what to correct."""


def parse_answer(text: str, answer: type[BaseModel]) -> BaseModel:
    """Parse an answer from JSON, bare or in one code fence; raises `InvalidAnswer` otherwise.

    Values are not coerced: "80%" is not a number, and true is not 1.
    """
    answer_json = _strip_fence(text.strip())
    if not answer_json:
        raise InvalidAnswer("The answer was empty.")
    if key := find_duplicate_key(answer_json):
        raise InvalidAnswer(f"The key {key!r} occurs twice in one object.")
    try:
        return answer.model_validate_json(answer_json, strict=True)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        problems = [
            f"{'.'.join(str(part) for part in problem['loc']) or 'answer'}: {problem['msg']}"
            for problem in errors[:_MOST_ERRORS]
        ]
        if len(errors) > _MOST_ERRORS:
            problems.append(f"and {len(errors) - _MOST_ERRORS} more")
        raise InvalidAnswer("; ".join(problem[:_LONGEST_ERROR] for problem in problems)) from error


class _DuplicateKey(Exception):
    """A JSON object has a key twice; the argument is the key."""


def find_duplicate_key(text: str | bytes) -> str | None:
    """Return a key that occurs twice in one object of a JSON text; None also if it is not JSON.

    Parsers keep the first or the last of two values, so such a text says two things.
    """
    try:
        json.loads(text, object_pairs_hook=_check_keys)
    except _DuplicateKey as duplicate:
        return str(duplicate)[:_MAX_KEY_CHARS]
    except (ValueError, RecursionError):
        return None
    return None


def _check_keys(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) == len(pairs):
        return  # the usual case, without a loop in Python
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _DuplicateKey(key)
        seen.add(key)


def is_refusal(text: str) -> bool:
    """Return True if the text is a refusal instead of an answer."""
    return text.lstrip().lower().startswith(_REFUSALS)


def write_retry_feedback(problem: str) -> str:
    """Return the feedback for a model that is asked again."""
    return (
        "Your last answer to this could not be used, for it did not have the form that is asked "
        f"for. What was wrong with it: {problem}\nAnswer again, whole, as one JSON object "
        "that fits "
        "the schema, and with nothing before or after it."
    )


def _strip_fence(text: str) -> str:
    before, fence, rest = text.partition(_FENCE)
    if not fence or before.lstrip().startswith("{"):
        return text  # a fence inside a string is part of the answer
    inside, closing, _ = rest.rpartition(_FENCE)
    body = inside if closing else rest
    first, _, following = body.partition("\n")
    return (following if first.strip().isalpha() else body).strip()
