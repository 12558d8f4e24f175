"""From bytes to parsed documents: JSON, JSON Lines, archives, case files, trace files."""
