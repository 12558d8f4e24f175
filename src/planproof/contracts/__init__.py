"""Extract what a step requires in checkable form: values and terms."""
