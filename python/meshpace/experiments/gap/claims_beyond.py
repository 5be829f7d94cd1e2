"""What the TCP-GAP paper does not show, put as claims: delay, fairness over seconds, retransmissions, the optimum."""

from __future__ import annotations

from meshpace.experiments.gap.figures import CASES, LONG
from meshpace.study.claims import Ask, Claim
from meshpace.study.measures import difference, gain
from meshpace.study.quantities import DELAY, GOODPUT, JAIN_1S, JAIN_10S, JAIN_100S, RESENT
from meshpace.study.rules import FAIRER, NO_GAIN, Rule, order
from meshpace.study.words import count, percent
from meshpace.study.words import difference as signed

_OWN = "Not in the paper"
_FROM_THE_BEST = 0.16
"""ns-2.35's TCP-AP stays 1 to 16 % below the best fixed interval (reference/README.md, measured beside NewReno, 4)."""

_QUEUES = {"up": "the sender's own pacing queue excluded", "down": "the gateway's pacing queue included"}
"""From the hand-over to the network layer to the first arrival, so the two places of pacing count differently."""
_WINDOWS = {"1s": ("1 s", JAIN_1S), "10s": ("10 s", JAIN_10S), "100s": ("100 s", JAIN_100S)}


def delay(way: str, prefix: str = "gap") -> list[Claim]:
    """What pacing does to the delay on PREFIX-chain-WAY and PREFIX-parallel-WAY."""
    where, sooner = f"{CASES[way]}, {_QUEUES[way]}", order(NO_GAIN, rises=False)

    def ask(study: str, points: tuple[str, ...] | None = None) -> tuple[Ask, ...]:
        return (Ask(gain(DELAY), sooner, percent, "One-way delay against NewReno", (study,), points, " hops"),)

    return [
        Claim(
            f"delay-chain-{way}", f"Over 4 hops and more packets of TCP-GAP arrive sooner, {where}.", "", _OWN, "",
            ask(f"{prefix}-chain-{way}", LONG), cause=f"gap-switches-chain-{way}",
        ),
        Claim(
            f"delay-parallel-{way}", f"On parallel chains packets of TCP-GAP arrive sooner, {where}.", "", _OWN, "",
            ask(f"{prefix}-parallel-{way}"), cause=f"gap-switches-parallel-{way}",
        ),
    ]  # fmt: skip


def fairness(window: str, prefix: str = "gap") -> Claim:
    """How equally the chains of PREFIX-parallel-... share the gateway, window by window."""
    title, quantity = _WINDOWS[window]
    studies = tuple(f"{prefix}-parallel-{way}" for way in CASES)
    return Claim(
        f"jain-{window}", f"On parallel chains TCP-GAP is fairer than NewReno over windows of {title}.", "", _OWN, "",
        (Ask(difference(quantity), FAIRER, signed, "Jain's index less NewReno's", studies),),
        cause="gap-switches-parallel-mix",
    )  # fmt: skip


_RESENDS = Claim(
    "resent", "Over 4 hops and more TCP-GAP resends less than NewReno.", "", _OWN, "",
    (
        Ask(
            difference(RESENT), order(rises=False), count, "Resent per 1,000, less NewReno's",
            ("gap-chain-up", "gap-chain-down"), LONG, " hops",
        ),
    ),
    cause="gap-switches-chain-up",
)  # fmt: skip


def _oracle(hops: int) -> Claim:
    return Claim(
        f"oracle-{hops}",
        f"Over {hops} hops no fixed interval delivers {100 * _FROM_THE_BEST:.0f} % more than TCP-GAP finds by itself.",
        "", _OWN, "",
        (
            Ask(
                gain(GOODPUT, "fixed-rate", "tcp-gap"), Rule("VALUE", high=_FROM_THE_BEST), percent,
                "The best fixed rate against TCP-GAP", (f"gap-oracle-{hops}",), unit=" kbit/s", best=True,
            ),
        ),
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    *delay("up"),
    *delay("down"),
    _RESENDS,
    *map(fairness, _WINDOWS),
    _oracle(4),
    _oracle(8),
)
