"""AutoGen's own client of OpenAI's API, in front of the scripted model."""

from __future__ import annotations

from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient
from scripted_model import MODEL


def client_of(url: str) -> OpenAIChatCompletionClient:
    """A client; what the model can do has to be said, for AutoGen does not know it."""
    return OpenAIChatCompletionClient(
        model=MODEL,
        base_url=url,
        api_key="none",
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "structured_output": False,
            "family": ModelFamily.UNKNOWN,
        },
    )
