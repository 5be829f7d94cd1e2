"""The judge: the same scenario as a script of our own making for ns-2.35."""
