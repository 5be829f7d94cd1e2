"""Studies: sets of runs, the figures made of them, the claims they are held against."""
