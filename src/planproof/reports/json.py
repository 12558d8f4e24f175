"""A verdict as JSON: the two fields of the specification, or all that they rest on.

Nothing is masked here: quotes must stay what the trace says, or nobody could verify them.
"""

from __future__ import annotations

import json

from planproof.core.verdict import Verdict

# ASCII only: every byte can be shown on every terminal, and lone surrogates can be written.


def to_brief_json(verdict: Verdict) -> str:
    """Exactly `{"score": ..., "reason": ...}`."""
    return json.dumps(verdict.brief())


def to_full_json(verdict: Verdict) -> str:
    """The whole verdict, indented for reading."""
    return json.dumps(verdict.full(), indent=2)


def to_json_line(verdict: Verdict) -> str:
    """The whole verdict on one line, for a file of many."""
    return json.dumps(verdict.full(), separators=(",", ":"))
