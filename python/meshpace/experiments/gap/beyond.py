"""What the TCP-GAP paper does not show: the distance to the best fixed interval."""

from __future__ import annotations

from meshpace.experiments.gap.figures import FULL
from meshpace.study.model import AODV, STATIC, Axis, Plan, Point, Study, timed
from meshpace.study.quantities import DELAY, GIVEN_UP, GOODPUT, RESENT, ROUTE_FAILURES, TIMEOUTS

_OWN = "not in the papers"

_RATES = {
    # kbit/s of 1,500-byte packets, from half to one and a half of what NewReno and TCP-GAP reach at that length.
    4: (400, 450, 500, 550, 600, 650, 700, 750, 800),
    8: (300, 350, 375, 400, 425, 450, 475, 500, 550, 600),
}


def _oracle(hops: int, rates: tuple[int, ...]) -> Study:
    points = tuple(Point(str(r), (("scheme.fixed-rate.fixed_rate", f"{r}kbps"),), float(r)) for r in rates)
    return Study(
        name=f"gap-oracle-{hops}",
        paper="gap",
        title=f"The best fixed interval, {hops} hops",
        figures=(),
        source=_OWN,
        shows=f"Goodput of a {hops}-hop chain, wireless to wired, over the rate of a sender that spaces its packets "
        "evenly, beside schemes that find their interval themselves.",
        scenario="gap-fig08-chain-up.toml",
        axis=Axis("rate of the fixed interval", "kbit/s", points),
        schemes=("fixed-rate", "newreno", "tcp-ap", "tcp-gap"),
        level=("newreno", "tcp-ap", "tcp-gap"),
        conditions=(AODV, STATIC),
        settings=(("topology.hops", str(hops)),),
        quick=Plan(4, timed(60, 10), core_s=0.03),
        full=Plan(6, FULL, core_s=1.2),
        quantities=(GOODPUT, DELAY, RESENT, TIMEOUTS, GIVEN_UP, ROUTE_FAILURES),
    )


STUDIES = tuple(_oracle(hops, rates) for hops, rates in _RATES.items())
