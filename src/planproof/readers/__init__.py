"""Read sources into traces: one reader per format, and a general one for all others."""
