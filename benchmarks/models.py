"""`make bench-models`: wall time of judges that call a model, against a bare client.

200 cases of 50 events are judged concurrently, with a server that answers after 200 ms. The bare
client sends the requests of `prompt` with the same schema; they are rendered before the
measurement.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from openai import AsyncOpenAI

from benchmarks import peer_judges
from benchmarks.cases import GeneratedCase, generate_case
from benchmarks.measure import BenchmarkRow, print_rows
from planproof import Verdict, aevaluate, evaluate
from planproof.core.judge import ModelJudge, ModelOptions
from planproof.core.model import Answer, Question, Usage
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.model_settings import ModelSettings
from planproof.llm.prompt import Prompt
from planproof.llm.providers import open_model

BUDGETS = {"prompt": 1.3, "audit": 1.6}
CASES = 200
STEPS = 10
LATENCY = 0.2
ROUNDS = 10
TASK_PREFIX = "Bring the quarter to a close: "
KEY_LENGTH = 60
SCORE_ANSWER = json.dumps({"score": 1.0, "reason": "Steps 1 to 10 were executed in order."})
# For requests in another form: those of the peer tools, and about the plan alone.
FALLBACK_ANSWER = json.dumps(
    {
        "task": "x",
        "plan": ["1. x"],
        "score": 1.0,
        "reason": "x",
        "reasoning": "x",
        "kinds": [{"step": str(number), "kind": ["act"]} for number in range(1, STEPS + 1)],
    }
)

AsyncWork = Callable[[], Awaitable[None]]


def main() -> int:
    """Print every row; return 1 if a budget is exceeded, else 0."""
    cases = [generate_case(steps=STEPS, events=50, seed=seed) for seed in range(CASES)]
    with run_scripted_model(cases) as address:
        times = asyncio.run(measure_judges(cases, address))
        times |= peer_judges.measure_peers(cases, address)
    floor = times.pop("bare client")
    rows = [
        BenchmarkRow(
            f"{name}, {CASES} cases at once / bare client",
            f"{seconds:.2f} s",
            f"{floor:.2f} s",
            seconds / floor,
            BUDGETS.get(name),
        )
        for name, seconds in times.items()
    ]
    print_rows(rows)
    return 0 if all(row.is_within_budget for row in rows) else 1


async def measure_judges(cases: list[GeneratedCase], address: str) -> dict[str, float]:
    """Return the best wall time of each judge; rounds alternate, so noise affects all alike."""
    model = open_model(
        "openai:scripted",
        base_url=f"{address}/v1",
        settings=ModelSettings(concurrency=CASES),
    )
    judges: dict[str, ModelJudge] = {
        "prompt": Prompt(model=model, options=ModelOptions()),
        "audit": Audit(model=model, options=ModelOptions(), vocabulary=Vocabulary()),
    }
    async with AsyncOpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        questions = await collect_questions(cases)
        works: dict[str, AsyncWork] = {"bare client": lambda: ask_bare_client(questions, client)}
        works |= {
            name: lambda judge=judge: judge_all(cases, judge) for name, judge in judges.items()
        }
        best = dict.fromkeys(works, float("inf"))
        for judge in judges.values():
            await judge_all(cases, judge, max_calls=2)  # what is asked once for each plan
        for _ in range(ROUNDS):
            for name, work in works.items():
                gc.collect()  # so that no measurement pays for garbage of the last one
                began = perf_counter()
                await work()
                best[name] = min(best[name], perf_counter() - began)
    return best


async def ask_bare_client(questions: list[Question], client: AsyncOpenAI) -> None:
    """Send the questions with a bare client, and parse the answers as JSON."""

    async def ask_question(question: Question) -> None:
        text = "\n".join(part for part in question.parts if isinstance(part, str))
        schema = question.answer.model_json_schema()
        completion = await client.chat.completions.create(
            model="scripted",
            temperature=0,
            messages=[
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": text},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "Answer", "schema": schema, "strict": True},
            },
        )
        assert "score" in json.loads(completion.choices[0].message.content or "")

    await asyncio.gather(*map(ask_question, questions))


class RecordingModel:
    """A model that records the questions it is asked."""

    name = fingerprint = "kept"

    def __init__(self) -> None:
        self.questions: list[Question] = []

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        self.questions.append(question)
        return Answer(question.answer.model_validate_json(SCORE_ANSWER), Usage(calls=1), self.name)


async def collect_questions(cases: list[GeneratedCase]) -> list[Question]:
    """Return the questions that `prompt` asks about the cases."""
    recording_model = RecordingModel()
    await judge_all(cases, Prompt(model=recording_model, options=ModelOptions()))
    return recording_model.questions


async def judge_all(cases: list[GeneratedCase], judge: ModelJudge, *, max_calls: int = 1) -> None:
    """Judge every case, from raw text to verdict."""

    async def judge_case(case: GeneratedCase) -> Verdict:
        return await aevaluate(task=case.task, plan=case.plan, trace=case.trace, judge=judge)

    for verdict in await asyncio.gather(*map(judge_case, cases)):
        if verdict.score is None or (verdict.cost and verdict.cost.calls > max_calls):
            raise RuntimeError(f"a case took other than {max_calls} calls: {verdict.reason}")


@contextmanager
def run_scripted_model(cases: list[GeneratedCase]) -> Generator[str, None, None]:
    """Run a scripted model with a good answer for each case; yield its address."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "book.json"
        file.write_text(json.dumps(build_answer_book(cases)), encoding="utf-8")
        command = [sys.executable, "-m", "tests.scripted_model", str(LATENCY), str(file)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.communicate()


def build_answer_book(cases: list[GeneratedCase]) -> dict[str, Any]:
    """Return a good answer for each case and judge: the findings of `rules`."""
    book: dict[str, Any] = {
        "mark": TASK_PREFIX,
        "letters": KEY_LENGTH,
        "else": FALLBACK_ANSWER,
        # A question about a plan does not show the task.
        "answers": {"": {"kinds": json.dumps({"kinds": []})}},
    }
    for case in cases:
        key = case.task.removeprefix(TASK_PREFIX)[:KEY_LENGTH]
        verdict = evaluate(task=case.task, plan=case.plan, trace=case.trace)
        book["answers"][key] = {
            "reason+score": json.dumps(verdict.brief()),
            "extras+steps": json.dumps(build_audit_answer(verdict)),
        }
    return book


def build_audit_answer(verdict: Verdict) -> dict[str, Any]:
    """Return the findings of `rules` as an answer to `audit`."""
    return {
        "steps": [
            {
                "step": step.number,
                "status": step.status.value if step.status.value != "out_of_order" else "executed",
                "evidence": [
                    {"event": evidence.event, "quote": evidence.quote} for evidence in step.evidence
                ],
                "events": list(step.covers),
            }
            for step in verdict.steps
        ],
        "extras": [
            {"events": [extra.event], "severity": extra.severity.value, "quote": extra.quote}
            for extra in verdict.extras
        ],
    }


if __name__ == "__main__":
    os.environ["OPENAI_API_KEY"] = "none"  # no real key is sent
    sys.exit(main())
