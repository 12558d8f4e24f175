"""Engines that judge many cases: on this machine, or on a Ray cluster."""
