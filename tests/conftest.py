"""Settings that every test runs under."""

from __future__ import annotations

import os

from hypothesis import settings

# A test sets no `max_examples` of its own: HYPOTHESIS_PROFILE=long must reach it.
settings.register_profile("default", max_examples=100, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("long", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
