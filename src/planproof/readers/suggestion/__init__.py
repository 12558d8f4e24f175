"""Suggest a profile for a trace of unknown format, from its shape alone."""
