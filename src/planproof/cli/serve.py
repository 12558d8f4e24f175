"""`planproof serve`: HTTP API, OpenTelemetry trace receiver and web pages."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote, urlsplit

import typer

from planproof.cli.inputs import (
    ConfigOption,
    InForceOption,
    JudgeOption,
    MinPassOption,
    ProfileOption,
    ReaderOption,
    load_config,
    load_profiles,
    resolve_passing_score,
)
from planproof.cli.options import EvaluatorFactory, ModelJudgeOptions, StoreOption, option_groups
from planproof.errors import InvalidConfiguration

if TYPE_CHECKING:
    from planproof.core.limits import Limits
    from planproof.runs.engines.case_judging import CaseEvaluator
    from planproof.server.server_settings import ServerLimits

_MEBIBYTE = 1024 * 1024
_HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t -~\xa0-\xff]+")
"""Characters allowed in the value of an HTTP header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions:
    """Options for traces from OpenTelemetry."""

    quiet_seconds: Annotated[
        float,
        typer.Option(
            "--quiet-seconds",
            min=0,
            help="Judge a trace this long after its root span ended and its last span arrived.",
        ),
    ] = 1.0
    oldest_seconds: Annotated[
        float,
        typer.Option(
            "--oldest-seconds",
            min=0,
            help="Judge a trace without a root span this long after its last span arrived.",
        ),
    ] = 600.0
    otlp_endpoint: Annotated[
        str | None,
        typer.Option(
            "--otlp-endpoint",
            metavar="URL",
            help="Send verdicts on traces to this OTLP/HTTP endpoint as log records, with the "
            "headers in OTEL_EXPORTER_OTLP_HEADERS.",
        ),
    ] = None

    def check_endpoint(self) -> str | None:
        """Return the endpoint that verdicts are sent to; raise if it is not an HTTP address."""
        if self.otlp_endpoint is not None and not _is_http(self.otlp_endpoint):
            raise InvalidConfiguration(
                "not an HTTP URL.",
                where="--otlp-endpoint",
                advice="Use http://HOST:4318, without /v1/logs.",
            )
        return self.otlp_endpoint

    def read_headers(self) -> dict[str, str]:
        """Read the headers sent to the endpoint, in the format of OpenTelemetry's SDKs."""
        variable = os.environ.get(_HEADERS_VARIABLE, "") if self.otlp_endpoint else ""
        pairs = [pair.partition("=")[::2] for pair in variable.split(",") if pair.strip()]
        headers = {name.strip(): unquote(value.strip()) for name, value in pairs}
        if not all(
            _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)
            for name, value in headers.items()
        ):
            raise InvalidConfiguration(
                "invalid HTTP headers.",
                where=_HEADERS_VARIABLE,
                advice="Use NAME=VALUE, separated by commas.",
            )
        return headers


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """Options that limit the size and number of requests."""

    max_body: Annotated[
        int,
        typer.Option(
            "--max-body", metavar="MiB", min=1, help="Maximum size of a request, decompressed."
        ),
    ] = 32
    max_data_set: Annotated[
        int,
        typer.Option(
            "--max-data-set", metavar="MiB", min=1, help="Maximum size of a data set for a run."
        ),
    ] = 256
    max_waiting: Annotated[
        int,
        typer.Option(
            "--max-waiting", metavar="N", min=1, help="Maximum number of queued cases; then 503."
        ),
    ] = 256
    max_rate: Annotated[
        float,
        typer.Option(
            "--max-rate", metavar="N", min=1, help="Requests per second and client; then 429."
        ),
    ] = 1_000

    max_backlog: Annotated[
        int,
        typer.Option(
            "--max-backlog",
            metavar="N",
            min=1,
            help="Maximum number of spans of traces not yet judged; then 503.",
        ),
    ] = 1_000_000

    def make_limits(self, deadline: float, configured: Limits) -> ServerLimits:
        """Build the server limits; a case has to be judged within the deadline."""
        from planproof.server.server_settings import ServerLimits

        default, body = ServerLimits(), self.max_body * _MEBIBYTE
        return ServerLimits(
            body_bytes=body,
            data_set_bytes=self.max_data_set * _MEBIBYTE,
            values=configured.values,
            in_flight=max(default.in_flight, 2 * body),
            waiting_cases=self.max_waiting,
            rate=self.max_rate,
            backlog=self.max_backlog,
            judge_timeout=deadline,
        )


