"""Count the source files that the second `planproof.evaluate` of a case executes.

    python -m scripts.count_files [CASE.json] [--list]

The first call imports and fills caches; the second shows how far a reader of the code has to look.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import planproof

MAX_FILES = 45
_CASE = Path("docs/examples/case.json")
_PACKAGE = Path(planproof.__file__).parent


def count_files(case: dict[str, Any]) -> dict[str, int]:
    """Return the executed files with the number of calls in each."""
    calls: dict[str, int] = {}

    def record(frame: FrameType, event: str, argument: object) -> None:
        del argument
        if event == "call":
            name = frame.f_code.co_filename
            calls[name] = calls.get(name, 0) + 1

    task, plan, trace = (case[field] for field in ("user_task", "agent_plan", "execution_trace"))
    planproof.evaluate(task=task, plan=plan, trace=trace)
    sys.setprofile(record)
    try:
        planproof.evaluate(task=task, plan=plan, trace=trace)
    finally:
        sys.setprofile(None)
    inside = {Path(name): count for name, count in calls.items() if name.startswith(str(_PACKAGE))}
    return {str(path.relative_to(_PACKAGE)): count for path, count in sorted(inside.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", nargs="?", type=Path, default=_CASE)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    files = count_files(json.loads(arguments.case.read_text(encoding="utf-8")))
    if arguments.list:
        print("\n".join(f"{count:>6}  {name}" for name, count in files.items()))
    print(f"{len(files)} source files are executed (limit {MAX_FILES})")
    sys.exit(len(files) > MAX_FILES)


if __name__ == "__main__":
    main()
