"""Connections of clients that do not read are closed."""

from __future__ import annotations

import asyncio
from unittest.mock import Mock

import uvicorn
from starlette.responses import PlainTextResponse
from uvicorn.server import ServerState

from planproof.server.connection_limits import LimitedConnection, make_connection_class
from planproof.server.server_settings import ServerLimits


def _make_connection(transport: Mock, **limits: float) -> LimitedConnection:
    config = uvicorn.Config(PlainTextResponse("hello"), log_config=None)
    kind = make_connection_class(ServerLimits(**limits))  # pyright: ignore[reportArgumentType]
    connection = kind(config, ServerState(), {}, asyncio.get_running_loop())
    transport.is_closing.return_value = False
    transport.get_extra_info.return_value = None
    connection.connection_made(transport)
    return connection


def test_a_reader_that_stays_behind_is_left() -> None:
    async def paused() -> tuple[Mock, Mock]:
        slow, quick = Mock(), Mock()
        behind, caught_up = (
            _make_connection(slow, body_timeout=0.05),
            _make_connection(quick, body_timeout=0.05),
        )
        behind.pause_writing()
        caught_up.pause_writing()
        caught_up.resume_writing()
        await asyncio.sleep(0.2)
        return slow, quick

    slow, quick = asyncio.run(paused())
    slow.abort.assert_called_once()
    quick.abort.assert_not_called()


def test_no_clock_goes_on_after_a_connection_is_lost() -> None:
    async def lost() -> Mock:
        transport = Mock()
        connection = _make_connection(transport, header_timeout=0.05, body_timeout=0.05)
        connection.pause_writing()
        connection.connection_lost(None)
        transport.close.reset_mock()
        await asyncio.sleep(0.2)
        return transport

    transport = asyncio.run(lost())
    transport.abort.assert_not_called()
    transport.close.assert_not_called()
