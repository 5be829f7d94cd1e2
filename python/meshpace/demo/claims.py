"""The TCP-GAP paper's claims that the demo can judge."""

from __future__ import annotations

from meshpace.study.claims import Claim
from meshpace.study.gap_claims import chains, same_way
from meshpace.study.gap_claims_beyond import delay, fairness

CLAIMS: tuple[Claim, ...] = (
    *chains("demo"),
    *same_way("up", "demo"),
    *same_way("down", "demo"),
    fairness("10s", "demo"),
    *delay("up", "demo"),
    *delay("down", "demo"),
)
