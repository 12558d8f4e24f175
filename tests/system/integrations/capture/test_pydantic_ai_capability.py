"""The capability inside a real agent of Pydantic AI, whose model reads from a script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from examples.scripted_model import MODEL, scripted
from planproof.core.content import Json
from planproof.integrations.capture import Recorder
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.capture_tests import Accounts, CaptureTests, make_turns, run_block
from tests.frameworks.refunds import Call


class TestPydanticAI(CaptureTests):
    def captured(
        self, calls: Sequence[Call], accounts: Accounts, folder: Path
    ) -> tuple[Recorder, Json]:
        runs: list[Any] = []

        class Observed(Agent[None, str]):
            def run_sync(self, *args: Any, **kwargs: Any) -> Any:
                runs.append(super().run_sync(*args, **kwargs))

        with scripted(*make_turns(calls)) as url:
            model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="none"))
            names = {"Agent": Observed, "model": model, "tools": accounts.tools}
            recorder = run_block(find_blocks_for(__file__), folder, **names)
        return recorder, json.loads(runs[0].all_messages_json())
