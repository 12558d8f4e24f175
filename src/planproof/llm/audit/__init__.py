"""The judge `audit`: a model names evidence, the program verifies it."""
