"""Reading a source into a trace: one reader a format, and the general one for all the rest."""
