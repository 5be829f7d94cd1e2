"""Benchmark of the live gateway (bench/run_gateway.py)."""
