"""Claims of the LLAP paper about the grid of 100 nodes (docs/experiments/llap.md, Figs. 27 to 30, X.3)."""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.experiments.llap.claims import DRASTIC, MORE, claim
from meshpace.experiments.llap.claims_udp import fall
from meshpace.experiments.llap.figures import LLAP
from meshpace.experiments.llap.grid import EACH, LOST, SILENT
from meshpace.experiments.llap.udp import NONE
from meshpace.study.claims import Ask, Role
from meshpace.study.measures import Measure, change_along, difference, gain, of, over_axis
from meshpace.study.quantities import GOODPUT, JAIN
from meshpace.study.rules import NO_FAIRNESS, NO_GAIN, Rule, about, order
from meshpace.study.words import count, number, percent
from meshpace.study.words import difference as signed

Curve = Sequence[float]
_50, _1000, _TCP = ("llap-grid-udp-50",), ("llap-grid-udp-1000",), ("llap-grid-tcp",)
ABOVE = ("80", "100", "120", "160", "200", "240", "280", "320")


def _peak_at(loads: Curve, goodput: Curve) -> float | None:
    return loads[list(goodput).index(max(goodput))]


def _grows(at: str, than: str) -> Measure:
    """The gain at one load less that at another."""
    measure = gain(GOODPUT, LLAP)
    return change_along(measure, (than, at))


_FALL = {scheme: over_axis(fall, of(GOODPUT, scheme)) for scheme in (NONE, LLAP)}


def _smaller_fall(loads: Curve, theirs: Curve, ours: Curve) -> float | None:
    a, b = fall(loads, theirs), fall(loads, ours)
    return None if a is None or b is None else b - a


CLAIMS = (
    claim(
        "F28.1",
        "Without LLAP the aggregate falls drastically beyond 60 kbit/s offered.",
        "Fig. 28",
        "60 kbit/s",
        Ask(over_axis(_peak_at, of(GOODPUT, NONE)), about(40, 80), count, "Load with the most throughput", _50),
        Ask(_FALL[NONE], DRASTIC, percent, "Fall from the peak to 320 kbit/s", _50),
        value=60.0,
    ),
    claim(
        "F28.2",
        "With LLAP the fall is smaller.",
        "Fig. 28",
        "smaller",
        Ask(
            over_axis(_smaller_fall, of(GOODPUT, NONE), of(GOODPUT, LLAP)),
            order(NO_GAIN, rises=False),
            percent,
            "Fall with LLAP less that without",
            _50,
        ),
        Ask(_FALL[LLAP], Rule("ORDER", high=0.25), percent, "With LLAP", _50, role=Role.BESIDE),
    ),
    claim(
        "F28.3",
        "Above 60 kbit/s LLAP delivers more.",
        "Fig. 28",
        "more",
        Ask(gain(GOODPUT, LLAP), MORE, percent, "Against none", _50, ABOVE, " kbit/s"),
    ),
    claim(
        "F29.1",
        "LLAP raises the aggregate more as the load grows.",
        "Fig. 29",
        "improves",
        Ask(gain(GOODPUT, LLAP), MORE, percent, "Against none", _1000, ("2000",), " kbit/s"),
        Ask(_grows("2000", "1000"), order(NO_GAIN), percent, "Gain at 2,000 less that at 1,000 kbit/s", _1000),
        Ask(
            gain(GOODPUT, LLAP),
            Rule("BOUND", low=-NO_GAIN),
            percent,
            "Everywhere",
            _1000,
            None,
            " kbit/s",
            role=Role.GUARD,
        ),
        cause="llap-switches-grid",
    ),
    claim(
        "F30.1",
        "LLAP raises the aggregate of TCP flows.",
        "Fig. 30",
        "more",
        Ask(gain(GOODPUT, LLAP), MORE, percent, "Against NewReno", _TCP, tuple(map(str, EACH)), " from each side"),
        Ask(difference(JAIN, LLAP), order(), signed, "Jain's index less NewReno's", _TCP, role=Role.BESIDE),
        Ask(of(SILENT, "newreno"), order(), count, "Flows that deliver nothing, NewReno", _TCP, role=Role.BESIDE),
        Ask(of(SILENT, LLAP), order(), count, "With LLAP", _TCP, role=Role.BESIDE),
    ),
    claim(
        "X.3",
        "Overload raises losses and unfairness, and less so with LLAP.",
        "abstract",
        "raises",
        *(
            ask
            for where, size in ((_50, "50 bytes"), (_1000, "1,000 bytes"))
            for ask in (
                Ask(
                    change_along(of(LOST, NONE)),
                    order(NO_GAIN),
                    percent,
                    f"Loss from least to greatest load, {size}",
                    where,
                ),
                Ask(
                    change_along(of(JAIN, NONE)),
                    order(NO_FAIRNESS, rises=False),
                    number,
                    f"Jain's index from least to greatest load, {size}",
                    where,
                ),
                Ask(
                    change_along(difference(LOST, LLAP, NONE)),
                    order(NO_GAIN, rises=False),
                    percent,
                    f"The rise of losses with LLAP less that without, {size}",
                    where,
                ),
                Ask(
                    change_along(difference(JAIN, LLAP, NONE)),
                    order(NO_FAIRNESS),
                    signed,
                    f"The change of Jain's index with LLAP less that without, {size}",
                    where,
                ),
            )
        ),
    ),
)
