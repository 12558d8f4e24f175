from __future__ import annotations

import pytest

from planproof.readers.toolkit.code_fences import find_code_blocks


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n```python\nx = 1\n```\nb", [("python", "x = 1")]),
        ("```\nx\n```", [("", "x")]),
        ("  ```sh run me\nls\n  ```", [("sh", "ls")]),
        ("```py\nx\n```<end_code>", [("py", "x")]),
        ("```py\nx\n```\n```sh\ny\n```", [("py", "x"), ("sh", "y")]),
        ("```md\n```py\nx\n```\n", [("md", "```py\nx")]),
        ("```py\nnever closed", []),
        ("use `ls` or ```ls``` inline", []),
        ("```py\n```", [("py", "")]),
        ("```x```\n```sh\nls\n```", [("sh", "ls")]),
        ("", []),
    ],
)
def test_the_code_blocks_of_a_text(text: str, found: list[tuple[str, str]]) -> None:
    assert [(block.language, block.code) for block in find_code_blocks(text)] == found


@pytest.mark.parametrize(
    ("language", "tool"), [("", "python"), ("PY", "python"), ("bash", "sh"), ("json", None)]
)
def test_what_runs_a_block(language: str, tool: str | None) -> None:
    [block] = find_code_blocks(f"```{language}\nx\n```")
    assert block.interpreter == tool
