"""Evaluate the cases of a run, independent of the engine."""

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
from planproof.readers.profile_reader import ProfileReader

# Packages that only show and store verdicts do not affect them.
_EXCLUDED_PACKAGES = frozenset({"cli", "integrations", "reports", "runs", "server"})


@dataclass(frozen=True, slots=True)
class CaseEvaluator:
    """A judge and the read options for its cases."""

    judge: AnyJudge
    reader: str | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    limits: Limits = field(default_factory=Limits)
    plan_in_force: InForce = "first"
    profiles: tuple[ProfileReader, ...] = ()

    def __post_init__(self) -> None:
        check_in_force(self.plan_in_force, self.judge)

    def evaluate(self, line: CaseLine) -> Verdict:
        """Return the verdict on a case; an unreadable case gets a verdict as well."""
        if line.case is None:
            return _make_unread_verdict(line)
        return evaluate_case(
            line.case, judge=self.judge, options=self.make_read_options(line.where)
        )

    async def aevaluate(self, line: CaseLine) -> Verdict:
        """Return the verdict on a case by a judge that asks a model."""
        if line.case is None:
            return _make_unread_verdict(line)
        return await aevaluate_case(
            line.case, judge=self.judge, options=self.make_read_options(line.where)
        )

    def make_read_options(self, where: str | None = None) -> ReadOptions:
        """Return the options for reading a case; `where` is its position in a data set."""
        return ReadOptions(
            self.reader, self.vocabulary, self.limits, where, self.plan_in_force, self.profiles
        )

    @property
    def fingerprint(self) -> str:
        """A hash of everything other than the case that a verdict depends on."""
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
            [reader.digest for reader in self.profiles],
            _hash_program(),
        ]
        return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _make_unread_verdict(line: CaseLine) -> Verdict:
    assert line.error is not None
    return invalid_input_verdict(line.error, id=line.id)


@cache
def _hash_program() -> str:
    """Return a hash of the program: a changed reader or judge may give other verdicts."""
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
