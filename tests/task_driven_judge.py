"""A judge that does what the task says: it waits, or ends its process. It can cross processes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from planproof.core.content import Content
from planproof.core.finding import Findings, Status, StepFinding
from planproof.core.plan import Plan
from planproof.core.trace import Trace

HANG, DIE = "Hang.", "Die."


@dataclass(frozen=True, slots=True)
class TaskDrivenJudge:
    name: str = "obedient"
    fingerprint: str = "obedient"

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        if task.text == HANG:
            time.sleep(600)
        if task.text == DIE:
            os._exit(1)
        return Findings(
            tuple(
                StepFinding(
                    number=step.number, text=step.text, status=Status.EXECUTED, confidence=1.0
                )
                for step in plan.steps
            )
        )
