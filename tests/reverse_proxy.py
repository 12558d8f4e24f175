"""A reverse proxy that puts a server under a path prefix, as those in front of servers do."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

from tests.timeouts import TIMEOUT_SECONDS


@contextmanager
def run_proxy(prefix: str, url: str) -> Generator[str, None, None]:
    """The address under which a server is reached; it is told nothing of the prefix."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(prefix):
                self.send_error(404)
                return
            length = int(self.headers.get("Content-Length", 0))
            with closing(HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT_SECONDS)) as server:
                server.request(
                    self.command,
                    self.path.removeprefix(prefix),
                    self.rfile.read(length),
                    dict(self.headers.items()),
                )
                answer = server.getresponse()
                body = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"connection", "content-length", "transfer-encoding"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            # A browser that moves on to another page no longer waits for this one.
            with suppress(ConnectionError):
                self.end_headers()
                self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - as the class it stands on calls it

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running = Thread(target=proxy.serve_forever)
    running.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}{prefix}"
    finally:
        proxy.shutdown()
        running.join()
        proxy.server_close()
