"""The traces of a file, one a line of at most 80 columns."""

from __future__ import annotations

from planproof.reports.terminal.trace_lines import TraceEntry, format_trace_list


def test_a_line_says_number_id_reader_events_and_task() -> None:
    traces = [
        TraceEntry("a", "codex", 1200, "Tidy up.\nSoon."),
        TraceEntry("bb", error="is empty."),
    ]
    assert list(format_trace_list("runs.jsonl", traces)) == [
        "runs.jsonl contains 2 traces; select one with --pick",
        "1  a   codex  1,200  Tidy up.",
        "2  bb                ✗ is empty.",
    ]


def test_no_line_is_wider_than_a_terminal() -> None:
    lines = format_trace_list(
        "folder/" * 30 + "runs.jsonl", [TraceEntry("x" * 100, "codex", 3, "tidy " * 50)]
    )
    head, row = list(lines)
    assert (len(head), len(row)) == (80, 80)
    assert head.startswith("…")
    assert head.endswith("folder/runs.jsonl contains 1 trace; select one with --pick")


def test_a_tag_around_a_task_is_not_its_title() -> None:
    tagged = TraceEntry(
        "a", "openhands", 3, "\n<uploaded_files>\n/repo\n</uploaded_files>\nMend it."
    )
    empty = TraceEntry("b", "openhands", 3, "<task>\n</task>")
    _, first, second = format_trace_list("f", [tagged, empty])
    assert first.endswith("/repo")
    assert second == "2  b  openhands  3"
