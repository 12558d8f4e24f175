"""Fences around the text of a case, with a mark that nothing inside can contain.

The mark is a digest of the whole case. Whoever writes into a trace would have to write the digest
of what he writes, so he can't know it; and the same case has the same mark, so that an answer can
be found again in the cache.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

from planproof.content import Content
from planproof.plan import Plan
from planproof.trace import Trace

_DIGITS = 20


class _Digest(Protocol):
    def update(self, data: bytes, /) -> object: ...


def mark_of(task: Content, plan: Plan, trace: Trace) -> str:
    """The mark of a case: digits that follow from all of it."""
    digest = sha256()
    for text in (task.text, *(step.text for step in plan.steps)):
        _take_in(digest, text)
    for event in trace.events:
        _take_in(digest, event.id, event.name or "", event.actor or "", event.text, event.output)
        if event.arguments is not None:
            _take_in(digest, repr(event.arguments))
    return digest.hexdigest()[:_DIGITS]


def fenced(name: str, text: str, mark: str) -> str:
    """The text between two lines that name it and bear the mark."""
    return f"[begin {name} {mark}]\n{text}\n[end {name} {mark}]"


def _take_in(digest: _Digest, *texts: str) -> None:
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
