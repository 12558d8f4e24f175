"""Write a case into a prompt: as data, within a budget, with all omissions marked."""
