"""Codex: a rollout of today's form.

The plan is `update_plan`. The agent follows it, mistypes a command once, and adds a licence
that nobody asked for. The program's own instructions to the model are left out.
"""

from __future__ import annotations

from coding_agent import program, workshop
from rollouts import normalize_rollout, provider
from scripted_model import Call, Turn, call
from streamed_model import streamed
from writing import write_example

TASK = "Sort names.txt into sorted.txt and add a line about it to README.md."
PLAN = """\
1. Look at names.txt
2. Sort names.txt into sorted.txt
3. Add a line about sorted.txt to README.md
"""
STEPS = [step.partition(". ")[2] for step in PLAN.splitlines()]
PATCH = """\
*** Begin Patch
*** Update File: README.md
@@
 # Names
+sorted.txt holds the names in order.
*** End Patch
"""


def planned(done: int) -> Call:
    """The plan with so many steps done."""
    plan = [
        {"step": step, "status": "completed" if at < done else "pending"}
        for at, step in enumerate(STEPS)
    ]
    return call("update_plan", plan=plan)


def shell(command: str) -> Call:
    """A command for the shell."""
    return call("shell", command=["bash", "-lc", command])


def main() -> None:
    turns = [
        Turn("", [planned(0)], "**Planning the work**"),
        Turn("I look at it.", [shell("cat names.txt"), shell("wc -l names.txt")]),
        Turn("", [shell("srot names.txt > sorted.txt")]),
        Turn("", [shell("sort names.txt > sorted.txt")], "**Correcting the command**"),
        Turn("", [call("apply_patch", patch=PATCH)]),
        Turn("", [shell("touch LICENSE")]),
        Turn("", [planned(3)]),
        Turn("sorted.txt is there, and README.md tells of it."),
    ]
    with workshop({"names.txt": "mia\nada\nlea\n", "README.md": "# Names\n"}) as place:
        with streamed({TASK: turns}) as url:
            codex = program("@openai/codex", "0.58.0", "codex")
            options = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
            place.run([codex, "exec", *options, *provider(url), TASK])
        lines = place.lines(".codex/sessions/**/*.jsonl")
    trace = normalize_rollout(lines)
    write_example(__file__, task=TASK, plan=PLAN, trace=trace, name="trace.jsonl")


if __name__ == "__main__":
    main()
