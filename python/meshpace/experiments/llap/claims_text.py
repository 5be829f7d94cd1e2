"""Claims of the LLAP paper's text (docs/experiments/llap.md, section 4), and its distance from fixed intervals."""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.experiments.llap.claims import LONG, MORE, SEVERAL, SIGNIFICANT, claim, wins
from meshpace.experiments.llap.claims_udp import CHAINS, at_the_knee, both, least_gain
from meshpace.experiments.llap.claims_udp import OFF as LOAD_OFF
from meshpace.experiments.llap.claims_udp import ON as LOAD_ON
from meshpace.experiments.llap.figures import LETTER, LLAP, OFF, TCP_AP
from meshpace.experiments.llap.grid import EACH
from meshpace.experiments.llap.quantities import (
    ADDED_BYTES,
    COLLIDED,
    FHD_ACTUAL,
    FIRST_DELAY,
    G_PAPER,
    TIMEOUTS_250,
    UNEVENNESS,
)
from meshpace.experiments.llap.text import BY_AODV, BY_STATIC
from meshpace.experiments.llap.udp import NONE, SIZES, self_similar_study
from meshpace.experiments.throttle.measures import at_least, at_most, contrast
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, difference, gain, mean_along, of, over_axis
from meshpace.study.quantities import DELAY, GOODPUT, ROUTE_FAILURES
from meshpace.study.rules import NO_GAIN, Rule, about, equality, order
from meshpace.study.words import count, number, percent
from meshpace.study.words import difference as signed

Curve = Sequence[float]
_LESS = Rule("MUCH", high=-0.10, neutral=0.0, margin=NO_GAIN)
_ABOVE_THE_KNEE = over_axis(least_gain, of(GOODPUT, NONE), of(GOODPUT, LLAP))
_ALL_CASES = (
    Ask(gain(G_PAPER, LLAP), SIGNIFICANT, percent, "Table 2, goodput", ("llap-table2",)),
    Ask(_ABOVE_THE_KNEE, SIGNIFICANT, percent, "Fig. 16, least gain above the knee", CHAINS),
    Ask(gain(DELAY, LLAP), _LESS, percent, "Fig. 17, delay", CHAINS, ("1500", "3000"), " kbit/s"),
    Ask(gain(FIRST_DELAY, LLAP), _LESS, percent, "Fig. 19, delay", ("llap-cbr-congestion",), None, " kbit/s"),
    Ask(
        _ABOVE_THE_KNEE, SIGNIFICANT, percent, "Fig. 21, least gain above the knee",
        tuple(map(self_similar_study, SIZES)),
    ),
    Ask(gain(GOODPUT, LLAP), SIGNIFICANT, percent, "Fig. 23", ("llap-hops",), LONG, " hops"),
    Ask(gain(GOODPUT, LLAP), SIGNIFICANT, percent, "Fig. 24", ("llap-flows",), SEVERAL, " flows"),
    Ask(mean_along(gain(GOODPUT, LLAP)), SIGNIFICANT, percent, "Fig. 26, mean gain", ("llap-random-rates",)),
    Ask(gain(GOODPUT, LLAP), SIGNIFICANT, percent, "Fig. 28", ("llap-grid-udp-50",), ("120", "320"), " kbit/s"),
    Ask(gain(GOODPUT, LLAP), SIGNIFICANT, percent, "Fig. 29", ("llap-grid-udp-1000",), ("2000",), " kbit/s"),
    Ask(
        gain(GOODPUT, LLAP), SIGNIFICANT, percent, "Fig. 30", ("llap-grid-tcp",), tuple(map(str, EACH)),
        " from each side",
    ),
)  # fmt: skip


def best_rate(size: int) -> Measure:
    """Packets a second at the peak times the true four-hop delay there: 1 if R_max = 1 / FHD."""

    def read(_: Curve, goodput: Curve, delay: Curve) -> float | None:
        best = max(goodput)
        return best / (8 * size) * delay[list(goodput).index(best)]

    return over_axis(read, of(GOODPUT, NONE), of(FHD_ACTUAL, NONE))


def _best_rates() -> list[Ask]:
    return [
        Ask(
            best_rate(size), about(0.8, 1.2), number, f"Best rate x four-hop delay, RTS/CTS {rts}, {size:,} bytes",
            (study,),
        )
        for rts, studies in (("off", LOAD_OFF), ("on", LOAD_ON))
        for size, study in zip(SIZES, studies, strict=True)
    ]  # fmt: skip


