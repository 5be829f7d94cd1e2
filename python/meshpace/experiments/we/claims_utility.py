"""Claims of the WE TCP-AP paper's utility test (docs/experiments/we-tcp-ap.md, Figs. 22 and 23)."""

from __future__ import annotations

import math
from collections.abc import Callable

from meshpace.experiments.we.asking import claim
from meshpace.experiments.we.chains import WE
from meshpace.experiments.we.quantities import FORWARDED
from meshpace.experiments.we.utility import FAR
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import from_series, of
from meshpace.study.model import AS_IS
from meshpace.study.quantities import GOODPUT
from meshpace.study.rules import Rule, equality
from meshpace.study.words import count, megabits, number, share

Bins = dict[str, list[float]]
"""Goodput second by second, by flow: the first half are TCP's, the others WE TCP-AP's."""
AT_FIRST, LATER, QUICKLY_S = (0, 20), (60, 120), 40
"""Seconds (the catalogue's), and the time by which WE has adjusted."""


def classes(bins: Bins) -> tuple[list[float], list[float]]:
    """Goodput of TCP's flows and of WE TCP-AP's, second by second."""
    flows = list(bins.values())
    half = len(flows) // 2
    tcp, we = ([math.fsum(at) for at in zip(*part, strict=False)] for part in (flows[:half], flows[half:]))
    return tcp, we


def tcp_share(begin: int, end: int) -> Callable[[Bins], float | None]:
    """TCP's part of what both get."""

    def take(bins: Bins) -> float | None:
        tcp, we = (math.fsum(each[begin:end]) for each in classes(bins))
        return tcp / (tcp + we) if tcp + we else None

    return take


def we_by_tcp(bins: Bins) -> float | None:
    """WE TCP-AP's rate by TCP's, later."""
    tcp, we = (math.fsum(each[slice(*LATER)]) for each in classes(bins))
    return we / tcp if tcp else None


def adjusted_at(bins: Bins) -> float:
    """When the means since the start first are within 20 % of each other, seconds; the run's length if never."""
    tcp, we = classes(bins)
    one = other = 0.0
    for second, (a, b) in enumerate(zip(tcp, we, strict=False), start=1):
        one, other = one + a, other + b
        if one and other and abs(one - other) <= 0.2 * max(one, other):
            return float(second)
    return float(len(tcp))


def _claims(figure: str, flows: int) -> tuple[Claim, ...]:
    study, label = (f"we-utility-{flows}",), f"Fig. {figure}"
    return (
        claim(
            f"F{figure}.1",
            f"At first TCP grows faster and has more ({flows} flows each).",
            label,
            "faster",
            Ask(
                from_series(tcp_share(*AT_FIRST), WE),
                Rule("ORDER", 0.5, neutral=0.5),
                share,
                "TCP's part, 0 to 20 s",
                study,
            ),
        ),
        claim(
            f"F{figure}.2",
            f"Later both share fairly ({flows} flows each).",
            label,
            "fair",
            Ask(
                from_series(we_by_tcp, WE), equality(0.8, 1.25), number, "WE TCP-AP's rate by TCP's, 60 to 120 s", study
            ),
            Ask(
                of(FORWARDED, WE),
                equality(0.8, 1.25),
                number,
                "Data packets that M1 forwards, WE TCP-AP's by TCP's, 0 to 120 s",
                study,
                role=Role.BESIDE,
            ),
            *(
                Ask(
                    of(GOODPUT, WE),
                    Rule("VALUE", low=0.0),
                    megabits,
                    f"Delivered in all where everybody moves as printed{with_range}",
                    (f"{study[0]}-moving",),
                    (point,),
                    role=Role.BESIDE,
                )
                for point, with_range in ((AS_IS, ""), (FAR, f", {FAR}"))
            ),
        ),
        claim(
            f"F{figure}.3",
            f"WE TCP-AP adjusts quickly ({flows} flows each).",
            label,
            "quickly",
            Ask(
                from_series(adjusted_at, WE),
                Rule("VALUE", high=QUICKLY_S),
                count,
                "Seconds until the means since the start are within 20 % of each other",
                study,
            ),
        ),
    )


CLAIMS = (*_claims("22", 8), *_claims("23", 16))
