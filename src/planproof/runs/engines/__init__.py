"""Engines that judge many cases: this machine, or a Ray cluster."""