def _oracle(key: str, where: str) -> Claim:
    study = f"llap-oracle-{key}"

    def ask(scheme: str, what: str, role: Role) -> Ask:
        return Ask(
            gain(GOODPUT, "fixed-rate", scheme), Rule("VALUE", high=0.16), percent,
            f"The best fixed rate against {what}", (study,), unit=" kbit/s", best=True, role=role,
        )  # fmt: skip

    return Claim(
        f"llap oracle-{key}", f"No fixed interval delivers 16 % more than NewReno with LLAP, {where}.", "",
        "Not in the paper", "",
        (
            ask(LLAP, "LLAP", Role.CLAIM), ask(LETTER, "LLAP to the letter", Role.BESIDE),
            ask(TCP_AP, "TCP-AP", Role.BESIDE), ask("newreno", "NewReno", Role.BESIDE),
        ),
    )  # fmt: skip


CLAIMS = (
    claim(
        "X.1", "In all cases LLAP improves UDP and TCP significantly.", "abstract", "in all", *_ALL_CASES,
        told_with="llap-table2",
    ),
    claim(
        "X.2", "No packet is added, and no byte to any.", "abstract", "none",
        *both(CHAINS, lambda scheme: difference(ADDED_BYTES, scheme, NONE), equality(0.0, 0.0), signed,
              "Bytes of a data packet less those without LLAP", None, " kbit/s"),
    ),
    claim("X.4", "The best rate is one packet every four-hop delay.", "section 2", "1/FHD", *_best_rates()),
    claim(
        "X.7", "In a static net losses are taken for broken routes, and TCP times out.", "section 2", "times out",
        Ask(of(ROUTE_FAILURES, "newreno"), order(), count, "Route failures in 100 s", ("llap-routes",), (BY_AODV,)),
        Ask(
            contrast(of(TIMEOUTS_250, "newreno"), BY_AODV, of(TIMEOUTS_250, "newreno"), BY_STATIC), order(), count,
            "Timeouts in 250 s less those with static routes", ("llap-routes",),
        ),
    ),
    claim(
        "X.8", "With packets a four-hop delay apart collisions with hidden nodes vanish.", "section 6.2", "vanish",
        *both(("llap-hidden",), lambda scheme: gain(COLLIDED, scheme, NONE), at_most(-0.9), percent,
              "Collisions a packet delivered, against none"),
    ),
    claim(
        "X.9", "Delay upstream of the bottleneck costs nothing.", "section 2", "nothing",
        *both(CHAINS, lambda scheme: over_axis(at_the_knee, of(GOODPUT, NONE), of(GOODPUT, scheme)), at_least(0.95),
              number, "LLAP at the load of the peak without, over that peak"),
    ),
    claim(
        "X.11", "Pacing by four-hop delays at the sender helps one flow at one rate, not several flows or unequal "
        "rates.", "section 4.2", "one flow only",
        Ask(gain(G_PAPER, TCP_AP), MORE, percent, "TCP-AP against NewReno, one flow", ("llap-table1",), (OFF,)),
        Ask(
            gain(GOODPUT, TCP_AP), Rule("BOUND", high=NO_GAIN), percent, "Ten flows", ("llap-flows",), ("10",),
            " flows",
        ),
        Ask(
            wins("newreno")(TCP_AP), Rule("BOUND", high=0.5), number,
            "Part of the assignments of rates in which it helps", ("llap-random-rates",),
        ),
        *(
            Ask(
                difference(UNEVENNESS, TCP_AP, LLAP), order(), signed,
                f"The reason: how unevenly packets leave n0's MAC, TCP-AP less LLAP, {where}", ("llap-flows",),
                (flows,), " flows", role=Role.BESIDE,
            )
            for flows, where in (("1", "one flow"), ("10", "ten"))
        ),
        *(
            Ask(
                of(UNEVENNESS, scheme), at_least(0.0), number, f"Coefficient of variation there, {what}",
                ("llap-flows",), ("1", "10"), " flows", role=Role.BESIDE,
            )
            for scheme, what in ((TCP_AP, "TCP-AP"), (LLAP, "LLAP"), ("newreno", "NewReno"))
        ),
    ),
    _oracle("off", "2 Mbit/s without RTS/CTS"),
    _oracle("on", "2 Mbit/s with RTS/CTS"),
    _oracle("11", "11 Mbit/s with RTS/CTS"),
)  # fmt: skip
