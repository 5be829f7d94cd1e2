"""The verdicts on every claim that the outcomes at hand allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from meshpace.report.model import Claim as Judged
from meshpace.study import registry
from meshpace.study.claims import Claim, judge
from meshpace.study.outcome import Outcome

#: Where claims stand: beside their studies, or, where both are many, in modules of their own.
_MODULES = ("gap_claims", "gap_claims_beyond", *registry.MODULES)

CLAIMS: tuple[Claim, ...] = tuple(
    claim for module in _MODULES for claim in getattr(import_module(f"meshpace.study.{module}"), "CLAIMS", ())
)


def judge_all(evidence: Mapping[str, Outcome], claims: Sequence[Claim] = CLAIMS) -> dict[str, tuple[Judged, ...]]:
    """The claims whose studies are complete, by the name of the study that they are told with.

    A cause is looked for only where its study of switches is complete too.
    """
    found: dict[str, list[Judged]] = {}
    for claim in claims:
        judged = judge(claim, evidence)
        if judged is not None:
            found.setdefault(claim.studies[0], []).append(judged)
    return {study: tuple(judged) for study, judged in found.items()}
