"""Code in messages that a later turn runs."""

from __future__ import annotations

from planproof.core.trace import Kind, Trace
from planproof.readers.toolkit.entries import make_constant_pointer
from planproof.readers.toolkit.prose_actions import CodeRuns
from planproof.readers.toolkit.trace_builder import TraceBuilder
from tests.line_counts import measure_growth
from tests.unit.readers.samples import brief

CODE = "```python\nprint({})\n```\n"


def run_blocks(count: int) -> Trace:
    """Run the blocks of one message one by one, with a notice before each run."""
    builder = TraceBuilder()
    runs = CodeRuns(builder)
    text = "First.\n" + "".join(CODE.format(number) for number in range(count)) + "Last.\n"
    assert runs.add_code(text, make_constant_pointer("/0"), "coder")
    for number in range(count):
        builder.add_message(Kind.SYSTEM, f"block {number}", f"/{number + 1}", "executor")
        runs.start_run()
    runs.add_report("exitcode: 0", "/9", "executor")
    return builder.build("test")


def test_code_keeps_its_place_in_the_message() -> None:
    trace = run_blocks(2)
    assert brief(trace) == [
        ("message", None, "First."),
        ("action", "python", "print(0)"),
        ("action", "python", "print(1)"),
        ("message", None, "Last."),
        ("system", None, "block 0"),
        ("system", None, "block 1"),
    ]
    assert [event.output for event in trace.events][1:3] == ["", "exitcode: 0"]


def test_many_blocks_are_run_in_linear_time() -> None:
    assert measure_growth(run_blocks, 100) < 2.5


def test_code_that_is_not_run_stays_a_message() -> None:
    builder = TraceBuilder()
    runs = CodeRuns(builder)
    assert runs.add_code(CODE.format(1), make_constant_pointer("/0"), "coder")
    runs.flush()
    runs.add_report("There is no code from the last message.", "/1", "executor")
    assert [kind for kind, _, _ in brief(builder.build("test"))] == ["message", "system"]


def test_code_that_is_run_later_is_an_action_then() -> None:
    builder = TraceBuilder()
    runs = CodeRuns(builder)
    assert runs.add_code(CODE.format(1), make_constant_pointer("/0"), "coder")
    runs.flush()
    builder.begin_turn()
    runs.start_run()
    assert [kind for kind, _, _ in brief(builder.build("test"))] == ["message", "action"]
