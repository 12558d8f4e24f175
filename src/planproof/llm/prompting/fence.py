"""Fences around the text of a case, with a mark that nothing inside can contain.

The mark is a digest of the whole case. Whoever writes into a trace would have to write the digest
of what he writes, so he can't know it; and the same case has the same mark, so that an answer can
be found again in the cache.
"""

from __future__ import annotations

from hashlib import sha256

from planproof.core.content import Content
from planproof.core.plan import Plan
from planproof.core.trace import Trace

_DIGITS = 20


def compute_mark(task: Content, plan: Plan, trace: Trace) -> str:
    """The mark of a case: digits that follow from all of it."""
    texts = [task.text]
    for step in plan.steps:
        texts += (step.number, step.text)
    for event in trace.events:
        texts += (event.id, event.name or "", event.actor or "", event.text, event.output)
        if event.arguments is not None:
            texts.append(repr(event.arguments))
    texts.append("")
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def wrap_in_fence(name: str, text: str, mark: str) -> str:
    """The text between two lines that name it and bear the mark."""
    return f"[begin {name} {mark}]\n{text}\n[end {name} {mark}]"
