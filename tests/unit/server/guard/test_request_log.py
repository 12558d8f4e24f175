"""What becomes of requests is counted and logged, also when it comes to nothing."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from planproof.server.guard.request_log import RequestLogger
from planproof.server.observability import Metrics

SCOPE: dict[str, Any] = {"type": "http", "method": "BREW", "path": "/secret", "headers": []}


def _send_request(error: Exception) -> tuple[list[Message], str]:
    """What is sent when a route breaks, and the figures."""

    async def breaks(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise error

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    metrics = Metrics()
    asyncio.run(RequestLogger(breaks, metrics)(dict(SCOPE), receive, send))
    return sent, metrics.render().decode()


def test_an_error_is_logged_without_its_message(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "planproof.server"):
        sent, figures = _send_request(KeyError("words of a case"))
    assert sent[0]["status"] == 500
    assert json.loads(sent[1]["body"])["what"] == "internal server error."
    assert 'method="other",route="other",status="500"' in figures
    fault, request = [record.__dict__ for record in caplog.records]
    assert fault["fields"]["error"] == "KeyError"
    assert fault["fields"]["place"].startswith("test_request_log.py:")
    assert "words" not in f"{fault}{request}{sent}"


def test_a_disconnected_client_is_not_an_error() -> None:
    sent, figures = _send_request(ClientDisconnect())
    assert sent == []
    assert 'status="499"' in figures
