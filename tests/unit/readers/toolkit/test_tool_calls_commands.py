from __future__ import annotations

import pytest

from planproof.readers.toolkit.tool_calls import get_command_name


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("ls -la", "ls"),
        ("  ./run.sh", "./run.sh"),
        ("```BASH\nfind . -name x\n```", "find"),
        ("show tables", "sql"),
        ("Let us try: `grep -c x a.txt` (count)", "grep"),
        ("Sorry about `xxd`. Try this:\n\n```bash\ncd /a\nls\n```", "cd"),
        ("echo `date`", "echo"),
        ("Let us go", "Let"),
        ("", "command"),
        ("((1))", "command"),
    ],
)
def test_the_tool_behind_a_command(command: str, name: str) -> None:
    assert get_command_name(command) == name
