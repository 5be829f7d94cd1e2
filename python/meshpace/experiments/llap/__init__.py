"""The LLAP paper (Franklin and Siva Ram Murthy 2008; docs/experiments/llap.md)."""
