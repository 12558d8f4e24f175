"""planproof: proves, or refutes, that an AI agent did what its plan said."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planproof.core.case import Case
    from planproof.core.plan import Plan, Step
    from planproof.core.trace import Event, Trace
    from planproof.core.verdict import Outcome, Verdict
    from planproof.errors import InvalidInput, PlanproofError
    from planproof.evaluation import aevaluate, evaluate
    from planproof.llm.compile import acompile_plan, compile_plan
    from planproof.monitor import Monitor

__all__ = [
    "Case",
    "Event",
    "InvalidInput",
    "Monitor",
    "Outcome",
    "Plan",
    "PlanproofError",
    "Step",
    "Trace",
    "Verdict",
    "acompile_plan",
    "aevaluate",
    "compile_plan",
    "evaluate",
]

_MODULE_BY_NAME = {
    "Case": "core.case",
    "Event": "core.trace",
    "InvalidInput": "errors",
    "Monitor": "monitor",
    "Outcome": "core.verdict",
    "Plan": "core.plan",
    "PlanproofError": "errors",
    "Step": "core.plan",
    "Trace": "core.trace",
    "Verdict": "core.verdict",
    "acompile_plan": "llm.compile",
    "aevaluate": "evaluation",
    "compile_plan": "llm.compile",
    "evaluate": "evaluation",
}


def __getattr__(name: str) -> Any:
    """Load a name on first use, so that `import planproof` alone costs almost nothing."""
    if name == "__version__":
        return import_module("importlib.metadata").version("planproof")
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"planproof.{_MODULE_BY_NAME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
