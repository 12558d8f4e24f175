"""Strands Agents: the messages of an agent, as its session manager writes them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from normalization import normalize_trace
from order_desk import INSTRUCTIONS, TASK, TOOLS, TURNS
from scripted_model import MODEL, scripted
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager
from writing import write_trace


def main() -> None:
    with scripted(*TURNS) as url, tempfile.TemporaryDirectory() as folder:
        model = OpenAIModel(client_args={"base_url": url, "api_key": "none"}, model_id=MODEL)
        agent = Agent(
            model=model,
            tools=[tool(function) for function in TOOLS],
            system_prompt=INSTRUCTIONS,
            session_manager=FileSessionManager(session_id="desk", storage_dir=folder),
            callback_handler=None,
        )
        agent(TASK)
        files = sorted(
            Path(folder).rglob("message_*.json"), key=lambda file: int(file.stem.split("_")[1])
        )
        trace = [json.loads(file.read_bytes()) for file in files]
    trace = normalize_trace(trace, durations=("timeToFirstByteMs",))
    write_trace(__file__, trace, name="trace.jsonl")


if __name__ == "__main__":
    main()
