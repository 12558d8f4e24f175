"""A model server that says what it is told to: the dialects of five clients, and faults.

    with ScriptedModel(lambda asked: '{"score": 1.0, "reason": "..."}') as server:
        ...  # server.url for --base-url (server.root for other clients than OpenAI's), server.calls

`faults.MODES` has everything that can go wrong, by name.
"""

from __future__ import annotations

from tests.scripted_model.replies import Behaviour, HttpError, Reply, TextReply
from tests.scripted_model.request import ModelRequest
from tests.scripted_model.server import ScriptedModel

__all__ = ["Behaviour", "HttpError", "ModelRequest", "Reply", "ScriptedModel", "TextReply"]
