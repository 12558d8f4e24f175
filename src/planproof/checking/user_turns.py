"""Where the user spoke in the middle of a run."""

from __future__ import annotations

from planproof.core.trace import Kind, Trace

_ACTS = frozenset({Kind.ACTION, Kind.MESSAGE})


def find_replies_to_user(trace: Trace) -> dict[str, str]:
    """What the agent did or said right after the user spoke -> the event of the user.

    Calls and words of one turn answer together. What began the run is nothing to note.
    """
    user_event_by_reply: dict[str, str] = {}
    has_started = False
    speaker, turn = None, None
    for event in trace.events:
        if event.actor == "user":
            speaker, turn = (event.id if has_started else None), None
        elif event.kind in _ACTS:
            has_started = True
            turn = event.turn if turn is None else turn
            if speaker is not None and event.turn == turn:
                user_event_by_reply[event.id] = speaker
            if event.turn != turn or not turn:
                speaker = None
    return user_event_by_reply
