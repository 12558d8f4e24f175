"""Monitor an agent against its plan, event by event, while it runs."""

from planproof.monitor.deviation import Certainty, Deviation, DeviationKind, OffPlan, RaiseOn
from planproof.monitor.plan_monitor import Monitor

__all__ = ["Certainty", "Deviation", "DeviationKind", "Monitor", "OffPlan", "RaiseOn"]
