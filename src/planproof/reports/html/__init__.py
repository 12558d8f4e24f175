"""The report as a page: one file that holds all it needs and asks nobody for more."""
