"""Models: the one place that talks to providers, within limits, with a cache and a price."""
