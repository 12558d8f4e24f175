"""Claude Code 2: the session, with the file of a sub-agent put behind it.

The agent looks, has a helper count, and writes; it never runs the check that it planned. Lines in
which Claude Code lists its own skills and agents are left out.
"""

from __future__ import annotations

from coding_agent import program, workshop
from normalization import normalize_trace
from scripted_model import Turn, call
from streamed_model import streamed
from writing import write_example

TASK = "Read notes.txt, have a helper count its words, and write the number to summary.txt."
PLAN = """\
1. Read notes.txt
2. Have a helper count the words of notes.txt
3. Write the number of words to summary.txt
4. Check summary.txt with cat
"""
ASKED = "Count the words of notes.txt with wc and report the number."


def main() -> None:
    with workshop({"notes.txt": "one\ntwo\nthree\n"}) as place:
        notes, summary = (str(place.project / name) for name in ("notes.txt", "summary.txt"))
        handed = call(
            "Agent", description="Count words", prompt=ASKED, subagent_type="general-purpose"
        )
        own = [
            Turn(
                f"Here is my plan:\n{PLAN}",
                [call("Read", file_path=notes), call("Bash", command="ls", description="List")],
                "First a plan.",
            ),
            Turn("Now the helper.", [handed]),
            Turn("", [call("Write", file_path=summary, content="3\n")]),
            Turn("Three words; summary.txt says so, and I have checked it."),
        ]
        helper = [
            Turn("", [call("Bash", command="wc -w note.txt", description="Count")]),
            Turn("The name was wrong.", [call("Bash", command="wc -w notes.txt")]),
            Turn("notes.txt has 3 words."),
        ]
        with streamed({ASKED: helper, TASK: own}) as url:
            place.run(
                [
                    program("@anthropic-ai/claude-code", "2.1.197", "claude"),
                    *("-p", TASK, "--allowedTools", "Bash,Read,Write,Agent"),
                ],
                ANTHROPIC_BASE_URL=url,
                ANTHROPIC_API_KEY="none",
                CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            )
        lines = place.lines(".claude/projects/**/*.jsonl")
    kept = [line for line in lines if line["type"] != "attachment"]
    trace = normalize_trace(kept, ids=r"\ba[0-9a-f]{16}\b")
    write_example(__file__, task=TASK, plan=PLAN, trace=trace, name="trace.jsonl")


if __name__ == "__main__":
    main()
