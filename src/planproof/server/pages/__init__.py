"""The pages: runs, their cases, two runs side by side, what goes on now, and a case to try."""
