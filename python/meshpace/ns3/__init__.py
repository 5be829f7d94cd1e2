"""The judge: the same scenario as input of a program of our own for ns-3.37."""
