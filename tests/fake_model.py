"""A model that answers what it was told to, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planproof.core.model import Answer, Question
from planproof.core.usage import Usage
from planproof.llm.audit.step_kinds import KindsAnswer
from planproof.llm.audit.step_values import EquationsAnswer

_MAX_PAIRS = 40


class FakeModel:
    """Answers are JSON values in the form that the question asks for, one after another.

    The other questions of `audit` are answered and kept apart: the kinds of steps (`kinds`, or as
    the first answer says under "kind", which is no part of an answer) and whether words mean the
    same (`same`: the pairs that do; all of them if it is None).
    """

    def __init__(
        self,
        *answers: dict[str, Any],
        name: str = "fake:model",
        kinds: Mapping[str, Sequence[str]] | None = None,
        same: Sequence[int] | None = None,
    ) -> None:
        self.name = name
        self.questions: list[Question] = []
        self.plan_questions: list[Question] = []
        self.word_questions: list[Question] = []
        self._answers = list(answers)
        self._kinds = kinds
        self._same = same

    @property
    def fingerprint(self) -> str:
        return self.name

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        assert deadline > 0
        if question.answer is KindsAnswer:
            self.plan_questions.append(question)
            value = {"kinds": self._list_kinds()}
        elif question.answer is EquationsAnswer:
            self.word_questions.append(question)
            same = range(1, _MAX_PAIRS + 1) if self._same is None else self._same
            value = {"pairs": [{"pair": number, "same": True} for number in same]}
        else:
            self.questions.append(question)
            value = self._answers[min(len(self.questions), len(self._answers)) - 1]
        return Answer(
            question.answer.model_validate(value), Usage(calls=1, tokens_in=10), self.name
        )

    def _list_kinds(self) -> list[dict[str, Any]]:
        if self._kinds is not None:
            return [{"step": step, "kind": [*kind]} for step, kind in self._kinds.items()]
        said: list[dict[str, Any]] = self._answers[0].get("steps", []) if self._answers else []
        return [{"step": step["step"], "kind": step.get("kind", ["act"])} for step in said]
