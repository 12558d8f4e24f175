from __future__ import annotations

from typing import Any

import pytest

from tests.unit.readers.samples import actions, brief, read


def test_code_of_a_plain_assistant_that_the_user_side_runs() -> None:
    turns = [
        {"speaker": "assistant", "role": "assistant", "text": "```sh\nls\n```"},
        {"role": "user", "content": "exit code: 0\na.txt"},
        {"role": "user", "content": "Thanks."},
    ]
    trace = read(turns, reader="general")
    assert brief(trace) == [("action", "sh", "ls"), ("message", None, "Thanks.")]
    assert actions(trace)[0].output == "exit code: 0\na.txt"


@pytest.mark.parametrize(
    ("turn", "event"),
    [
        ({"role": "assistant", "message": "Hi."}, ("message", None, "Hi.")),
        ({"role": "system", "message": "Be good."}, ("system", None, "Be good.")),
        ({"sender": "human", "message": "Go."}, ("message", None, "Go.")),
        ({"agent": "Writer", "text": "A poem."}, ("message", None, "A poem.")),
        ({"role": "Boss (thinking)", "content": "Hm."}, ("reasoning", None, "Hm.")),
        ({"role": "Boss (->)", "content": "You."}, ("action", "hand-off", "You.")),
        ({"role": "", "content": "Who?"}, ("message", None, "Who?")),
    ],
)
def test_other_ways_to_write_a_turn(turn: dict[str, Any], event: tuple[str, Any, str]) -> None:
    assert brief(read([turn])) == [event]
