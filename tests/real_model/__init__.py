"""A real model judges a case: `make test-real-model`. What it thinks of it does not matter."""
