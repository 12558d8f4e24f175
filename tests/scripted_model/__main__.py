"""The server as a process of its own: prints its address, and serves until its input ends.

`python -m tests.scripted_model LATENCY BOOK`: the book is a JSON file. It has the answers by the
words that stand behind its `mark` in what is asked, as many letters of them as `letters` says, and
then by the fields that the answer is to have; and one for everything `else`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.scripted_model.request import Asked
from tests.scripted_model.server import ScriptedModel


def main() -> None:
    latency = float(sys.argv[1])
    book: dict[str, Any] = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    answers: dict[str, dict[str, str]] = book["answers"]
    mark, letters, otherwise = str(book["mark"]), int(book["letters"]), str(book["else"])

    def behaviour(asked: Asked) -> str:
        _, _, behind = asked.text.partition(mark)
        form = "+".join(sorted((asked.schema or {}).get("properties", {})))
        return answers.get(behind[:letters], {}).get(form, otherwise)

    with ScriptedModel(behaviour, latency=latency) as server:
        print(server.root, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
