"""Which event belongs to which step: words, values and deeds held against each other."""
