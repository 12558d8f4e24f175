"""Cost of model answers by the price list bundled with genai-prices; nothing is downloaded."""

from __future__ import annotations

from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.usage import RequestUsage

from planproof.core.content import Image
from planproof.core.model import Question

CHARACTERS_PER_TOKEN = 4
_TOKENS_PER_IMAGE = 1_000
_TOKENS_PER_ANSWER = 1_000
_UNPRICED_MODELS: set[tuple[str | None, str | None]] = set()


def compute_cost(response: ModelResponse) -> float | None:
    """Return the cost of an answer in US dollars; None if the model is not on the price list."""
    model = (response.provider_name, response.model_name)
    if model in _UNPRICED_MODELS:
        return None
    try:
        return float(response.cost().total_price)
    except LookupError:
        _UNPRICED_MODELS.add(model)  # searching the whole list is slow
        return None
    except (ValueError, AssertionError):
        return None


def estimate_cost(model: Model, tokens_in: int) -> float | None:
    """Estimate the cost in US dollars of `tokens_in` and an answer of usual length."""
    usage = RequestUsage(input_tokens=tokens_in, output_tokens=_TOKENS_PER_ANSWER)
    return compute_cost(
        ModelResponse(
            parts=[], usage=usage, model_name=model.model_name, provider_name=model.system
        )
    )


def estimate_tokens(question: Question) -> int:
    """Estimate the number of tokens of a question."""
    return -(-len(question.instructions) // CHARACTERS_PER_TOKEN) + sum(
        _TOKENS_PER_IMAGE if isinstance(part, Image) else -(-len(part) // CHARACTERS_PER_TOKEN)
        for part in question.parts
    )
