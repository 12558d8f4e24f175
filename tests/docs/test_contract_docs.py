"""What the page on contracts shows of compiling is what the program prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

from scripts.doc_blocks import find_blocks_for
from scripts.shell import Shell, extract_commands
from tests.scripted_model import ScriptedModel

_ANSWER = {
    "steps": [
        {
            "number": "1",
            "text": "Look up order A-1042.",
            "all_of": [
                {"call": ["get_order"], "where": [{"name": "order_id", "any_of": ["A-1042"]}]}
            ],
        },
        {
            "number": "2",
            "text": "Check the refund policy for the order's category.",
            "all_of": [
                {
                    "call": ["get_refund_policy"],
                    "where": [{"name": "category", "from_step": "1", "for": "category"}],
                }
            ],
        },
        {
            "number": "3",
            "text": "Refund the full amount of the order.",
            "all_of": [
                {
                    "call": ["refund_order"],
                    "where": [
                        {"name": "order_id", "from_step": "1"},
                        {"name": "amount", "from_step": "1", "for": "full amount"},
                    ],
                }
            ],
        },
        {
            "number": "4",
            "text": "E-mail a confirmation to the customer.",
            "all_of": [{"call": ["send_email"], "where": [{"name": "to", "from_step": "1"}]}],
            "doubt": "the plan does not say what the confirmation contains; only `to` is checked",
        },
    ]
}
"""A careful answer to the question for the plan in docs/examples."""
_TOKENS = re.compile(r"^1 call, .*$", re.MULTILINE)
"""The length of the question, which changes with the prompt."""


def test_compile_prints_what_is_shown(tmp_path: Path) -> None:
    [block] = find_blocks_for(__file__)
    with ScriptedModel(lambda _: json.dumps(_ANSWER)) as server:
        settings = {
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "none",
            "PLANPROOF_CACHE": str(tmp_path / "answers.db"),
        }
        shell = Shell.with_examples(tmp_path, settings)
        shown = "".join(
            f"$ {command}\n{shell.run(command).output}"
            for command in extract_commands(block.text, block.language)
        )
    assert _TOKENS.sub("1 call", shown) == block.text
