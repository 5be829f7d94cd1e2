"""LLAP with frames that are not overheard skipped, as section 5.5 of its paper has it, not counted as Algorithm 2 does.

The catalogue runs Algorithm 2's step 8 (docs/experiments/llap.md, O4). It is the ingredient that decides most, so
studies whose claims hang on it are run with the other reading, too; what does not pace is the same run.
"""

from __future__ import annotations

from dataclasses import replace

from meshpace.experiments.llap import figures as llap
from meshpace.experiments.llap import grid, tracking, udp
from meshpace.experiments.llap.figures import LLAP, TCP_AP
from meshpace.experiments.llap.udp import SIZES, chain_study
from meshpace.study.model import Study

SKIPPED = (
    "llap-table2", "llap-hops", "llap-flows", "llap-random-rates", "llap-wired-up", "llap-wired-down",
    *map(chain_study, SIZES), "llap-fhd-tracking", "llap-grid-udp-50", "llap-grid-udp-1000", "llap-grid-tcp",
)  # fmt: skip
"""The studies that are run with it, in the order of the paper."""


def skipping(name: str) -> str:
    """What a study of :data:`SKIPPED` is called with it."""
    return name.replace("llap-", "llap-skip-", 1)


def _skipping(study: Study) -> Study:
    return replace(
        study,
        name=skipping(study.name),
        title=f"{study.title}: misses skipped",
        figures=(),
        source=f"{study.source}; the reading of section 5.5",
        shows=f"{study.shows.removesuffix('.')}, where LLAP takes no sample of what it does not overhear.",
        schemes=tuple(scheme for scheme in study.schemes if scheme in {"newreno", LLAP, TCP_AP}),
        settings=(*study.settings, (f"scheme.{LLAP}.llap_miss", "skip")),
    )


_BY_NAME = {study.name: study for module in (llap, udp, tracking, grid) for study in module.STUDIES}

STUDIES = tuple(_skipping(_BY_NAME[name]) for name in SKIPPED)
