from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
from planproof.readers.toolkit.tool_calls import infer_status, parse_status

FAILURES = [
    "Error: user not found",
    "error executing query: unknown column",
    "  ERROR:\nNo replacement was performed",
    "Traceback (most recent call last):\n  File",
    "exitcode: 1 (execution failed)\nCode output: x",
    "x\n" * 300 + "Exit code 2",
    '{"output": "x", "metadata": {"exit_code": 127}}',
    "# Untitled\n\nError: the API returned status 451",
    "requests.exceptions.HTTPError: 404",
    "/bin/bash: line 3: foo: command not found",
    "ls: cannot access 'x': No such file or directory",
    "<tool_use_error>File has not been read yet",
    "HTTP 503 Service Unavailable",
    "status code: 404",
    "Failed to open",
    "Permission denied",
    '{"error": "no such order"}',
    '{ "success": false }',
    '{"status": "failed", "id": 3}',
    '{"isError": true}',
]
SUCCESSES = [
    "",
    "done",
    "exitcode: 0 (execution succeeded)\nError: printed by the program",
    '{"error": null, "id": 3}',
    '{"errors": [], "id": 3}',
    '{"success": true}',
    "The file http://example.org/error.html is here.",
    "Found 3 errors that were corrected",
    "return 0",
    '["error", "warning"]',
]


@pytest.mark.parametrize("text", FAILURES)
def test_a_result_that_reports_a_failure(text: str) -> None:
    assert infer_status(text) is EventStatus.ERROR


@pytest.mark.parametrize("text", SUCCESSES)
def test_a_plain_result_reports_no_failure(text: str) -> None:
    assert infer_status(text) is EventStatus.OK


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("ok", EventStatus.OK),
        ("Ok", EventStatus.OK),
        ("STATUS_CODE_ERROR", EventStatus.ERROR),
        ({"status_code": "error"}, EventStatus.ERROR),
        ({"code": "STATUS_CODE_OK"}, EventStatus.OK),
        ({"code": 2}, None),
        ("Unset", None),
        (None, None),
        (1, None),
    ],
)
def test_what_a_status_field_says(value: Any, status: EventStatus | None) -> None:
    assert parse_status(value) is status


@pytest.mark.parametrize(
    "complaint",
    [
        "command not found",
        "No such file or directory",
        "Permission denied",
        "Is a directory",
        "syntax error near unexpected token",
        "unexpected EOF while looking",
        "cannot access 'x'",
        "not found",
    ],
)
def test_shell_errors_are_failures_anywhere_in_the_output(complaint: str) -> None:
    assert infer_status(f"total 8\nbash: line 3: foo: {complaint}\n") is EventStatus.ERROR
