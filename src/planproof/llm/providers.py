"""Open models by name: `openai:NAME`, `anthropic:NAME`, and other providers of pydantic-ai."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from planproof.errors import InvalidConfiguration, UnknownName
from planproof.llm.model_settings import ModelSettings

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.models import Model as ProviderModel
    from pydantic_ai.providers import Provider

    from planproof.core.model import Model
    from planproof.llm.http_connections import ModelConnection

_PROVIDER_ALIASES = {"google-gla": "google", "google-vertex": "google-cloud"}
_OTHER_HTTP_CLIENT = "httpx.AsyncClient"
"""The type of HTTP client that a few providers need; their responses are not limited."""
_OLLAMA_URL = "http://127.0.0.1:11434/v1"
_READ_TIMEOUT = 300
"""Seconds. The deadline of a case ends a call sooner; this ends abandoned threads."""


def open_model(
    model: str | ProviderModel, *, base_url: str | None = None, settings: ModelSettings
) -> Model:
    """Open a model by name (`PROVIDER:NAME`), or wrap an existing pydantic-ai model.

    Keys come from the environment, as the provider's own client reads them, or with the object.
    With a `base_url`, `openai:` uses chat completions, like all OpenAI-compatible servers.
    """
    try:
        from planproof.llm.answer_cache import AnswerCache  # noqa: PLC0415
        from planproof.llm.client import ModelClient  # noqa: PLC0415 - heavy, and an extra
        from planproof.llm.http_connections import ModelConnection  # noqa: PLC0415
    except ImportError as error:
        raise _make_missing_package_error("llm", error) from error
    if isinstance(model, str):
        connect = _ConnectionFactory(model, base_url)
        name, first = model, connect()
    else:
        first = ModelConnection(model)
        connect, name = (lambda: first), f"{model.system}:{model.model_name}"
    _check_price(name, first.model, settings)
    return ModelClient(
        name,
        _reuse_first(first, connect),
        # A model that was passed in may have its own settings.
        identity=(str(first.model.base_url or ""), repr(first.model.settings or "")),
        settings=settings,
        cache=None if settings.cache is None else AnswerCache(settings.cache),
    )


def _reuse_first(
    first: ModelConnection, connect: Callable[[], ModelConnection]
) -> Callable[[], ModelConnection]:
    """Return a factory that yields `first`, which was opened to check it, and then new ones."""
    ready = [first]
    return lambda: ready.pop() if ready else connect()


class _ConnectionFactory:
    """Creates a provider's client; called once for every event loop."""

    def __init__(self, name: str, base_url: str | None) -> None:
        provider, colon, model = name.partition(":")
        if not (provider and colon and model):
            raise UnknownName(
                f"`{name}` is not a valid model name.",
                advice="Include the provider, such as openai:NAME or anthropic:NAME.",
            )
        self._name = name
        self._provider = _PROVIDER_ALIASES.get(provider, provider)
        if base_url is not None and self._provider == "openai":
            self._provider = "openai-chat"
        if base_url is None and self._provider == "ollama":
            base_url = _OLLAMA_URL
        if base_url is not None and self._provider == "anthropic":
            base_url = base_url.rstrip("/").removesuffix("/v1")  # its client adds /v1 itself
        self._model = model
        self._base_url = base_url

    def __call__(self) -> ModelConnection:
        from pydantic_ai.exceptions import UserError  # noqa: PLC0415
        from pydantic_ai.models import infer_model  # noqa: PLC0415

        from planproof.llm.http_connections import ModelConnection  # noqa: PLC0415

        opened: list[AsyncClient] = []
        try:
            model = infer_model(
                f"{self._provider}:{self._model}",
                provider_factory=lambda provider: self._create_provider(provider, opened),
            )
        except UserError as error:
            raise InvalidConfiguration(
                f"can't be opened: {error}", where=self._name, advice=None
            ) from error
        except ImportError as error:
            extra = self._provider if self._provider in {"bedrock", "google"} else "llm"
            raise _make_missing_package_error(extra, error) from error
        return ModelConnection(model, opened[0] if opened else None)

    def _create_provider(self, provider: str, opened: list[AsyncClient]) -> Provider[Any]:
        """Create a provider; its HTTP client, if it takes one from here, is added to `opened`."""
        from pydantic_ai.providers import infer_provider_class  # noqa: PLC0415

        from planproof.llm.http_connections import create_http_client  # noqa: PLC0415

        try:
            kind = infer_provider_class(provider)
        except ValueError as error:
            raise UnknownName(
                f"unknown provider `{self._name.partition(':')[0]}`.",
                advice="Providers include openai, anthropic, google-gla, bedrock and ollama. For "
                "an OpenAI-compatible server, use openai:NAME with --base-url.",
            ) from error
        parameters = inspect.signature(kind.__init__).parameters
        arguments: dict[str, Any] = {}
        if self._base_url is not None:
            if "base_url" not in parameters:
                raise InvalidConfiguration(
                    "does not accept a base URL.", where=self._name, advice="Remove --base-url."
                )
            arguments["base_url"] = self._base_url
        # planproof retries and counts attempts itself, so the clients must not retry.
        if provider == "bedrock":
            return cast("Any", kind)(bedrock_client=_create_bedrock_client(self._base_url))
        http_type = parameters["http_client"].annotation if "http_client" in parameters else ""
        if http_type and _OTHER_HTTP_CLIENT not in str(http_type):
            opened.append(create_http_client())
            arguments["http_client"] = opened[0]
        created = kind(**arguments)
        if hasattr(created.client, "max_retries"):
            created.client.max_retries = 0
        return created


def _create_bedrock_client(base_url: str | None) -> Any:
    """Create a Bedrock client without retries; keys and region come from the usual AWS sources."""
    amazon: Any = import_module("boto3")  # untyped; heavy, and an extra
    config: Any = import_module("botocore.config")
    failed: type[Exception] = import_module("botocore.exceptions").BotoCoreError
    once = config.Config(retries={"total_max_attempts": 1}, read_timeout=_READ_TIMEOUT)
    try:
        return amazon.client("bedrock-runtime", endpoint_url=base_url, config=once)
    except failed as error:
        raise InvalidConfiguration(f"can't be opened: {error}", where="bedrock") from error


def _check_price(name: str, model: ProviderModel, settings: ModelSettings) -> None:
    from planproof.llm.prices import estimate_cost  # noqa: PLC0415

    if settings.spending.limit is not None and estimate_cost(model, 1_000) is None:
        raise InvalidConfiguration(
            "its price is unknown, so a cost limit can't be enforced.",
            where=name,
            advice="Remove --max-cost, or use a model that is on the price list.",
        )


def _make_missing_package_error(extra: str, error: ImportError) -> InvalidConfiguration:
    return InvalidConfiguration(
        f"a package needed for models is not installed: {error}.",
        advice=f'Install it with pip install "planproof[{extra}]".',
    )
