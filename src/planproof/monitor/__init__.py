"""The same judgement, event by event, while the agent runs."""

from planproof.monitor.deviation import Certainty, Deviation, OffPlan, RaiseOn, Sort
from planproof.monitor.plan_monitor import Monitor

__all__ = ["Certainty", "Deviation", "Monitor", "OffPlan", "RaiseOn", "Sort"]
