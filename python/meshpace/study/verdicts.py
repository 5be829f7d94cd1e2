"""The verdicts on every claim that the outcomes at hand allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from meshpace.report.model import Claim as Judged
from meshpace.study import gap_claims, gap_claims_beyond
from meshpace.study.claims import Claim, judge
from meshpace.study.outcome import Outcome

CLAIMS: tuple[Claim, ...] = (*gap_claims.CLAIMS, *gap_claims_beyond.CLAIMS)


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
