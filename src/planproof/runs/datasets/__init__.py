"""Data sets: the files that `planproof run` reads cases from."""
