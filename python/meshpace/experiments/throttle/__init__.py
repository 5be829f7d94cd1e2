"""Ingress throttling (Osipov and Tschudin 2005; docs/experiments/ingress-throttling.md)."""
