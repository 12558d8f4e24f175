"""Shared parts of the readers: the trace builder, and parsers for messages, calls and spans."""
