"""What a run would ask of a model, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from planproof.core.judge import AnyJudge, ModelJudge
    from planproof.preparation import ReadOptions
    from planproof.readers.decoding.case_files import CaseLine

_CHARACTERS_A_TOKEN = 4


@dataclass(slots=True)
class Estimate:
    """Counts questions and their length; `settled` are cases about which nothing is asked."""

    cases: int = 0
    calls: int = 0
    characters: int = 0
    without_questions: int = 0
    unreadable: int = 0

    def add_case(self, line: CaseLine, judge: AnyJudge, reading: ReadOptions) -> None:
        """Count what would be asked about one case."""
        from planproof.core.verdict import Verdict
        from planproof.errors import PlanproofError
        from planproof.llm.prompting.show_question import count_characters
        from planproof.preparation import build_questions, load_case

        self.cases += 1
        try:
            if line.case is None:
                self.unreadable += 1
                return
            loaded = load_case(line.case, judge, reading)
            if isinstance(loaded, Verdict):
                self.unreadable += 1
                return
            questions = build_questions(loaded, cast("ModelJudge", judge))
        except PlanproofError:
            self.unreadable += 1
            return
        self.without_questions += not questions
        self.calls += len(questions)
        self.characters += sum(map(count_characters, questions))

    def format_lines(self) -> Iterator[str]:
        """The estimate, for people."""
        tokens = self.characters // _CHARACTERS_A_TOKEN
        yield f"{self.cases:,} cases, {self.calls:,} calls"
        yield f"{self.characters:,} characters, about {tokens:,} tokens in"
        if self.without_questions:
            yield f"{self.without_questions:,} cases are settled without asking"
        if self.unreadable:
            yield f"{self.unreadable:,} cases can't be judged"
