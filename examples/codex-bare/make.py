"""Codex of summer 2025: a rollout of bare items, with states noted in between.

The plan is `update_plan`. The agent breaks off: the last step is only promised. The program's own
instructions to the model are left out.
"""

from __future__ import annotations

from coding_agent import program, workshop
from rollouts import normalize_rollout, provider
from scripted_model import Call, Turn, call
from streamed_model import streamed
from writing import write_example

TASK = "Find out how many lines log.txt has, keep its errors in errors.txt, and archive log.txt."
PLAN = """\
1. Count the lines of log.txt
2. Write the errors of log.txt to errors.txt
3. Pack log.txt into log.tar.gz
"""
STEPS = [step.partition(". ")[2] for step in PLAN.splitlines()]


def shell(command: str) -> Call:
    """A command for the shell."""
    return call("shell", command=["bash", "-lc", command])


def main() -> None:
    plan = [{"step": step, "status": "pending"} for step in STEPS]
    turns = [
        Turn("", [call("update_plan", explanation="Three steps.", plan=plan)], "**Planning**"),
        Turn("", [shell("wc -l log.txt")]),
        Turn("", [shell("grep ERROR log.txt > errors.txt && cat errors.txt")]),
        Turn("log.txt has 3 lines, and errors.txt its one error. I will pack log.txt later."),
    ]
    with workshop({"log.txt": "INFO start\nERROR disk full\nINFO stop\n"}) as place:
        with streamed({TASK: turns}) as url:
            codex = program("@openai/codex", "0.28.0", "codex")
            options = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
            place.run([codex, "exec", *options, *provider(url), TASK])
        lines = place.lines(".codex/sessions/**/*.jsonl")
    trace = normalize_rollout(lines)
    write_example(__file__, task=TASK, plan=PLAN, trace=trace, name="trace.jsonl")


if __name__ == "__main__":
    main()
