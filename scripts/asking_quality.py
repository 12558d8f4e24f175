"""What `cascade` saves against `audit`, and how far a gullible model can carry an audit.

Tokens are counted by the scripted server, to which the real client sends real questions. It answers
what the rules find, so that how right a model is plays no part in the figures.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from planproof.core.content import Content
from planproof.core.judge import Asking
from planproof.core.judgement import Judgement
from planproof.core.model import Answer, Model, Question
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.cascade import Cascade
from planproof.llm.model_settings import ModelSettings
from planproof.llm.providers import open_model
from planproof.scoring import score
from scripts.bench import Labelled
from tests import auditing_models
from tests.auditing_models import model_that_is
from tests.scripted_model import Asked, ScriptedModel

_ONE_IN = 5
"""One case of so many is asked about; 14 belong together, so every kind has its share."""
_NATURES: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = (
    auditing_models.honest,
    auditing_models.inventing,
    auditing_models.believing,
    auditing_models.misnaming,
    auditing_models.overlooking,
    auditing_models.citing_anything,
)
_PASSES = 0.75
_CLEAN = ("faithful", "paraphrase")


class _AskedOnce:
    """Asks a question once, however many judges ask it, and tells each what it took."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._answers: dict[Question, Answer] = {}
        self.name, self.fingerprint = model.name, model.fingerprint

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        if question not in self._answers:
            self._answers[question] = await self._model.ask(question, deadline=deadline)
        return self._answers[question]


def tokens_by_doubt(cases: Iterable[Labelled], doubts: Iterable[float]) -> dict[str, float]:
    """For each level of doubt the share of `audit`'s tokens that `cascade` saves."""
    levels = tuple(doubts)
    chosen = list(cases)[::_ONE_IN]
    spent = dict.fromkeys((None, *levels), 0)
    with ScriptedModel(partial(_always, "")) as server:
        model = open_model("openai:x", base_url=server.url, settings=ModelSettings())

        async def all_of_it() -> None:
            for case in chosen:
                answer = json.dumps(auditing_models.honest(case.line))
                server.behaviour = partial(_always, answer)
                once = _AskedOnce(model)
                for level in spent:
                    spent[level] += _tokens(await _judged(once, case, level))

        asyncio.run(all_of_it())
    return {f"{level:.2f}": 1 - spent[level] / spent[None] for level in levels}


def _always(answer: str, _: Asked) -> str:
    return answer


async def _judged(model: Model, case: Labelled, doubt: float | None) -> Judgement:
    asking = Asking() if doubt is None else Asking(doubt=doubt)
    kind = Audit if doubt is None else Cascade
    judge = kind(Vocabulary(), model, asking)
    return await judge.judge(Content(case.line["user_task"] or ""), case.plan, case.trace)


def _tokens(judgement: Judgement) -> int:
    return judgement.usage.tokens_in + judgement.usage.tokens_out


def by_nature(cases: Iterable[Labelled]) -> dict[str, dict[str, float]]:
    """For each nature of a model: how often an audit of it passes what was followed, and flaws."""
    chosen = [case for case in cases if case.kind is not None][::_ONE_IN]
    found: dict[str, dict[str, float]] = {}
    for nature in _NATURES:
        passed: dict[bool, list[bool]] = {True: [], False: []}
        scores: list[float] = []
        for case in chosen:
            model = model_that_is(nature, case.line)
            findings = asyncio.run(_judged(model, case, None)).findings
            assert findings is not None
            scores.append(score(findings))
            passed[case.kind in _CLEAN].append(scores[-1] >= _PASSES)
        found[nature.__name__] = {
            "cases": len(chosen),
            "clean passed": _share(passed[True]),
            "flawed passed": _share(passed[False]),
            "mean score": sum(scores) / len(scores),
        }
    return found


def _share(hits: list[bool]) -> float:
    return sum(hits) / len(hits) if hits else float("nan")
