"""The TCP-GAP paper's claims that the demo can judge."""

from __future__ import annotations

from meshpace.experiments.gap.claims_beyond import delay, fairness
from meshpace.experiments.gap.claims_chain import chains
from meshpace.experiments.gap.claims_parallel import same_way
from meshpace.study.claims import Claim

CLAIMS: tuple[Claim, ...] = (
    *chains("demo"),
    *same_way("up", "demo"),
    *same_way("down", "demo"),
    fairness("10s", "demo"),
    *delay("up", "demo"),
    *delay("down", "demo"),
)

HEADLINES = tuple(claim for claim in CLAIMS if any(ask.best for ask in claim.asks))
"""What is "up to": seeds are added until they are decided."""
