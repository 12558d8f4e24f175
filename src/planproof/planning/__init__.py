"""Parse plans into steps, and find plans declared in a trace."""
