"""Model judges without the packages of the extra `llm`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small_cases import FOLLOWED


@pytest.mark.parametrize(
    "arguments",
    [
        ("judge", "case.json", "--judge", "audit", "--model", "openai:NAME"),
        ("judge", "case.json", "--model", "openai:NAME"),
        ("compile", "plan.md", "--model", "openai:NAME"),
    ],
)
def test_a_model_without_its_packages_names_the_extra(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "case.json").write_text(json.dumps(FOLLOWED), encoding="utf-8")
    (tmp_path / "plan.md").write_text("1. Archive report 12\n", encoding="utf-8")
    # In a process of its own, because other tests import the package.
    program = f"""
import sys
sys.modules["pydantic_ai"] = None
sys.argv = ["planproof", *{arguments!r}]
from planproof.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert 'pip install "planproof[llm]"' in done.stderr
