"""Sweeps: anybody's scenario varied along keys, with several schemes and seeds."""
