"""Decode bytes into documents: JSON, JSON Lines, archives, case files, trace files."""
