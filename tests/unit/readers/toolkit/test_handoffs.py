from __future__ import annotations

import pytest

from planproof.core.content import Json
from planproof.core.trace import Kind
from planproof.readers.toolkit.handoffs import Handoffs, get_receiver
from planproof.readers.toolkit.trace_builder import EventDraft


def call(actor: str, name: str, arguments: Json = None) -> EventDraft:
    return EventDraft(Kind.ACTION, "", name, actor, arguments=arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "receiver"),
    [
        ("transfer_to_flight_agent", {}, "flight_agent"),
        ("transfer_to_agent", {"agent_name": "weather"}, "weather"),
        ("transfer_to_agent", {}, None),
        ("transfer_back_to_supervisor", None, "supervisor"),
        ("delegate_to_coder", None, "coder"),
        ("transfer_money", {"to": "Ana"}, None),
        ("book", None, None),
    ],
)
def test_who_is_handed_over_to(name: str, arguments: Json, receiver: str | None) -> None:
    assert get_receiver(call("a", name, arguments)) == receiver


def test_agents_have_the_call_that_started_them() -> None:
    handoffs = Handoffs()
    assert handoffs.find_parent_call("Root") is None
    first = call("Root", "transfer_to_flight_desk")
    assert handoffs.record_handoff(first)
    assert handoffs.find_parent_call("Flight desk") is first
    deeper = call("Flight desk", "transfer_to_seats")
    handoffs.record_handoff(deeper)
    assert handoffs.find_parent_call("seats") is deeper
    handoffs.record_handoff(call("seats", "transfer_back_to_flight_desk"))
    handoffs.record_handoff(call("seats", "transfer_back_to_root"))
    assert (handoffs.find_parent_call("flight_desk"), handoffs.find_parent_call("root")) == (
        first,
        None,
    )
    again = call("Root", "transfer_to_flight_desk")
    handoffs.record_handoff(again)
    assert handoffs.find_parent_call("Flight desk") is again
    assert not handoffs.record_handoff(call("Root", "book"))
