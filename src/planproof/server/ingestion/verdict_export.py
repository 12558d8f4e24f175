"""Export verdicts over OTLP as events on their traces, for any OpenTelemetry backend.

They are OTLP log records with the ids of the trace and its root span, in OpenTelemetry's semantic
conventions for generative AI (`gen_ai.evaluation.result`).
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from logging import ERROR
from time import time, time_ns
from typing import Any, NoReturn

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import SEVERITY_NUMBER_INFO, LogRecord
from sqlalchemy import select, update

import planproof
from planproof.core.verdict import Outcome, Verdict
from planproof.errors import InvalidInput
from planproof.reports.plain_text import redact
from planproof.reports.wording import LEVEL_LABELS
from planproof.runs.store.schema import traces
from planproof.runs.store.sql_store import SqlStore
from planproof.server.observability import log_error, log_event

EVENT_NAME = "gen_ai.evaluation.result"
EVALUATION_NAME = "planproof.plan_adherence"
"""The evaluation's name, sent as `gen_ai.evaluation.name`."""
_VERDICTS_PER_REQUEST = 200
_RETRY_SECONDS = 10.0
_TIMEOUT_SECONDS = 10.0
_POLL_SECONDS = 1.0
_RETRYABLE_STATUSES = frozenset({408, 429, 502, 503, 504})


class VerdictSender:
    """Send verdicts that are marked for export to an OTLP/HTTP endpoint."""

    def __init__(
        self, store: SqlStore, endpoint: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self._store = store
        self._url = f"{endpoint.rstrip('/')}/v1/logs"
        self._headers = {**(headers or {}), "Content-Type": "application/x-protobuf"}
        self._opener = urllib.request.build_opener(_NoRedirect)
        self.sent_count = 0
        """Verdicts sent since the server started."""

    async def run(self, verdict_saved: asyncio.Event) -> NoReturn:
        """Send verdicts whenever `verdict_saved` is set; retry those that failed."""
        while True:
            try:
                sent = await asyncio.to_thread(self.send)
            except Exception as error:
                # Catch everything: the loop must continue for later verdicts.
                log_error("sending verdicts failed", error)
                sent = 0
            if not sent:
                verdict_saved.clear()
                try:
                    async with asyncio.timeout(_POLL_SECONDS):
                        await verdict_saved.wait()
                except TimeoutError:
                    continue

    def send(self) -> int:
        """Send a batch of verdicts; return how many were pending in it."""
        lease = time() + _TIMEOUT_SECONDS + _RETRY_SECONDS
        rows = self._claim_unsent(lease)
        records: list[LogRecord] = []
        for row in rows:
            try:
                verdict = self._store.get_result(row.run, row.position).verdict
            except InvalidInput:
                continue  # it was deleted
            records.append(_build_log_record(row, verdict))
        if not records or self._post_records(records):
            self._mark_sent([row.trace for row in rows], lease)
            self.sent_count += len(records)
        return len(rows)

    def _claim_unsent(self, lease: float) -> Sequence[Any]:
        """Return pending verdicts, reserved until `lease` so that no other server sends them."""
        due = select(traces).where(traces.c.export_due <= time()).order_by(traces.c.export_due)
        with self._store.database.begin_read() as connection:
            if connection.execute(due.limit(1)).first() is None:
                return []
        with self._store.database.begin_write() as connection:
            rows = connection.execute(
                due.limit(_VERDICTS_PER_REQUEST).with_for_update(skip_locked=True)
            ).all()
            names = [row.trace for row in rows]
            connection.execute(
                update(traces).where(traces.c.trace.in_(names)).values(export_due=lease)
            )
        return rows

    def _mark_sent(self, names: list[str], lease: float) -> None:
        # A trace judged again meanwhile has another time here, and is sent again.
        statement = update(traces).where(traces.c.trace.in_(names), traces.c.export_due == lease)
        with self._store.database.begin_write() as connection:
            connection.execute(statement.values(export_due=None))

    def _post_records(self, records: list[LogRecord]) -> bool:
        """Send records; return True unless they must be sent again."""
        request = urllib.request.Request(  # noqa: S310 - the endpoint is configured, and is HTTP
            self._url, _build_request(records).SerializeToString(), self._headers, method="POST"
        )
        try:
            with self._opener.open(request, timeout=_TIMEOUT_SECONDS):
                return True
        except urllib.error.HTTPError as error:
            error.close()
            log_event("verdicts rejected", level=ERROR, status=error.code)
            return error.code not in _RETRYABLE_STATUSES
        except (OSError, HTTPException) as error:
            log_error("sending verdicts failed", error)
            return False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuse redirects, so that verdicts go to the configured endpoint only."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follow no redirect."""
        return


def _build_log_record(row: Any, verdict: Verdict) -> LogRecord:
    attributes: dict[str, str | float] = {
        "gen_ai.evaluation.name": EVALUATION_NAME,
        "gen_ai.evaluation.score.label": verdict.outcome.value
        if verdict.level is None
        else LEVEL_LABELS[verdict.level],
        "gen_ai.evaluation.explanation": redact(verdict.reason),
        "planproof.run": row.run,
        "planproof.position": row.position,
    }
    if verdict.score is not None:
        attributes["gen_ai.evaluation.score.value"] = verdict.score
    if verdict.outcome in (Outcome.JUDGE_FAILED, Outcome.INVALID_INPUT):
        attributes["error.type"] = verdict.cause or verdict.outcome.value
    now = time_ns()
    return LogRecord(
        time_unix_nano=now,
        observed_time_unix_nano=now,
        severity_number=SEVERITY_NUMBER_INFO,
        event_name=EVENT_NAME,
        trace_id=bytes.fromhex(row.trace),
        span_id=bytes.fromhex(row.root or ""),
        attributes=[_build_attribute(key, value) for key, value in attributes.items()],
    )


def _build_request(records: list[LogRecord]) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    resource.resource.attributes.append(_build_attribute("service.name", "planproof"))
    scope = resource.scope_logs.add()
    scope.scope.name = "planproof"
    scope.scope.version = planproof.__version__
    scope.log_records.extend(records)
    return request


def _build_attribute(key: str, value: str | float) -> KeyValue:
    pair = KeyValue(key=key)
    if isinstance(value, str):
        pair.value.string_value = value
    elif isinstance(value, int):
        pair.value.int_value = value
    else:
        pair.value.double_value = value
    return pair
