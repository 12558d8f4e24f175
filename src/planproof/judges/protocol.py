"""What a judge is."""

from __future__ import annotations

from typing import Protocol

from planproof.content import Content
from planproof.finding import Findings
from planproof.plan import Plan
from planproof.trace import Trace
from planproof.vocabulary import Vocabulary


class Judge(Protocol):
    """Finds what became of each step and what was done besides; gives no score."""

    @property
    def name(self) -> str:
        """The name that it is registered under."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the judge's answers may."""
        ...

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        """Hold the trace against the plan."""
        ...


class MakesJudge(Protocol):
    """What the entry points in the group `planproof.judges` name, as a rule the judge's class."""

    def __call__(self, *, vocabulary: Vocabulary) -> Judge:
        """A judge that knows tools by this vocabulary."""
        ...
