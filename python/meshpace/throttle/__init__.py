"""The tables that ingress throttling goes by, and what they are made of."""
