"""Claude Code 1: one file, the lines of a sub-agent between those of the session.

The plan is the to-do list. The agent writes the page before it has read the style guide, and
ticks everything off.
"""

from __future__ import annotations

from coding_agent import program, workshop
from normalization import normalize_trace
from scripted_model import Call, Turn, call
from streamed_model import streamed
from writing import write_example

TASK = "Write page.md about the three tools in tools.txt, following style.txt."
PLAN = """\
1. Read tools.txt
2. Read style.txt
3. Have a researcher list the files
4. Write page.md
"""
STEPS = [step.partition(". ")[2] for step in PLAN.splitlines()]
ASKED = "List the files of the project with ls and say which are text files."


def ticked(done: int) -> Call:
    """The list with so many steps ticked off."""
    todos = [
        {"content": step, "status": "completed" if at < done else "pending", "activeForm": step}
        for at, step in enumerate(STEPS)
    ]
    return call("TodoWrite", todos=todos)


def main() -> None:
    with workshop({"tools.txt": "saw\nplane\nchisel\n", "style.txt": "Be brief.\n"}) as place:
        tools, style, page = (
            str(place.project / name) for name in ("tools.txt", "style.txt", "page.md")
        )
        handed = call("Task", description="List", prompt=ASKED, subagent_type="general-purpose")
        own = [
            Turn("I plan this first.", [ticked(0)]),
            Turn("", [call("Read", file_path=tools)]),
            Turn("", [handed, ticked(1)]),
            Turn("Now the page.", [call("Write", file_path=page, content="saw, plane, chisel\n")]),
            Turn("", [call("Read", file_path=style)]),
            Turn("", [ticked(4)]),
            Turn("page.md is written."),
        ]
        helper = [
            Turn("", [call("Bash", command="ls -1", description="List")]),
            Turn("Both files are text."),
        ]
        with streamed({ASKED: helper, TASK: own}) as url:
            place.run(
                [
                    program("@anthropic-ai/claude-code", "1.0.100", "claude"),
                    *("-p", TASK, "--allowedTools", "Bash,Read,Write,Task,TodoWrite"),
                ],
                ANTHROPIC_BASE_URL=url,
                ANTHROPIC_API_KEY="none",
                CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            )
        lines = place.lines(".claude/projects/**/*.jsonl")
    trace = normalize_trace(lines)
    write_example(__file__, task=TASK, plan=PLAN, trace=trace, name="trace.jsonl")


if __name__ == "__main__":
    main()
