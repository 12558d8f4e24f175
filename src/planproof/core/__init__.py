"""Data classes of planproof: trace, plan, case, finding, verdict and judge."""
