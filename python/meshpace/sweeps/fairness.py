"""Fairness as readers of tables need it: among flows that take what they can get.

A call or an echo asks for little and gets it; counted in, it would read as a flow that others starve.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from meshpace.results import FlowResult, RunResult
from meshpace.study import quantities
from meshpace.study.quantities import Quantity
from meshpace.sweeps.delays import GREEDY, bulk


def _jain(run: RunResult) -> float | None:
    got = [flow["goodput_bps"] for flow in bulk(run)]
    squares = math.fsum(one * one for one in got)
    return math.fsum(got) ** 2 / (len(got) * squares) if squares else None


def _least(run: RunResult) -> float | None:
    got = [flow["goodput_bps"] for flow in bulk(run)]
    return min(got) / math.fsum(got) if any(got) else None


JAIN = Quantity("jain_bulk", "Jain's index of bulk flows", "", _jain, decimals=3, top=1.0)
SHARE = Quantity("smallest_share_bulk", "part of the weakest bulk flow", "%", _least, 100.0, 1, top=1.0)


def quantities_of(groups: Iterable[Iterable[FlowResult]]) -> tuple[Quantity, ...]:
    """Of these flows, run by run: nothing where each is alone, the bulk flows' where others are beside them."""
    several: tuple[Quantity, ...] = ()
    for flows in map(list, groups):
        greedy = sum(flow["app"] in GREEDY for flow in flows)
        if 0 < greedy < len(flows):
            if greedy > 1:
                return (JAIN, SHARE)
        elif len(flows) > 1:
            several = (quantities.JAIN, quantities.SHARE)
    return several
