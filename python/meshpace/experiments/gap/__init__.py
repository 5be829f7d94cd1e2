"""The TCP-GAP paper (ElRakabawy, Klemm and Lindemann 2008; docs/experiments/gap.md)."""
