"""SHA-256 digests of tasks, plans and judges; the digest of a trace is that of its source."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256

from planproof.core.content import Content, Json
from planproof.core.plan import Plan
from planproof.errors import InvalidInput

_ENCODER = json.JSONEncoder(separators=(",", ":"))


def task_digest(task: Content) -> str:
    """Return the digest of a task's text and images."""
    images = (
        f"\0{image.media_type}\0{image.url or ''}\0{image.data or ''}" for image in task.images
    )
    return compute_digest("".join((task.text, *images)))


def plan_digest(plan: Json) -> str:
    """Return the digest of a plan as given, encoded as canonical JSON."""
    raw = asdict(plan) if isinstance(plan, Plan) else plan
    try:
        return compute_digest(_ENCODER.encode(raw))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"is not a JSON value: {error}.", where="agent_plan") from error


def compute_fingerprint(*parts: object) -> str:
    """Return a short digest of everything that a judge's or model's answers depend on."""
    return _sha256_hex("\0".join(map(str, parts)))[:12]


def compute_digest(text: str) -> str:
    """Return the SHA-256 digest of a text, with the name of the algorithm."""
    return f"sha256:{_sha256_hex(text)}"


def _sha256_hex(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
