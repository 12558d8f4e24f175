"""What `planproof serve` is told about traces on the command line."""

from __future__ import annotations

import pytest

from planproof.cli.serve import TraceOptions
from planproof.errors import InvalidConfiguration
from tests.command_line import CommandLine

HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"


def test_headers_are_taken_as_opentelemetry_writes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEADERS, "authorization=Bearer%20a=b, x-team = eval")
    options = TraceOptions(otlp_endpoint="http://collector:4318")
    assert options.read_headers() == {"authorization": "Bearer a=b", "x-team": "eval"}
    assert TraceOptions().read_headers() == {}, "they are for the endpoint alone"


@pytest.mark.parametrize(
    "given", ["authorization", "=x", "a=b,c", "a=b%0d%0aX: c", "a b=c", "a=%E2%82%AC"]
)
def test_an_invalid_header_is_refused_and_not_printed(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HEADERS, given)
    with pytest.raises(InvalidConfiguration, match="NAME=VALUE") as refused:
        TraceOptions(otlp_endpoint="http://collector:4318").read_headers()
    assert given not in str(refused.value).replace("NAME=VALUE", "")


@pytest.mark.parametrize("given", ["file:///etc/passwd", "", "http://", "http://[a", "http://a:b"])
def test_an_invalid_endpoint_is_refused(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = CommandLine(monkeypatch, capsys)("serve", "--otlp-endpoint", given)
    assert ran.code == 2
    assert "--otlp-endpoint: not an HTTP URL." in ran.err
