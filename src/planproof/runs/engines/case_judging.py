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
from planproof.evaluation import aevaluate_case, check_in_force, evaluate_case, invalid
from planproof.preparation import Reading
from planproof.readers.decoding.case_files import CaseLine

# What shows and keeps verdicts has no part in them.
_NO_PART = frozenset({"cli", "integrations", "reports", "runs", "server"})


@dataclass(frozen=True, slots=True)
class Judging:
    """A judge, and how the cases are read for it."""

    judge: AnyJudge
    reader: str | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    limits: Limits = field(default_factory=Limits)
    plan_in_force: InForce = "first"

    def __post_init__(self) -> None:
        check_in_force(self.plan_in_force, self.judge)

    def verdict(self, line: CaseLine) -> Verdict:
        """The verdict on a case; where there is none to be read, that is the verdict."""
        if line.case is None:
            return _unread(line)
        return evaluate_case(line.case, judge=self.judge, reading=self._reading(line.where))

    async def awaited_verdict(self, line: CaseLine) -> Verdict:
        """The same of a judge that asks a model."""
        if line.case is None:
            return _unread(line)
        return await aevaluate_case(line.case, judge=self.judge, reading=self._reading(line.where))

    def _reading(self, where: str) -> Reading:
        return Reading(self.reader, self.vocabulary, self.limits, where, self.plan_in_force)

    @property
    def fingerprint(self) -> str:
        """Changes with everything that a verdict rests on besides the case."""
        readers = [
            extensions.package_of("readers", name) for name in extensions.registered("readers")
        ]
        parts = [
            self.judge.name,
            self.judge.fingerprint,
            self.reader,
            self.plan_in_force,
            asdict(self.limits),
            [package for package in readers if package is not None],
            _program(),
        ]
        return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _unread(line: CaseLine) -> Verdict:
    assert line.error is not None
    return invalid(line.error, id=line.id)


@cache
def _program() -> str:
    """A digest of the program itself: a reader or a judge that was changed may answer otherwise."""
    root = Path(__file__).parents[2]
    digest = sha256()
    for path in sorted(root.rglob("*")):
        place = path.relative_to(root)
        if path.is_file() and place.parts[0] not in _NO_PART and "__pycache__" not in place.parts:
            digest.update(f"{place.as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
