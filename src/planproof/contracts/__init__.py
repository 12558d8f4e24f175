"""What a step requires in a form that a program checks: values, and the words of tools."""
