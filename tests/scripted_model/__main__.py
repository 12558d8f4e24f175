"""The server as a process of its own: prints its address, and serves until its input ends.

`python -m tests.scripted_model LATENCY BOOK`: the book is a JSON file (`answers_of` says of what).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.scripted_model.answer_book import answer_from_book
from tests.scripted_model.server import ScriptedModel


def main() -> None:
    latency = float(sys.argv[1])
    good = answer_from_book(json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")))
    with ScriptedModel(good, latency=latency) as server:
        print(server.root, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
