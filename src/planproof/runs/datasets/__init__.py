"""Data sets: what `planproof run` reads its cases from."""
