"""Verdicts, plans and runs as text in a terminal, 80 columns wide."""
