"""What an answer costs, by the price list that genai-prices carries; nothing is fetched."""

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
    """US dollars for an answer; None when the model is not on the list."""
    model = (response.provider_name, response.model_name)
    if model in _UNPRICED_MODELS:
        return None
    try:
        return float(response.cost().total_price)
    except LookupError:
        _UNPRICED_MODELS.add(model)  # looking through the whole list takes a while
        return None
    except (ValueError, AssertionError):
        return None


def estimate_cost(model: Model, tokens_in: int) -> float | None:
    """US dollars for a question of so many tokens and an answer of ordinary length."""
    usage = RequestUsage(input_tokens=tokens_in, output_tokens=_TOKENS_PER_ANSWER)
    return compute_cost(
        ModelResponse(
            parts=[], usage=usage, model_name=model.model_name, provider_name=model.system
        )
    )


def estimate_tokens(question: Question) -> int:
    """About how many tokens a question has."""
    return -(-len(question.instructions) // CHARACTERS_PER_TOKEN) + sum(
        _TOKENS_PER_IMAGE if isinstance(part, Image) else -(-len(part) // CHARACTERS_PER_TOKEN)
        for part in question.parts
    )
