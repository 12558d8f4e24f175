"""The cases that `planproof demo` judges."""
