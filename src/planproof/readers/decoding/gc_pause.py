"""The garbage collector, which has nothing to find while a trace is read."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Generator[None, None, None]:
    """Let the collector rest while much is made that is all kept, and that has no circles.

    It would look at all of it again and again: that takes a sixth of the reading of 50 MB. Who has
    switched it off finds it so afterwards.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
