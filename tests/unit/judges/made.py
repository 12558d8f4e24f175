"""Units and demands for the tests of the judge, from hand-written events and steps."""

from __future__ import annotations

from planproof.alignment.demands import Demand, demands_of
from planproof.alignment.units import Unit, units_of
from planproof.planning.parse import parse_plan
from planproof.readers.detect import read_trace
from planproof.readers.source import Source
from planproof.trace import Trace
from planproof.vocabulary import Vocabulary
from tests.hand_written import Event, trace


def read(*events: Event | tuple[Event, ...]) -> Trace:
    return read_trace(Source.of_value(trace(*events)))


def units(*events: Event | tuple[Event, ...]) -> list[Unit]:
    return units_of(read(*events), Vocabulary())


def demand(step: str) -> Demand:
    return demands_of(parse_plan([step]), Vocabulary())[0]
