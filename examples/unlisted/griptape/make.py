"""Griptape: the events of a run, one to a line, as an event listener receives them.

Events of prompts are left out: each repeats the whole conversation.
"""

from __future__ import annotations

from desk_agent import DESK_TURNS, make_agent
from griptape.events import (
    EventBus,
    EventListener,
    FinishActionsSubtaskEvent,
    FinishTaskEvent,
    StartActionsSubtaskEvent,
    StartTaskEvent,
)
from normalization import normalize_trace
from order_desk import TASK
from scripted_model import scripted
from writing import write_trace

KINDS = [StartTaskEvent, StartActionsSubtaskEvent, FinishActionsSubtaskEvent, FinishTaskEvent]


def main() -> None:
    events = []
    listener = EventListener(lambda event: events.append(event.to_dict()), event_types=KINDS)
    EventBus.add_event_listener(listener)
    with scripted(*DESK_TURNS) as url:
        make_agent(url).run(TASK)
    trace = normalize_trace(events, ids=r"\b[0-9a-f]{32}\b", seconds=("timestamp",))
    write_trace(__file__, trace, name="trace.jsonl")


if __name__ == "__main__":
    main()
