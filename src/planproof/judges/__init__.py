"""Judges: a task, a plan and a trace in, findings out."""
