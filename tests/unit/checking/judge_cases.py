"""Units and demands for the tests of the judge, from hand-written events and steps."""

from __future__ import annotations

from planproof.checking.candidates import Candidate, build_candidates
from planproof.checking.requirements import Requirement, compile_steps
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.trace_builders import Event, trace


def read(*events: Event | tuple[Event, ...]) -> Trace:
    return read_trace(Source.from_value(trace(*events)))


def make_candidates(*events: Event | tuple[Event, ...]) -> list[Candidate]:
    return build_candidates(read(*events), Vocabulary())


def make_requirement(step: str) -> Requirement:
    return compile_steps(parse_plan([step]), Vocabulary())[0]
