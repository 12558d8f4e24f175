"""Judges by name."""

from __future__ import annotations

from planproof import extensions
from planproof.judges.protocol import Judge, MakesJudge
from planproof.vocabulary import Vocabulary

DEFAULT = "rules"


def find_judge(name: str = DEFAULT, *, vocabulary: Vocabulary | None = None) -> Judge:
    """The judge that is registered under this name."""
    make: MakesJudge = extensions.load("judges", name)
    return make(vocabulary=vocabulary or Vocabulary())
