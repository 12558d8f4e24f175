"""LLM (llm.datasette.io): a conversation with tools, as `llm logs --json` prints it."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from normalization import normalize_trace
from order_desk import INSTRUCTIONS, TASK, TOOLS, TURNS
from scripted_model import MODEL, scripted
from writing import write_trace


def main() -> None:
    program = Path(sys.executable).with_name("llm")
    with scripted(*TURNS) as url, tempfile.TemporaryDirectory() as folder:
        Path(folder, "extra-openai-models.yaml").write_text(
            f"- model_id: scripted\n  model_name: {MODEL}\n  api_base: {url}\n"
            "  supports_tools: true\n",
            encoding="utf-8",
        )
        functions = Path(folder, "desk.py")
        functions.write_text("\n\n".join(map(inspect.getsource, TOOLS)), encoding="utf-8")
        environment = {**os.environ, "LLM_USER_PATH": folder, "OPENAI_API_KEY": "none"}
        prompt = ("-m", "scripted", "-s", INSTRUCTIONS, "--functions", functions, "--no-stream")
        subprocess.run(
            [program, "prompt", *prompt, "--cl", "0", TASK],
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        logs = subprocess.check_output(
            [program, "logs", "list", "-n", "0", "--json"], env=environment
        )
    trace = normalize_trace(
        json.loads(logs), ids=r"\b01[0-9a-hjkmnp-tv-z]{24}\b", durations=("duration_ms",)
    )
    write_trace(__file__, trace)


if __name__ == "__main__":
    main()