@option_groups(
    trace_options=TraceOptions, limit_options=LimitOptions, judge_options=ModelJudgeOptions
)
def serve(
    *,
    host: Annotated[
        str, typer.Option("--host", help="Host to bind; other than loopback, keys are required.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 picks a free one.")
    ] = 7526,
    require_keys: Annotated[
        bool, typer.Option("--demand-keys", help="Require keys on loopback, too.")
    ] = False,
    store: StoreOption = None,
    judge_name: JudgeOption = None,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    plan_in_force: InForceOption = "first",
    min_score: MinPassOption = None,
    config: ConfigOption = None,
    trace_options: TraceOptions,
    limit_options: LimitOptions,
    judge_options: ModelJudgeOptions,
) -> None:
    """Serve the HTTP API, OpenTelemetry receiver and web pages.

    \b
    planproof serve
    planproof serve --port 8080 --store postgresql://eval@db/planproof
    planproof serve --judge cascade --model openai:NAME
    planproof serve --otlp-endpoint http://collector:4318
    planproof keys add ci --role write && planproof serve --host 0.0.0.0

    On loopback, no key is needed unless --demand-keys is given. Ctrl-C or SIGTERM stops the server
    after running requests have finished.

    Exit code: 0 stopped, 2 bad usage or input.
    """
    try:
        from planproof.server.lifecycle import serve as run_server
        from planproof.server.server_settings import ServerSettings
    except ModuleNotFoundError as error:
        raise InvalidConfiguration(
            f"the server needs {error.name}, which is not installed.",
            advice="Install it: pip install 'planproof[server]'.",
        ) from error
    configuration = load_config(config)
    evaluator_factory = EvaluatorFactory(
        judge_options,
        judge_name,
        reader,
        plan_in_force,
        configuration,
        load_profiles(profile, configuration),
    )
    concurrency_field = "model_concurrency" if judge_options.models else "processes"
    settings = ServerSettings(
        store=store or configuration.store,
        evaluator=evaluator_factory(),
        models=judge_options.models,
        other_evaluators=_make_other_evaluators(evaluator_factory),
        host=host,
        port=port,
        require_keys=require_keys,
        min_score=resolve_passing_score(min_score, configuration),
        quiet_seconds=trace_options.quiet_seconds,
        oldest_seconds=trace_options.oldest_seconds,
        otlp_endpoint=trace_options.check_endpoint(),
        otlp_headers=trace_options.read_headers(),
        limits=limit_options.make_limits(judge_options.deadline, configuration.limits),
        rejudge=judge_options.no_cache,
        **(
            {}
            if judge_options.concurrency is None
            else {concurrency_field: judge_options.concurrency}
        ),
    )
    run_server(settings, _print_address)


def _make_other_evaluators(evaluator_factory: EvaluatorFactory) -> dict[str, CaseEvaluator]:
    """Make the evaluators available in addition to the default one: `rules` always is."""
    from dataclasses import replace

    from planproof.llm.judge_registry import DEFAULT_JUDGE

    make_rules = replace(evaluator_factory, judge_options=ModelJudgeOptions(), name=DEFAULT_JUDGE)
    judge = evaluator_factory().judge.name
    return {} if judge == DEFAULT_JUDGE else {DEFAULT_JUDGE: make_rules()}


def _is_http(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _print_address(address: str) -> None:
    typer.echo(f"planproof: serving on {address}; press Ctrl-C to stop", err=True)
