"""Claims of Figs. 8 and 9 of the TCP-GAP paper: chains (docs/experiments/gap.md, section 3)."""

from __future__ import annotations

from meshpace.experiments.gap.figures import CASES, LONG, PAPER, SHORT
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import change_along, gain, of, rank_along
from meshpace.study.model import scheme_name
from meshpace.study.quantities import DROPS, GOODPUT
from meshpace.study.rules import NO_GAIN, NO_LOSS, SLIGHTLY_LESS, Rule, equality, order, trend, up_to
from meshpace.study.words import count, difference, percent

_HOPS = " hops"
_AGAINST = "Against NewReno"
PRINTED = {"up": ("8", 0.41), "down": ("9", 0.42)}
"""The figure's number and the largest gain that it prints."""
TOLERANCE = 0.10
"""Of the largest gains with lasting flows: 10 points."""
_ENDS = (7, 8, 9)
"""Where the figure's axis, whose end is not printed, may end before 10 hops (O1)."""


def _long(study: str, rule: Rule, *, best: bool = False, role: Role = Role.CLAIM, end: int = 10) -> Ask:
    what = f"{_AGAINST} on an axis that ends at {end}" if end < 10 else _AGAINST
    points = tuple(point for point in LONG if int(point) <= end)
    return Ask(gain(GOODPUT), rule, percent, what, (study,), points, _HOPS, best, role)


def best_and_each(way: str, prefix: str = "gap") -> list[Claim]:
    """Claims N.2 and N.3: over 4 hops and more."""
    number, printed = PRINTED[way]
    study, figure = f"{prefix}-chain-{way}", f"Fig. {number}"
    wanted, cause = up_to(printed, TOLERANCE), f"gap-switches-chain-{way}"
    return [
        Claim(
            f"{number}.2",
            f"Over 4 hops and more TCP-GAP delivers up to {100 * printed:.0f} % more than NewReno, {CASES[way]}.",
            figure, f"{PAPER}, {figure}", f"up to +{100 * printed:.0f} %",
            (
                _long(study, wanted, best=True),
                _long(study, NO_LOSS, role=Role.GUARD),
                *(_long(study, wanted, best=True, role=Role.BESIDE, end=end) for end in _ENDS),
            ),
            printed, cause,
        ),
        Claim(
            f"{number}.3", f"At every length from 4 hops on TCP-GAP delivers more than NewReno, {CASES[way]}.",
            figure, f"{PAPER}, {figure}", "more (implied)", (_long(study, order(NO_GAIN)),), cause=cause,
        ),
    ]  # fmt: skip


def short(way: str, prefix: str = "gap") -> Claim:
    """Claim N.1: below 4 hops."""
    number, study = PRINTED[way][0], f"{prefix}-chain-{way}"
    if way == "up":
        statement, printed, rule = "delivers slightly less than NewReno", "slightly less", SLIGHTLY_LESS
    else:
        statement, printed, rule = "and NewReno differ by 3 % at most", "within 3 %", equality(-0.03, 0.03)
    return Claim(
        f"{number}.1", f"Below 4 hops TCP-GAP {statement}, {CASES[way]}.", f"Fig. {number}",
        f"{PAPER}, Fig. {number}", printed, (Ask(gain(GOODPUT), rule, percent, _AGAINST, (study,), SHORT, _HOPS),),
        cause=f"gap-switches-short-{way}",
    )  # fmt: skip


def _falls(way: str) -> Claim:
    number, study = PRINTED[way][0], f"gap-chain-{way}"
    asks = [
        ask
        for scheme in ("tcp-gap", "newreno")
        for ask in (
            Ask(
                rank_along(of(GOODPUT, scheme)), trend(0.2, rises=False), difference,
                f"Spearman's correlation of {scheme_name(scheme)}'s goodput with the hops", (study,), joint=scheme,
            ),
            Ask(
                change_along(of(GOODPUT, scheme)), order(rises=False), lambda v: count(v, factor=1e-3, unit=" kbit/s"),
                f"{scheme_name(scheme)} at the last length less the first", (study,), joint=scheme,
            ),
        )
    ]  # fmt: skip
    return Claim(
        f"{number}.4", f"Goodput falls with the number of hops, with both schemes, {CASES[way]}.", f"Fig. {number}",
        f"{PAPER}, section 5.2.2.2", "falls", tuple(asks),
    )  # fmt: skip


_FEWER_DROPS = Claim(
    "9.5", "Over 4 hops and more TCP-GAP loses fewer packets at the link layer for each delivered one than NewReno.",
    "Fig. 9", f"{PAPER}, Fig. 9", "fewer",
    (
        Ask(
            gain(DROPS), order(NO_GAIN, rises=False), percent, "Drops a delivered packet against NewReno",
            ("gap-chain-down",), LONG, _HOPS,
        ),
    ),
    cause="gap-switches-chain-down",
)  # fmt: skip


def chains(prefix: str = "gap") -> list[Claim]:
    """Figs. 8 and 9 but for trends and drops, of the studies PREFIX-chain-up and PREFIX-chain-down."""
    return [claim for way in PRINTED for claim in (short(way, prefix), *best_and_each(way, prefix))]


CLAIMS: tuple[Claim, ...] = (*chains(), *map(_falls, PRINTED), _FEWER_DROPS)
