"""Genkit: the messages of a response (`response.messages`), as JSON."""

from __future__ import annotations

import json

from node_tool import run_script
from writing import write_trace


def main() -> None:
    write_trace(__file__, json.loads(run_script(__file__)))


if __name__ == "__main__":
    main()
