"""A real Ray; these tests are collected only where it is installed (`make test-ray`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from planproof.runs.engines.ray import SETTINGS

collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of a cluster with room for two workers and one that reads."""
    started = _start_ray()
    yield started.address
    started.shutdown()


def _start_ray(tries: int = 3) -> Any:
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    utilities: Any = import_module("ray.cluster_utils")
    head = {"num_cpus": 3, "include_dashboard": False}
    for left in reversed(range(tries)):
        try:
            return utilities.Cluster(initialize_head=True, head_node_args=head)
        except Exception:
            # Ray gives up after half a minute, which a busy machine may need.
            if not left:
                raise
    raise AssertionError
