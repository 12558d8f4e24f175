"""A server that takes log records as OpenTelemetry's Collector does."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord


class Collector(ThreadingHTTPServer):
    """Takes log records as OpenTelemetry's Collector does; `status` is what it answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status = 200
        self.paths: list[str] = []
        self.records: list[LogRecord] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        collector = self.server
        assert isinstance(collector, Collector)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        collector.paths.append(self.path)
        if collector.status == 200:
            assert self.headers["Content-Type"] == "application/x-protobuf"
            request = ExportLogsServiceRequest.FromString(body)
            for resource in request.resource_logs:
                for scope in resource.scope_logs:
                    collector.records += scope.log_records
        self.send_response(collector.status)
        self.send_header("Location", f"{collector.url}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002 - the name there


@contextmanager
def run_collector() -> Generator[Collector, None, None]:
    """A collector, for as long as it is needed."""
    collector = Collector()
    thread = threading.Thread(target=collector.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield collector
    finally:
        collector.shutdown()
        thread.join()
        collector.server_close()


def read_attributes(record: LogRecord) -> dict[str, Any]:
    """What a record tells."""
    return {
        pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "")
        for pair in record.attributes
    }
