"""Claims of Figs. 13 and 14 of the TCP-GAP paper: responsiveness (docs/experiments/gap.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable

from meshpace.experiments.gap.figures import PAPER, RETURNS
from meshpace.study.claims import Against, Ask, Claim
from meshpace.study.measures import Measure, from_series
from meshpace.study.rules import STARVES, Rule, about, equality
from meshpace.study.words import percent, share

Bins = dict[str, list[float]]
"""Goodput second by second, by flow. Flow 3 is the second one's return."""

_BOTH, _FREE, _AGAIN, _BEFORE = (20, 130), (140, 160), (170, 300), (100, 130)
"""Seconds of the run: both flows, the first alone, both again, and before the second stops (the catalogue's)."""
_QUICKLY, _MOVING = 10, 5
"""Seconds within which something is quick, and of the moving mean that shows it."""
_STUDY, _ALONE = "gap-responsiveness", "gap-responsiveness-alone"
_FIGURES = {"tcp-gap": "Fig. 13", "newreno": "Fig. 14"}


def _mean(bins: list[float], begin: int, end: int) -> float:
    return sum(bins[begin:end]) / (end - begin)


def _second(bins: Bins, begin: int, end: int) -> float:
    """What the second flow gets, as either of its connections."""
    return sum(_mean(bins[flow], begin, end) for flow in ("2", "3") if flow in bins)


def rate(begin: int, end: int) -> Callable[[Bins], float]:
    """Mean goodput of the first flow."""
    return lambda bins: _mean(bins["1"], begin, end)


def second_share(begin: int, end: int) -> Callable[[Bins], float | None]:
    """The second flow's part of what both get."""

    def take(bins: Bins) -> float | None:
        first, second = _mean(bins["1"], begin, end), _second(bins, begin, end)
        return second / (first + second) if first + second else None

    return take


def quickest(begin: int, take: Callable[[int, int], Callable[[Bins], float | None]]) -> Callable[[Bins], float | None]:
    """The greatest moving mean that ends soon after ``begin``."""

    def greatest(bins: Bins) -> float | None:
        starts = range(begin, begin + _QUICKLY - _MOVING + 1)
        found = [value for start in starts if (value := take(start, start + _MOVING)(bins)) is not None]
        return max(found, default=None)

    return greatest


def change(bins: Bins) -> float | None:
    """The first flow's goodput when it is alone against that before."""
    before = rate(*_BEFORE)(bins)
    return rate(*_FREE)(bins) / before - 1 if before else None


def _of_solo(scheme: str, take: Callable[[Bins], float | None]) -> tuple[Measure, Against]:
    """The first flow's goodput against what it gets on the same chain when there is no other flow."""
    alone = from_series(rate(*_BOTH), scheme)
    return from_series(take, scheme), Against(_ALONE, "", alone, lambda a, b: a / b if b else None)


def _ask(measure: Measure, rule: Rule, what: str, against: Against | None = None, study: str = _STUDY) -> Ask:
    show = share if against or rule.word != "EQUALITY" else percent
    return Ask(measure, rule, show, what, (study,), against=against)


def _solo(scheme: str, take: Callable[[Bins], float | None], rule: Rule, what: str) -> Ask:
    measure, against = _of_solo(scheme, take)
    return _ask(measure, rule, what, against)


def _claim(number: str, scheme: str, statement: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
    figure = _FIGURES[scheme]
    return Claim(
        number, statement, figure, f"{PAPER}, {figure}", printed, asks, value, "gap-switches-parallel-down"
    )  # fmt: skip


def _share(scheme: str, begin: int, end: int, rule: Rule, study: str = _STUDY) -> Ask:
    what = f"FTP 2's share from {begin} to {end} s"
    return _ask(from_series(second_share(begin, end), scheme), rule, what, study=study)


_GAP, _NEWRENO = "tcp-gap", "newreno"
_FAIR = about(0.4, 0.6)
_AS_SOLO = equality(0.9, 1.1)

TAKES_THE_FREE = (
    _solo(
        _GAP, quickest(_BOTH[1], rate), Rule("VALUE", low=0.8), "FTP 1's best 5 s within 10 s, of what it gets alone"
    ),
    _solo(_GAP, rate(*_FREE), _AS_SOLO, "FTP 1 from 140 to 160 s, of what it gets alone"),
)
"""What 13.2 asks."""


def _return(kind: str) -> tuple[Claim, Claim]:
    """13.3 and 14.2, which the reading of the flow's return could turn."""
    study, how = f"{_STUDY}{kind}", RETURNS[kind]
    quickly = from_series(quickest(160, second_share), _GAP)
    return (
        _claim(
            f"13.3{kind}", _GAP, f"When FTP 2 is back, TCP-GAP quickly shares fairly again ({how}).", "quickly fair",
            _share(_GAP, *_AGAIN, _FAIR, study),
            _ask(quickly, Rule("VALUE", low=0.4), "FTP 2's best 5 s within 10 s", study=study),
            value=0.5,
        ),
        _claim(
            f"14.2{kind}", _NEWRENO, f"With NewReno FTP 2 starves completely ({how}).", "starves",
            *(_share(_NEWRENO, *when, STARVES, study) for when in (_BOTH, (160, _AGAIN[1]))),
        ),
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "13.1", _GAP, "While both flows run, TCP-GAP shares fairly.", "fair", _share(_GAP, *_BOTH, _FAIR), value=0.5
    ),
    _claim("13.2", _GAP, "When FTP 2 stops, FTP 1 quickly takes all with TCP-GAP.", "quickly all", *TAKES_THE_FREE),
    _claim(
        "14.1", _NEWRENO, "With NewReno FTP 1 occupies everything.", "everything",
        *(_share(_NEWRENO, *when, STARVES) for when in (_BOTH, _AGAIN)),
        *(
            _solo(_NEWRENO, rate(*when), _AS_SOLO, f"FTP 1 from {when[0]} to {when[1]} s, of what it gets alone")
            for when in (_BOTH, _AGAIN)
        ),
    ),
    _claim(
        "14.3", _NEWRENO, "With NewReno FTP 1 does not change when FTP 2 stops.", "no change (follows)",
        _ask(from_series(change, _NEWRENO), equality(-0.1, 0.1), "FTP 1 from 140 to 160 s against 100 to 130 s"),
    ),
    *(claim for kind in RETURNS for claim in _return(kind)),
)  # fmt: skip
