"""Measure a judge's reliability on cases with known flaws and attacks."""
