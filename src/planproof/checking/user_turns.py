"""Where the user spoke in the middle of a run."""

from __future__ import annotations

from planproof.core.trace import Kind, Trace

_ACTS = frozenset({Kind.ACTION, Kind.MESSAGE})


def after_user(trace: Trace) -> dict[str, str]:
    """What the agent did or said right after the user spoke -> the event of the user.

    Calls and words of one turn answer together. What began the run is nothing to note.
    """
    found: dict[str, str] = {}
    begun = False
    speaker, turn = None, None
    for event in trace.events:
        if event.actor == "user":
            speaker, turn = (event.id if begun else None), None
        elif event.kind in _ACTS:
            begun = True
            turn = event.turn if turn is None else turn
            if speaker is not None and event.turn == turn:
                found[event.id] = speaker
            if event.turn != turn or not turn:
                speaker = None
    return found
