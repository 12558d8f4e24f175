"""Input of the MCP tools: text or JSON in the call, or files below one folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from planproof.core.content import Content, Json
from planproof.core.json_values import format_value, is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.evaluation import read_json_or_text
from planproof.readers.decoding.case_files import parse_case
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import ContainedTrace, select_trace, split_traces
from planproof.readers.recognition import Reader
from planproof.readers.task_content import read_task

Inline: TypeAlias = str | list[Any] | dict[str, Any] | None

_MAX_PLAN_BYTES = 1_000_000
_MAX_INLINE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseInput:
    """A source with the task and plan that were given for it, if any."""

    source: Source
    task: Content | None
    plan: Json


@dataclass(frozen=True, slots=True)
class InputFolder:
    """The only folder that files are read from, including its subfolders."""

    path: Path
    limits: Limits

    def read_case(
        self,
        trace: Inline,
        trace_file: str | None,
        plan: Inline,
        plan_file: str | None,
        task: str | None,
    ) -> CaseInput:
        """Read the case to judge. A file, or JSON in the call, may be a case with its own plan."""
        case_input = self._read_source(trace, trace_file)
        if plan is not None or plan_file is not None:
            case_input = replace(case_input, plan=self.read_plan(plan, plan_file))
        return (
            case_input if task is None else replace(case_input, task=read_task(task, where="task"))
        )

    def read_traces(
        self, trace: Inline, trace_file: str | None, profiles: Sequence[Reader] = ()
    ) -> tuple[Source, tuple[ContainedTrace, ...]]:
        """Return the source, and its traces if it contains more than one."""
        source = self._read_source(trace, trace_file).source
        traces = split_traces(source, profiles)
        return source, traces if len(traces) > 1 else ()

    def read_plan(self, plan: Inline, plan_file: str | None) -> Json:
        """Return the plan from the call or from its file, unparsed."""
        path = self._resolve_file("plan", plan, plan_file)
        if path is None:
            if len(plan if isinstance(plan, str) else format_value(plan)) > _MAX_PLAN_BYTES:
                raise _make_too_long_error("plan", _MAX_PLAN_BYTES)
            return plan
        if path.stat().st_size > _MAX_PLAN_BYTES:
            raise _make_too_long_error(str(plan_file), _MAX_PLAN_BYTES)
        return read_json_or_text(path)

    def _read_source(self, trace: Inline, trace_file: str | None) -> CaseInput:
        path = self._resolve_file("trace", trace, trace_file)
        if path is None:
            limits = replace(self.limits, bytes=min(self.limits.bytes, _MAX_INLINE_BYTES))
            if isinstance(trace, str) and len(trace) > limits.bytes:
                raise _make_too_long_error("trace", limits.bytes)
            source = Source.from_value(trace, name="trace", limits=limits)
        else:
            source = Source.from_path(path, limits=self.limits)
        if is_object(source.document) and "execution_trace" in source.document:
            case = parse_case(source.document, name=source.name)
            inner = Source.from_value(case.trace, name=source.name, limits=self.limits)
            return CaseInput(source=inner, task=case.task, plan=case.plan)
        return CaseInput(source=source, task=None, plan=None)

    def _resolve_file(self, name: str, inline: Inline, file: str | None) -> Path | None:
        """Return the path of the named file; None if the content is in the call itself."""
        if (inline is None) == (file is None):
            raise InvalidInput(
                f"pass either `{name}` or `{name}_file`.",
                where=name,
                advice=f"`{name}` is the content itself, `{name}_file` a path below {self.path}.",
            )
        return None if file is None else self._resolve_below(file)

    def _resolve_below(self, name: str) -> Path:
        """Resolve a file name, following links; the result must be inside the folder."""
        try:
            root = self.path.resolve(strict=True)
            path = (root / name).resolve()
            inside, is_file = path.is_relative_to(root), path.is_file()
        except (OSError, ValueError, RuntimeError) as error:
            raise InvalidInput(
                "is not a valid file path.", where=name, advice="Check the path."
            ) from error
        if not inside:
            raise InvalidInput(
                f"is outside the folder {self.path}.",
                where=name,
                advice="Pass its content, or start the server with another --folder.",
            )
        if not is_file:
            raise InvalidInput(
                f"file not found in {self.path}.", where=name, advice="Check the path."
            )
        return path


def require_trace(source: Source, name: str | None, profiles: Sequence[Reader] = ()) -> Source:
    """Return the selected trace; if it has to be named, the error refers to the tool arguments."""
    traces = split_traces(source, profiles)
    if name is None and len(traces) > 1:
        raise InvalidInput(
            f"contains {len(traces):,} traces.",
            where=source.name,
            advice="Select one with `pick`; `inspect` lists them.",
        )
    return select_trace(source, name, profiles)


def _make_too_long_error(name: str, limit: int) -> InvalidInput:
    return InvalidInput(f"has more than {limit:,} bytes.", where=name, advice="Shorten it.")
