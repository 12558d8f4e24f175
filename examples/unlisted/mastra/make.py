"""Mastra: the steps of an agent's result (`result.steps`), as JSON.

The requests to the model and the headers of its responses are left out.
"""

from __future__ import annotations

import json

from node_tool import run_script
from normalization import normalize_trace
from writing import write_trace


def main() -> None:
    steps = json.loads(run_script(__file__))
    for step in steps:
        del step["request"], step["response"]["headers"]
    write_trace(__file__, normalize_trace(steps))


if __name__ == "__main__":
    main()
