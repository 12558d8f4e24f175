"""Units and demands for the tests of the judge, from hand-written events and steps."""

from __future__ import annotations

from planproof.checking.candidates import Unit, units_of
from planproof.checking.requirements import Demand, demands_of
from planproof.core.trace import Trace
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.hand_written import Event, trace


def read(*events: Event | tuple[Event, ...]) -> Trace:
    return read_trace(Source.of_value(trace(*events)))


def units(*events: Event | tuple[Event, ...]) -> list[Unit]:
    return units_of(read(*events), Vocabulary())


def demand(step: str) -> Demand:
    return demands_of(parse_plan([step]), Vocabulary())[0]
