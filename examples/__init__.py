"""Small cases made by running real agent frameworks on a scripted model."""
