"""Runs over many cases: data sets, engines, the store, summaries and comparisons."""
