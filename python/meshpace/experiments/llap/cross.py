"""The LLAP paper's experiments on a cross: the choice of alpha and responsiveness, Figs. 12 to 15."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from meshpace.experiments.llap.figures import LETTER, LLAP, PAPER, quick_plan
from meshpace.experiments.llap.udp import CONDITIONS
from meshpace.study.model import Axis, Plan, Point, Study, timed
from meshpace.study.quantities import FLOWS, GOODPUT, JAIN, TIMEOUTS

ALPHAS = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
CHOSEN = "0.9"
T0 = 20
"""From where on the time to fairness counts, s."""

Series = dict[str, list[float]]
Read = Callable[[Series], float | None]


def jain(goodputs: Sequence[float]) -> float | None:
    """Jain's index; None if nothing was delivered."""
    squares = math.fsum(x * x for x in goodputs)
    return math.fsum(goodputs) ** 2 / (len(goodputs) * squares) if squares else None


def _between(series: Series, begin: int, end: int) -> list[float]:
    """Mean goodput of every flow from second ``begin`` to ``end``."""
    return [math.fsum(values[begin:end]) / (end - begin) for values in series.values()]


def time_to_fairness(series: Series) -> float | None:
    """TTF: from T0 until Jain's index of the goodputs since T0 reaches 0.95 (schemes.md 0.3); all the time if never."""
    length = min(map(len, series.values()))
    for end in range(T0 + 1, length + 1):
        index = jain(_between(series, T0, end))
        if index is not None and index >= 0.95:
            return float(end - T0)
    return float(length - T0)


def share_of_first(begin: int, end: int) -> Read:
    """Of both flows' goodput from ``begin`` to ``end``, the first flow's part."""

    def read(series: Series) -> float | None:
        first, second = _between(series, begin, end)
        return first / (first + second) if first + second else None

    return read


def jain_between(begin: int, end: int) -> Read:
    """Jain's index of the goodputs from ``begin`` to ``end``."""
    return lambda series: jain(_between(series, begin, end))


def goodput_between(flow: int, begin: int, end: int) -> Read:
    """Goodput of a flow from ``begin`` to ``end``."""
    return lambda series: _between(series, begin, end)[flow]


def reaction(start: int, end: int, window: int = 5) -> Read:
    """From ``start`` until the second from which on Jain's index over 5 s stays at 0.9 and above; ``end`` if never."""

    def read(series: Series) -> float | None:
        since = end
        for second in range(end - window, start - 1, -1):
            index = jain(_between(series, second, second + window))
            if index is None or index < 0.9:
                break
            since = second
        return float(since - start)

    return read


def _alpha(value: float) -> Point:
    settings = tuple((f"scheme.{scheme}.llap_alpha", str(value)) for scheme in (LLAP, LETTER))
    return Point(str(value), settings, value)


_ALPHA = Study(
    name="llap-alpha",
    paper="llap",
    title="The weight of the past, alpha",
    figures=("Fig. 13",),
    source=f"{PAPER}, Figs. 12, 13",
    shows="Goodput of two flows that cross, and how soon they share fairly, over alpha.",
    scenario="llap-cross.toml",
    axis=Axis("alpha", "", tuple(map(_alpha, ALPHAS))),
    schemes=(LLAP, LETTER),
    conditions=CONDITIONS,
    quick=quick_plan(measure=timed(60, 0), points=("0.1", "0.5", "0.9", "0.99"), core_s=0.4),
    full=Plan(10, timed(500, 0), core_s=2.5),
    quantities=(GOODPUT, JAIN, TIMEOUTS),
    series=True,
    notes="Arms of 4 hops and the axis are the catalogue's.",
)
_RESPONSIVENESS = Study(
    name="llap-responsiveness",
    paper="llap",
    title="A flow that comes, and one that goes",
    figures=("Fig. 14", "Fig. 15"),
    source=f"{PAPER}, Figs. 14, 15",
    shows="Goodput over time of a flow from 0 to 60 s and one that crosses it from 30 to 90 s.",
    scenario="llap-cross.toml",
    axis=Axis("", "", (Point(""),)),
    schemes=("newreno", LLAP, LETTER),
    conditions=CONDITIONS,
    quick=quick_plan(seeds=8, measure=timed(90, 0), core_s=0.5),
    full=Plan(30, timed(90, 0), core_s=0.5),
    quantities=(GOODPUT, *FLOWS[:2], TIMEOUTS),
    settings=(("defaults.start_jitter", "0s"), ("flow.0.stop", "60s"), ("flow.1.start", "30s")),
    series=True,
)

STUDIES = (_ALPHA, _RESPONSIVENESS)
