"""Check a trace against a plan: score, align, judge the steps and find extra actions."""
