"""The public surface is the one on record."""

from __future__ import annotations

from difflib import unified_diff

import pytest

from scripts.snapshot_surface import FILE, UPDATE, render_surface


def test_the_public_surface_is_the_recorded_one() -> None:
    recorded = FILE.read_text(encoding="utf-8")
    now = render_surface()
    if now == recorded:
        return
    lines = unified_diff(
        recorded.splitlines(), now.splitlines(), "recorded", "now", n=1, lineterm=""
    )
    advice = f"If that is intended, run `{UPDATE}`, note it in CHANGELOG.md, and commit both."
    pytest.fail(
        "\n".join(["The public surface has changed.", "", *lines, "", advice]), pytrace=False
    )
