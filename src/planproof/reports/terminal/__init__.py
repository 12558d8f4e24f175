"""Terminal reports: verdicts, plans and runs as text, 80 columns wide."""
