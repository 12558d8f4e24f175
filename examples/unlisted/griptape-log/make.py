"""Griptape: the log of a run, written to a file."""

from __future__ import annotations

import logging
import re
import tempfile
from pathlib import Path

from desk_agent import DESK_TURNS, make_agent
from normalization import normalize_trace
from order_desk import TASK
from scripted_model import scripted
from writing import write_trace

_TIME = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", re.MULTILINE)


def main() -> None:
    with scripted(*DESK_TURNS) as url, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "griptape.log")
        handler = logging.FileHandler(file)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        agent = make_agent(url)
        logging.getLogger("griptape").handlers = [handler]
        agent.run(TASK)
        handler.close()
        log = _TIME.sub("2026-01-01 09:00:00,000", file.read_text(encoding="utf-8"))
    write_trace(__file__, normalize_trace(log, ids=r"\b[0-9a-f]{32}\b"), name="trace.log")


if __name__ == "__main__":
    main()
