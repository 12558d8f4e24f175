"""`planproof demo`: judge three short cases that come with planproof."""

from __future__ import annotations

import sys

import typer

_CASES = {
    "followed": "The plan was followed.",
    "claimed": "One step was skipped, but the agent claims it was done.",
    "reordered": "Every step was done, but in a different order.",
}


def demo() -> None:
    """Judge three short cases that come with planproof.

    \b
    planproof demo

    In the first case the plan was followed, in the second a step was skipped but claimed, in the
    third the order is different. Needs no API key and no network.
    """
    from importlib.resources import files

    from rich.console import Group
    from rich.text import Text

    from planproof.cli.outputs import render_rich
    from planproof.evaluation import evaluate_case
    from planproof.readers.decoding.case_files import read_case
    from planproof.reports.terminal.verdict_lines import render_verdict

    for number, (name, story) in enumerate(_CASES.items(), 1):
        data = files("planproof.cli.demo_cases").joinpath(f"{name}.json").read_bytes()
        verdict = evaluate_case(read_case(data, name=f"{name}.json"))
        title = Text(f"{number} of {len(_CASES)}. {story}", "bold")
        sys.stdout.write(render_rich(Group(title, render_verdict(verdict)), sys.stdout))
    typer.echo("To judge your own: planproof judge CASE.json, or use --task, --plan and --trace.")
