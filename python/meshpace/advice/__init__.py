"""Advice on a mesh: whether pacing would help it, where, what it costs, and what else would help."""
