"""Measure the tokens that `cascade` saves against `audit`, and how far `audit` follows a bad model.

The real client sends real questions to the scripted server, which counts the tokens. It answers
what the rules find, so the figures do not depend on the quality of a model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from planproof.core.content import Content
from planproof.core.judge import Judgement, ModelOptions
from planproof.core.model import Answer, Model, Question
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.cascade import Cascade
from planproof.llm.model_settings import ModelSettings
from planproof.llm.providers import open_model
from planproof.scoring import compute_score
from scripts.bench import LabelledCase
from tests import audit_models
from tests.audit_models import make_model
from tests.scripted_model import ModelRequest, ScriptedModel

_SAMPLE_EVERY = 5
"""Every fifth case is sampled; 14 belong together, so every kind is represented."""
_MODEL_BEHAVIOURS: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = (
    audit_models.honest,
    audit_models.inventing,
    audit_models.believing,
    audit_models.misnaming,
    audit_models.overlooking,
    audit_models.citing_anything,
)
_PASSING_SCORE = 0.75
_CLEAN_KINDS = ("faithful", "paraphrase")


class _CachingModel:
    """A model that sends each question once, and gives every judge the same answer."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._answers: dict[Question, Answer] = {}
        self.name, self.fingerprint = model.name, model.fingerprint

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        if question not in self._answers:
            self._answers[question] = await self._model.ask(question, deadline=deadline)
        return self._answers[question]


def measure_saved_tokens(
    cases: Iterable[LabelledCase], doubts: Iterable[float]
) -> dict[str, float]:
    """Return the share of `audit`'s tokens that `cascade` saves, by level of doubt."""
    levels = tuple(doubts)
    sampled = list(cases)[::_SAMPLE_EVERY]
    tokens_by_level = dict.fromkeys((None, *levels), 0)
    with ScriptedModel(partial(_answer_honestly, {})) as server:
        model = open_model("openai:x", base_url=server.url, settings=ModelSettings())

        async def judge_all() -> None:
            for case in sampled:
                server.behaviour = partial(_answer_honestly, case.record)
                caching_model = _CachingModel(model)
                for level in tokens_by_level:
                    tokens_by_level[level] += _count_tokens(
                        await _judge_case(caching_model, case, level)
                    )

        asyncio.run(judge_all())
    return {f"{level:.2f}": 1 - tokens_by_level[level] / tokens_by_level[None] for level in levels}


def _answer_honestly(case: dict[str, Any], asked: ModelRequest) -> str:
    return audit_models.answer_audit(asked, case, audit_models.honest)


async def _judge_case(model: Model, case: LabelledCase, doubt: float | None) -> Judgement:
    model_options = ModelOptions() if doubt is None else ModelOptions(doubt=doubt)
    kind = Audit if doubt is None else Cascade
    judge = kind(Vocabulary(), model, model_options)
    return await judge.judge(Content(case.record["user_task"] or ""), case.plan, case.trace)


def _count_tokens(judgement: Judgement) -> int:
    return judgement.usage.tokens_in + judgement.usage.tokens_out


def measure_by_behaviour(cases: Iterable[LabelledCase]) -> dict[str, dict[str, float]]:
    """Return the pass rates of followed and flawed cases with `audit`, by model behaviour."""
    sampled = [case for case in cases if case.kind is not None][::_SAMPLE_EVERY]
    figures: dict[str, dict[str, float]] = {}
    for behaviour in _MODEL_BEHAVIOURS:
        passed: dict[bool, list[bool]] = {True: [], False: []}
        scores: list[float] = []
        for case in sampled:
            model = make_model(behaviour, case.record)
            findings = asyncio.run(_judge_case(model, case, None)).findings
            assert findings is not None
            scores.append(compute_score(findings))
            passed[case.kind in _CLEAN_KINDS].append(scores[-1] >= _PASSING_SCORE)
        figures[behaviour.__name__] = {
            "cases": len(sampled),
            "clean passed": _compute_share(passed[True]),
            "flawed passed": _compute_share(passed[False]),
            "mean score": sum(scores) / len(scores),
        }
    return figures


def _compute_share(hits: list[bool]) -> float:
    return sum(hits) / len(hits) if hits else float("nan")
