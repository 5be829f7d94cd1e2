"""The TCP-GAP paper's claims that the demo can judge, asked of the demo's runs."""

from __future__ import annotations

from dataclasses import replace

from meshpace.study.claims import Claim
from meshpace.study.verdicts import CLAIMS as OF_THE_PAPERS

_ASKED = (
    "8.1", "8.2", "8.3", "9.1", "9.2", "9.3", "10.1", "10.2", "10.3", "10.4", "11.1", "11.2", "11.3", "11.4",
    "jain-10s", "delay-chain-up", "delay-parallel-up", "delay-chain-down", "delay-parallel-down",
)  # fmt: skip
"""The claims by their numbers, in the order in which they are shown."""


def _of_the_demo(claim: Claim) -> Claim:
    """The same of the studies ``demo-...``, which are called as the paper's are."""
    asks = (replace(ask, studies=tuple(name.replace("gap-", "demo-", 1) for name in ask.studies)) for ask in claim.asks)
    return replace(claim, asks=tuple(asks))


_BY_ID = {claim.id: claim for claim in OF_THE_PAPERS if claim.study.startswith("gap-")}
CLAIMS: tuple[Claim, ...] = tuple(_of_the_demo(_BY_ID[id_]) for id_ in _ASKED)

HEADLINES = tuple(claim for claim in CLAIMS if any(ask.best for ask in claim.asks))
"""What is "up to": seeds are added until they are decided."""
