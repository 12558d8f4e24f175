"""Fences around the text of a case, with a mark that nothing inside can contain.

The mark is a digest of the whole case. Whoever writes into a trace would have to write the digest
of what he writes, so he can't know it; and the same case has the same mark, so that an answer can
be found again in the cache.
"""

from __future__ import annotations

from hashlib import sha256

from planproof.content import Content
from planproof.plan import Plan
from planproof.trace import Trace

_DIGITS = 20


def mark_of(task: Content, plan: Plan, trace: Trace) -> str:
    """The mark of a case: digits that follow from all of it."""
    planned = (part for step in plan.steps for part in (step.number, step.text))
    digest = sha256(_bytes(task.text, *planned))
    for event in trace.events:
        given = () if event.arguments is None else (repr(event.arguments),)
        name, actor = event.name or "", event.actor or ""
        digest.update(_bytes(event.id, name, actor, event.text, event.output, *given))
    return digest.hexdigest()[:_DIGITS]


def fenced(name: str, text: str, mark: str) -> str:
    """The text between two lines that name it and bear the mark."""
    return f"[begin {name} {mark}]\n{text}\n[end {name} {mark}]"


def _bytes(*texts: str) -> bytes:
    return "\0".join((*texts, "")).encode("utf-8", "surrogatepass")
