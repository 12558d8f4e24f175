"""How far a judge can be trusted: cases with known flaws and attacks, and what it makes of them."""
