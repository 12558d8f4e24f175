"""Runs captured while they go on: one recorder, and a thin host for each framework."""

from planproof.integrations.capture.recorder import Recorder

__all__ = ["Recorder"]
