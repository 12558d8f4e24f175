"""Run other tools on the same cases, if they are installed (`uv sync --group bench-peers`).

They do less: agentevals checks whether every planned tool was called, pm4py aligns the sequence of
tool names with the planned one. Neither reads the text of the plan.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable
from typing import Any

from benchmarks.cases import GeneratedCase

Peer = Callable[[GeneratedCase], object]


def find_peers() -> dict[str, Peer]:
    """Return the installed peers by name."""
    known = {"agentevals": _make_agentevals, "pm4py": _make_pm4py}
    return {name: make() for name, make in known.items() if importlib.util.find_spec(name)}


def _make_agentevals() -> Peer:
    match = importlib.import_module("agentevals.trajectory.match")
    evaluator = match.create_trajectory_match_evaluator(
        trajectory_match_mode="superset", tool_args_match_mode="ignore"
    )

    def run(case: GeneratedCase) -> object:
        planned = [{"role": "assistant", "content": "", "tool_calls": _build_calls(case)}]
        return evaluator(outputs=json.loads(case.trace), reference_outputs=planned)

    return run


def _build_calls(case: GeneratedCase) -> list[dict[str, Any]]:
    return [
        {"id": str(i), "type": "function", "function": {"name": tool, "arguments": "{}"}}
        for i, tool in enumerate(case.tools)
    ]


def _make_pm4py() -> Peer:
    log = importlib.import_module("pm4py.objects.log.obj")
    nets = importlib.import_module("pm4py.objects.petri_net.obj")
    arcs = importlib.import_module("pm4py.objects.petri_net.utils.petri_utils")
    alignments = importlib.import_module("pm4py.algo.conformance.alignments.petri_net.algorithm")

    def run(case: GeneratedCase) -> object:
        net = nets.PetriNet("plan")
        net_places = [nets.PetriNet.Place(f"p{i}") for i in range(len(case.tools) + 1)]
        net.places.update(net_places)
        for i, tool in enumerate(case.tools):
            transition = nets.PetriNet.Transition(f"t{i}", tool)
            net.transitions.add(transition)
            arcs.add_arc_from_to(net_places[i], transition, net)
            arcs.add_arc_from_to(transition, net_places[i + 1], net)
        called = [
            log.Event({"concept:name": call["function"]["name"]})
            for message in json.loads(case.trace)
            for call in message.get("tool_calls", ())
        ]
        ends = nets.Marking({net_places[0]: 1}), nets.Marking({net_places[-1]: 1})
        return alignments.apply_trace(log.Trace(called), net, *ends)

    return run
