"""What the TCP-GAP paper does not show, put as claims: delay, fairness over seconds, retransmissions, the optimum."""

from __future__ import annotations

from functools import partial

from meshpace.stats import Estimate
from meshpace.study.claims import Cause, Claim, Evidence, Judgement
from meshpace.study.gap import CASES, LONG
from meshpace.study.judges import everywhere
from meshpace.study.model import Condition
from meshpace.study.quantities import DELAY, GOODPUT, JAIN_1S, JAIN_10S, JAIN_100S, RESENT
from meshpace.study.rules import above, below, combine, number, percent
from meshpace.study.statistics import at_points, difference, gain

_OWN = "Not in the paper"
_FROM_THE_BEST = 0.16
"""ns-2.35's TCP-AP stays 1 to 16 % below the best fixed interval (reference/README.md, measured beside NewReno, 4)."""

_QUEUES = {"up": "the sender's own pacing queue excluded", "down": "the gateway's pacing queue included"}
"""From the hand-over to the network layer to the first arrival, so the two places of pacing count differently."""
_WINDOWS = {"1s": ("1 s", JAIN_1S), "10s": ("10 s", JAIN_10S), "100s": ("100 s", JAIN_100S)}


def _lower(switches: str) -> Cause:
    return Cause(switches, gain(DELAY), percent, high=0.0)


def delay(way: str, prefix: str = "gap") -> list[Claim]:
    """What pacing does to the delay on PREFIX-chain-WAY and PREFIX-parallel-WAY."""
    sooner = partial(
        everywhere, source=_OWN, printed="", tolerance="the difference is below zero", statistic=gain(DELAY),
        answer=lambda v: below(v, 0.0), show=percent, what="One-way delay against NewReno",
    )  # fmt: skip
    chain, parallel, where = f"{prefix}-chain-{way}", f"{prefix}-parallel-{way}", f"{CASES[way]}, {_QUEUES[way]}"
    return [
        sooner(
            f"{chain}-delay", f"Over 4 hops and more packets of TCP-GAP arrive sooner, {where}.", studies={chain: ""},
            points=LONG, unit=" hops", cause=_lower(f"gap-switches-chain-{way}"),
        ),
        sooner(
            f"{parallel}-delay", f"On parallel chains packets of TCP-GAP arrive sooner, {where}.",
            studies={parallel: ""}, cause=_lower(f"gap-switches-parallel-{way}"),
        ),
    ]  # fmt: skip


def fairness(window: str, prefix: str = "gap") -> Claim:
    """How equally the chains of PREFIX-parallel-... share the gateway, window by window."""
    title, quantity = _WINDOWS[window]
    return everywhere(
        f"{prefix}-parallel-jain-{window}",
        f"On parallel chains TCP-GAP is fairer than NewReno over windows of {title}.",
        source=_OWN, printed="", studies={f"{prefix}-parallel-{way}": CASES[way] for way in CASES},
        tolerance="the difference of Jain's index is above zero in each case", statistic=difference(quantity),
        answer=lambda v: above(v, 0.0), show=number, what="Jain's index less NewReno's",
        cause=Cause("gap-switches-parallel-mix", difference(quantity), number, low=0.0),
    )  # fmt: skip


def _per_1000(value: Estimate) -> str:
    return f"{value.mean:+.1f}"


def _resent() -> Claim:
    return everywhere(
        "gap-chain-resent", "Over 4 hops and more TCP-GAP resends less than NewReno.", source=_OWN, printed="",
        studies={f"gap-chain-{way}": f"{CASES[way]}," for way in ("up", "down")}, points=LONG, unit=" hops",
        tolerance="the difference is below zero at each hop count", statistic=difference(RESENT),
        answer=lambda v: below(v, 0.0), show=_per_1000, what="Resent per 1,000, less NewReno's",
        cause=Cause("gap-switches-chain-up", difference(RESENT), _per_1000, high=0.0),
    )  # fmt: skip


def _oracle(hops: int) -> Claim:
    study = f"gap-oracle-{hops}"

    def judge(evidence: Evidence, condition: Condition) -> Judgement | None:
        gains = at_points(evidence[study], condition, gain(GOODPUT, "fixed-rate", "tcp-gap"), unit=" kbit/s")
        if not gains:
            return None
        label, best = max(gains, key=lambda g: g[1].mean)
        verdict = combine([below(best, _FROM_THE_BEST)])
        return Judgement(verdict, percent(best), f"The best fixed rate, {label}, against TCP-GAP: {percent(best)}.")

    return Claim(
        f"{study}-near",
        f"Over {hops} hops no fixed interval delivers {100 * _FROM_THE_BEST:.0f} % more than TCP-GAP finds by itself.",
        _OWN, "", f"the best fixed interval delivers less than {100 * _FROM_THE_BEST:.0f} % more", (study,), judge,
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    *delay("up"),
    *delay("down"),
    _resent(),
    *map(fairness, _WINDOWS),
    _oracle(4),
    _oracle(8),
)
