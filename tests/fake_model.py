"""A model that answers what it was told to, and keeps what it was asked."""

from __future__ import annotations

from typing import Any

from planproof.core.model import Answer, Question
from planproof.core.usage import Usage


class FakeModel:
    """Answers are JSON values in the form that the question asks for, one after another."""

    def __init__(self, *answers: dict[str, Any], name: str = "fake:model") -> None:
        self.name = name
        self.questions: list[Question] = []
        self._answers = list(answers)

    @property
    def fingerprint(self) -> str:
        return self.name

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        assert deadline > 0
        self.questions.append(question)
        value = self._answers[min(len(self.questions), len(self._answers)) - 1]
        return Answer(
            question.answer.model_validate(value), Usage(calls=1, tokens_in=10), self.name
        )
