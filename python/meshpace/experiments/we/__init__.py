"""The WE TCP-AP paper (Barreto 2016; docs/experiments/we-tcp-ap.md)."""
