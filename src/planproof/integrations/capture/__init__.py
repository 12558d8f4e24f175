"""Capture runs live: a recorder, and one thin adapter per agent framework."""

from planproof.integrations.capture.recorder import Recorder

__all__ = ["Recorder"]
