"""Cases for `planproof demo`."""
