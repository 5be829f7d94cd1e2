"""Adaptive pacing for TCP over multihop wireless meshes: simulator, studies, report."""
