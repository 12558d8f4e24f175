"""A model server that says what it is told to: the dialects of five clients, and faults.

    with ScriptedModel(lambda asked: '{"score": 1.0, "reason": "..."}') as server:
        ...  # server.url for --base-url (server.root for other clients than OpenAI's), server.calls

`faults.MODES` has everything that can go wrong, by name.
"""

from __future__ import annotations

from tests.scripted_model.replies import Behaviour, HttpError, Reply, Says
from tests.scripted_model.request import Asked
from tests.scripted_model.server import ScriptedModel

__all__ = ["Asked", "Behaviour", "HttpError", "Reply", "Says", "ScriptedModel"]
