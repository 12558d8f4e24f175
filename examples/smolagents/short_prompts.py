"""Prompts for smolagents: its own are pages long; these keep the files small and the shape."""

from __future__ import annotations

from typing import Any


def prompts(system_prompt: str) -> dict[str, Any]:
    """All prompts that an agent needs, in few words."""
    return {
        "system_prompt": system_prompt,
        "planning": {
            "initial_plan": "Survey the facts and plan: {{task}}",
            "update_plan_pre_messages": "The task is: {{task}}",
            "update_plan_post_messages": "Update the plan; {{remaining_steps}} steps are left.",
        },
        "managed_agent": {"task": "You are {{name}}: {{task}}", "report": "{{final_answer}}"},
        "final_answer": {"pre_messages": "Answer:", "post_messages": "{{task}}"},
    }
