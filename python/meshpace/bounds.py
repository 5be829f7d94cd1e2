"""How large the numbers of runs may be, on the command line, in a study's file and from Python."""

MAX_SEED = 2**64 - 1
"""The engine's seeds have 64 bits."""
MAX_SEEDS = 100_000
MAX_THREADS = 1024
