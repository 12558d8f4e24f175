"""Sessions that coding assistants wrote, counted by hand; they are read from outside the checkout.

Calls include those of to-do tools; results are those attached to a call.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from planproof.core.pointer import resolve
from planproof.core.trace import Kind
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.third_party import TRACES

FOLDER = TRACES.with_name("traces-v2")
_CALLS = (Kind.ACTION, Kind.BOOKKEEPING)


class Counted(NamedTuple):
    """What a person found in a file.

    `names` are the first five calls. `called` is the number of a call, with a part of one of its
    arguments; `returned` is the number of a call, with the start of its result.
    """

    file: str
    reader: str
    calls: int
    results: int
    names: str
    called: tuple[int, str, str]
    returned: tuple[int, str]


CODEX = "update_plan shell shell shell shell"
COUNTED = (
    Counted(
        "codex-exec_extracted.jsonl",
        "codex-exec",
        24,
        16,
        CODEX,
        (2, "command", "README.md"),
        (2, "# test-hello-world"),
    ),
    Counted(
        "codex-exec_hive-mind-log.txt",
        "codex-exec",
        24,
        16,
        CODEX,
        (2, "command", "README.md"),
        (2, "# test-hello-world"),
    ),
    Counted(
        "claude-stream_hive-mind-log.txt",
        "claude-code",
        14,
        13,
        "Bash Bash Bash Bash Bash",
        (4, "command", "git status"),
        (4, "On branch issue-3"),
    ),
    Counted(
        "claude-code_2026.jsonl",
        "claude-code",
        3,
        2,
        "bash Bash [trimmed for fixture]",
        (1, "command", "ls"),
        (1, "a.txt\nb.txt"),
    ),
    Counted(
        "gemini-cli_session.json",
        "gemini-cli",
        2,
        2,
        "run_shell_command run_shell_command",
        (1, "command", "ls /non-existent-directory"),
        (1, "Command: ls /non-existent"),
    ),
    Counted(
        "gemini-cli_chat-share_trajectory.json",
        "gemini-contents",
        45,
        45,
        "read_file read_file grep_search read_file read_file",
        (2, "pattern", "activeTeam"),
        (2, "Found 1 match"),
    ),
    Counted(
        "qwen-code_session.jsonl",
        "qwen-code",
        1,
        0,
        "read_file",
        (0, "path", "new-project/README.md"),
        (0, ""),
    ),
    Counted(
        "copilot-cli_events.jsonl",
        "copilot-cli",
        2,
        2,
        "shell [trimmed for fixture]",
        (0, "command", "ls"),
        (0, "a.txt\nb.txt"),
    ),
    Counted(
        "kimi-cli_assistant_tools.jsonl",
        "kimi-code",
        19,
        19,
        "Bash Bash Bash Agent Glob",
        (2, "command", "cat /nonexistent-file-xyz"),
        (2, "cat: /nonexistent-file-xyz: No such file"),
    ),
    Counted(
        "factory-droid_stream.jsonl",
        "factory-droid-stream",
        1,
        1,
        "Shell",
        (0, "command", "printf"),
        (0, "line1\nline2"),
    ),
    Counted(
        "factory-droid_session.jsonl",
        "factory-droid",
        1,
        1,
        "Execute",
        (0, "command", "printf"),
        (0, "line1\nline2"),
    ),
    Counted(
        "cursor-cli_transcript.jsonl",
        "cursor-cli",
        2,
        2,
        "Bash Read",
        (1, "file_path", "file1.txt"),
        (1, "hello world"),
    ),
    Counted(
        "antigravity_cli.jsonl",
        "antigravity-cli",
        10,
        10,
        "list_dir VIEW_FILE RUN_COMMAND write_file SEARCH_WEB",
        (3, "TargetFile", "/tmp/repo/notes.md"),
        (3, "Created At: 2026"),
    ),
    Counted(
        "openclaw_session.jsonl",
        "pi",
        2,
        2,
        "run_terminal edit_file",
        (0, "command", "git status --short"),
        (0, "M file1\nM file2"),
    ),
    Counted(
        "openhands-v1_events.jsonl",
        "openhands",
        2,
        2,
        "terminal terminal",
        (0, "command", "SESSION_URL="),
        (0, "Cannot execute multiple commands"),
    ),
    Counted(
        "codex_rollout_2026.jsonl",
        "codex",
        8,
        5,
        "shell shell tool_search web_search tool_search",
        (2, "query", "example"),
        (1, "a.txt"),
    ),
)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the traces are not here")
@pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.file)
def test_calls_and_results_are_those_that_a_person_counted(counted: Counted) -> None:
    source = Source.from_path(FOLDER / counted.file)
    trace = read_trace(source)
    assert trace.reader == counted.reader
    calls = [event for event in trace.events if event.kind in _CALLS]
    assert len(calls) == counted.calls
    assert sum(event.output_pointer is not None for event in calls) == counted.results
    assert " ".join(event.name or "" for event in calls[:5]) == counted.names
    number, key, value = counted.called
    assert value in calls[number].arguments[key]
    number, start = counted.returned
    assert calls[number].output.lstrip().startswith(start)
    for event in trace.events:
        resolve(source.document, event.pointer)
        resolve(source.document, event.output_pointer or event.pointer)


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the traces are not here")
@pytest.mark.parametrize(
    ("file", "texts"),
    [
        ("pi_session.jsonl", 4),
        ("factory-droid_stream.jsonl", 3),
        ("qwen-code_session.jsonl", 5),
        ("gemini-cli_session.json", 5),
        ("openhands-v1_events.jsonl", 2),
        ("cursor-cli_transcript.jsonl", 8),
        ("codex-exec_extracted.jsonl", 22),
    ],
)
def test_texts_are_those_that_a_person_counted(file: str, texts: int) -> None:
    events = read_trace(Source.from_path(FOLDER / file)).events
    assert sum(event.kind in (Kind.MESSAGE, Kind.REASONING) for event in events) == texts
