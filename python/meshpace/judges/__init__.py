"""What the judges have in common: other simulators that run the same scenario (``ns2``, ``ns3``)."""
