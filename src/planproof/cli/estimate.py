"""What a run would ask of a model, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from planproof.core.judge import AnyJudge, ModelJudge
    from planproof.preparation import Reading
    from planproof.readers.decoding.case_files import CaseLine

_CHARACTERS_A_TOKEN = 4


@dataclass(slots=True)
class Estimate:
    """Counts questions and their length; `settled` are cases about which nothing is asked."""

    cases: int = 0
    calls: int = 0
    characters: int = 0
    settled: int = 0
    unread: int = 0

    def add(self, line: CaseLine, judge: AnyJudge, reading: Reading) -> None:
        """Count what would be asked about one case."""
        from planproof.core.verdict import Verdict
        from planproof.errors import PlanproofError
        from planproof.llm.prompting.show_question import characters
        from planproof.preparation import prepared, questions_of

        self.cases += 1
        try:
            if line.case is None:
                self.unread += 1
                return
            ready = prepared(line.case, judge, reading)
            if isinstance(ready, Verdict):
                self.unread += 1
                return
            questions = questions_of(ready, cast("ModelJudge", judge))
        except PlanproofError:
            self.unread += 1
            return
        self.settled += not questions
        self.calls += len(questions)
        self.characters += sum(map(characters, questions))

    def lines(self) -> Iterator[str]:
        """The estimate, for people."""
        tokens = self.characters // _CHARACTERS_A_TOKEN
        yield f"{self.cases:,} cases, {self.calls:,} calls"
        yield f"{self.characters:,} characters, about {tokens:,} tokens in"
        if self.settled:
            yield f"{self.settled:,} cases are settled without asking"
        if self.unread:
            yield f"{self.unread:,} cases can't be judged"
