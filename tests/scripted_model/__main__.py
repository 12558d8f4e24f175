"""The server as a process of its own: prints its address, and serves until its input ends."""

from __future__ import annotations

import json
import sys

from tests.scripted_model.server import ScriptedModel


def main() -> None:
    latency, answer = float(sys.argv[1]), sys.argv[2]
    json.loads(answer)
    with ScriptedModel(lambda asked: answer, latency=latency) as server:
        print(server.root, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
