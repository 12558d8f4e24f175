"""How the cases of a run are judged, whichever engine does it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path

from planproof import extensions
from planproof.core.judge import AnyJudge
from planproof.core.limits import Limits
from planproof.core.plan import InForce
from planproof.core.verdict import Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.evaluation import (
    ReadOptions,
    aevaluate_case,
    check_in_force,
    evaluate_case,
    invalid_input_verdict,
)
from planproof.readers.decoding.case_files import CaseLine

# What shows and keeps verdicts has no part in them.
_EXCLUDED_PACKAGES = frozenset({"cli", "integrations", "reports", "runs", "server"})


@dataclass(frozen=True, slots=True)
class CaseEvaluator:
    """A judge, and how the cases are read for it."""

    judge: AnyJudge
    reader: str | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    limits: Limits = field(default_factory=Limits)
    plan_in_force: InForce = "first"

    def __post_init__(self) -> None:
        check_in_force(self.plan_in_force, self.judge)

    def evaluate(self, line: CaseLine) -> Verdict:
        """The verdict on a case; where there is none to be read, that is the verdict."""
        if line.case is None:
            return _make_unread_verdict(line)
        return evaluate_case(line.case, judge=self.judge, options=self._read_options(line.where))

    async def aevaluate(self, line: CaseLine) -> Verdict:
        """The same of a judge that asks a model."""
        if line.case is None:
            return _make_unread_verdict(line)
        return await aevaluate_case(
            line.case, judge=self.judge, options=self._read_options(line.where)
        )

    def _read_options(self, where: str) -> ReadOptions:
        return ReadOptions(self.reader, self.vocabulary, self.limits, where, self.plan_in_force)

    @property
    def fingerprint(self) -> str:
        """Changes with everything that a verdict rests on besides the case."""
        readers = [
            extensions.find_package("readers", name) for name in extensions.list_names("readers")
        ]
        parts = [
            self.judge.name,
            self.judge.fingerprint,
            self.reader,
            self.plan_in_force,
            asdict(self.limits),
            [package for package in readers if package is not None],
            _hash_program(),
        ]
        return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _make_unread_verdict(line: CaseLine) -> Verdict:
    assert line.error is not None
    return invalid_input_verdict(line.error, id=line.id)


@cache
def _hash_program() -> str:
    """A digest of the program itself: a reader or a judge that was changed may answer otherwise."""
    root = Path(__file__).parents[2]
    digest = sha256()
    for path in sorted(root.rglob("*")):
        relative_path = path.relative_to(root)
        if (
            path.is_file()
            and relative_path.parts[0] not in _EXCLUDED_PACKAGES
            and "__pycache__" not in relative_path.parts
        ):
            digest.update(f"{relative_path.as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
