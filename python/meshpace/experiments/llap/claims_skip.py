"""The LLAP paper's claims about LLAP once more, of runs in which it skips what it does not overhear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from meshpace.experiments.llap import claims, claims_grid, claims_tables, claims_text, claims_tracking, claims_udp
from meshpace.experiments.llap.figures import LLAP
from meshpace.experiments.llap.skip import SKIPPED, skipping
from meshpace.study.claims import Ask, Claim, Role

_MODULES = (
    claims_tables, claims, claims_udp, claims_tracking, claims_grid, claims_text,
)  # fmt: skip


def _asks(claim: Claim) -> Iterator[Ask]:
    """Those that make the verdict, of the studies that are run with it."""
    for ask in claim.asks:
        if ask.role is Role.BESIDE or not set(ask.studies) <= set(SKIPPED):
            continue
        if ask.against is not None and ask.against.study not in SKIPPED:
            continue
        against = ask.against and replace(ask.against, study=skipping(ask.against.study))
        yield replace(ask, studies=tuple(map(skipping, ask.studies)), against=against)


def _skipped(claim: Claim) -> Claim | None:
    """The claim of the runs with misses skipped; None if it is not about LLAP, or needs runs that are not made so."""
    asks = tuple(_asks(claim))
    judged = [ask for ask in claim.asks if ask.role is not Role.BESIDE]
    if len(asks) < len(judged) or not any(LLAP in ask.measure.schemes for ask in asks):
        return None
    return replace(
        claim,
        id=f"{claim.id} skip",
        statement=f"{claim.statement} (misses skipped)",
        asks=asks,
        cause=None,
        told_with="",
    )


CLAIMS = tuple(skipped for module in _MODULES for claim in module.CLAIMS if (skipped := _skipped(claim)) is not None)
