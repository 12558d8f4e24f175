"""Planproof inside other frameworks; a folder's tests are collected in its environment only."""

from __future__ import annotations

import sys
from pathlib import Path

# `make test-NAME` runs the tests in the folder NAME with the environment .venvs/NAME.
collect_ignore = [
    folder.name
    for folder in Path(__file__).parent.iterdir()
    if folder.is_dir() and folder.name != Path(sys.prefix).name
]
