"""From a plan as it was written down to its steps."""
