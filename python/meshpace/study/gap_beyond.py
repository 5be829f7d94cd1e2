"""What the TCP-GAP paper does not show: the distance to the best fixed interval, and which ingredient makes a result.

A switch changes one ingredient of a scenario and leaves the rest as it is. Where a claim does not hold, the switch that
moves its number most towards the paper's is the ingredient to blame; if none does, that is said.
"""

from __future__ import annotations

from meshpace.study.gap import DOWN, FAST, FULL, PARALLEL, UP, timed
from meshpace.study.model import AODV, AS_IS, PAPER_CONDITIONS, STATIC, Axis, Plan, Point, Settings, Study
from meshpace.study.quantities import DELAY, GIVEN_UP, GOODPUT, JAIN, JAIN_10S, RESENT, ROUTE_FAILURES, SHARE, TIMEOUTS

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
        quick=Plan(3, timed(80, 10), core_s=0.03),
        full=Plan(3, FULL, core_s=0.8),
        quantities=(GOODPUT, DELAY, RESENT, TIMEOUTS, GIVEN_UP, ROUTE_FAILURES),
    )


_SCHEMES = ("newreno", "tcp-gap")
_WITH_NOGC = (*_SCHEMES, "tcp-gap-nogc")


def _of_schemes(parameter: str, value: str) -> Settings:
    return tuple((f"scheme.{scheme}.{parameter}", value) for scheme in _WITH_NOGC)


SWITCHES = Axis(
    "ingredient",
    "",
    (
        Point(AS_IS),
        Point("static routes", routing="static"),
        Point("AODV as in ns-2", routing="aodv"),
        Point("AODV after RFC 3561", routing="rfc3561"),
        Point("reception by SINR", reception="sinr"),
        Point("reception as in ns-2", reception="ns2-capture"),
        Point("no RTO back-off", _of_schemes("ap_rto_backoff", "false")),
        Point("minimum RTO 1 s", _of_schemes("rto_min", "1s")),
        Point("initial ssthresh 64", _of_schemes("initial_ssthresh", "64")),
        Point("window 20", (("defaults.window", "20"),)),
        Point("wired delay 5 ms a link", (("topology.wired_delay", "5ms"),)),
        Point("no RTS/CTS", (("radio.rts", "never"),)),
    ),
)
"""One ingredient at a time. A switch to what a condition has already is that condition as it is, and costs nothing."""


def _switches(
    family: str,
    title: str,
    scenario: str,
    settings: Settings,
    quick: Plan,
    full: Plan,
    schemes: tuple[str, ...] = _SCHEMES,
) -> Study:
    return Study(
        name=f"gap-switches-{family}",
        title=f"One ingredient at a time: {title}",
        figures=(),
        source=_OWN,
        shows=f"What one changed ingredient does to the schemes: {title}.",
        scenario=scenario,
        axis=SWITCHES,
        schemes=schemes,
        conditions=PAPER_CONDITIONS,
        settings=settings,
        quick=quick,
        full=full,
        quantities=(GOODPUT, SHARE, JAIN, JAIN_10S, DELAY, RESENT, TIMEOUTS, ROUTE_FAILURES),
    )


_TIMED = (Plan(3, timed(50, 10), core_s=0.04), Plan(5, timed(200, 20), core_s=0.15))
"""Quick and full. Many changes are compared, so more seeds tell more than longer runs."""
_CHAINS = {"up": ("gap-fig08-chain-up.toml", UP), "down": ("gap-fig09-chain-down.toml", DOWN)}


def _chain_switches(way: str, hops: int, family: str) -> Study:
    scenario, direction = _CHAINS[way]
    return _switches(family, f"chain of {hops} hops, {direction}", scenario, (("topology.hops", str(hops)),), *_TIMED)


STUDIES = (
    *(_oracle(hops, rates) for hops, rates in _RATES.items()),
    *(_chain_switches(way, 8, f"chain-{way}") for way in _CHAINS),
    *(_chain_switches(way, 3, f"short-{way}") for way in _CHAINS),
    _switches("parallel-up", "parallel chains, wireless to wired", f"{PARALLEL['up']}.toml", (), *_TIMED),
    _switches("parallel-down", "parallel chains, wired to wireless", f"{PARALLEL['down']}.toml", (), *_TIMED),
    _switches("parallel-mix", "parallel chains, one flow each way", f"{PARALLEL['mix']}.toml", (), *_TIMED, _WITH_NOGC),
    *(
        _switches(
            f"54mbps-{profile}", f"54 Mbit/s, {what}, wired links of 20 Mbit/s", "gap-fig15-54mbps.toml",
            (("topology.wired_rate", "20Mbps"), ("radio.standard", standard)), Plan(3, timed(20, 5), core_s=0.06),
            Plan(5, timed(60, 10), core_s=0.17),
        )
        for profile, (standard, what) in FAST.items()
    ),
    _switches("http", "web traffic on parallel chains", "gap-fig22-http-parallel.toml", (), *_TIMED),
)  # fmt: skip
