"""Writing a case for a model: as data, inside a budget, with nothing cut in silence."""
