"""The data classes, and what belongs to them: trace, plan, case, finding, verdict, judge."""
