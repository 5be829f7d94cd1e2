"""Claims of Figs. 15 and 16 of the TCP-GAP paper: 54 Mbit/s (docs/experiments/gap.md, section 3)."""

from __future__ import annotations

from dataclasses import replace

from meshpace.experiments.gap.figures import FAST, PAPER, WIRED_RATES
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import (
    Measure,
    Values,
    change_along,
    difference,
    gain,
    mean_along,
    of,
    rank_along,
    rise_along,
)
from meshpace.study.model import Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import DROPS, GOODPUT, JAIN
from meshpace.study.rules import EQUAL, FAIRER, NEARLY, NO_FAIRNESS, NO_GAIN, Rule, about, equality, order, trend
from meshpace.study.words import count, megabits, number, percent, share
from meshpace.study.words import difference as signed

_GAP, _NEWRENO = "tcp-gap", "newreno"
_BOTH = (_GAP, _NEWRENO)
_LIMITED = tuple(str(rate) for rate in WIRED_RATES if rate <= 5)
_FREE = tuple(str(rate) for rate in WIRED_RATES if rate > 5)
_FROM_10 = tuple(str(rate) for rate in WIRED_RATES if rate >= 10)
_PLATEAU = tuple(str(rate) for rate in WIRED_RATES if rate >= 20)
_UNIT = " Mbit/s wired"
_PAYLOAD = 1460 / 1500
"""Of a packet at IP."""


def _of_the_wire(scheme: str) -> Measure:
    """Goodput as a part of what the wired links carry."""
    measure = of(GOODPUT, scheme)

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        values = measure.take(outcome, condition, point)
        rate = outcome.study.point(point).value
        if rate is None:  # a study of switches, whose points are no rates
            return [None] * len(values)
        carried = rate * 1e6 * _PAYLOAD
        return [None if v is None else v / carried for v in values]

    return replace(measure, take=take)


def _claims(profile: str) -> list[Claim]:
    study, what = (f"gap-54mbps-{profile}",), FAST[profile][1]
    cause = f"gap-switches-54mbps-{profile}"

    def ask(
        measure: Measure,
        rule: Rule,
        show: object,
        words: str,
        points: tuple[str, ...] | None = None,
        role: Role = Role.CLAIM,
        joint: str = "",
    ) -> Ask:
        return Ask(measure, rule, show, words, study, points, _UNIT, role=role, joint=joint)  # type: ignore[arg-type]

    def claim(id_: str, statement: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
        figure = f"Fig. {id_.partition('.')[0]}"
        return Claim(
            id_, f"At 54 Mbit/s {statement} ({what}).", figure, f"{PAPER}, {figure}", printed, asks, value, cause
        )

    ours = gain(GOODPUT)
    return [
        claim(
            "15.1",
            "both deliver about the same while the wired links have 5 Mbit/s or less",
            "similar",
            ask(ours, equality(-0.05, 0.05), percent, "Against NewReno", _LIMITED),
        ),
        claim(
            "15.2",
            "and wired links above 5 Mbit/s TCP-GAP delivers about 13 % more",
            "about +13 %",
            ask(
                mean_along(ours, _FROM_10),
                about(0.08, 0.18, 0.0, NO_GAIN),
                percent,
                "Against NewReno, mean from 10 Mbit/s on",
            ),
            ask(ours, about(0.08, 0.18, 0.0, NO_GAIN), percent, "Each", _FREE, Role.BESIDE),
            value=0.13,
        ),
        claim(
            "15.3",
            "the mesh carries about 5 Mbit/s in all",
            "about 5 Mbit/s",
            ask(
                mean_along(of(GOODPUT, _GAP), _PLATEAU),
                about(4e6, 6e6),
                megabits,
                "TCP-GAP's aggregate from 20 Mbit/s on",
            ),
            value=5e6,
        ),
        claim(
            "15.4",
            "the wired links are the bottleneck below 5 Mbit/s",
            "the bottleneck",
            *(
                ask(
                    _of_the_wire(scheme),
                    Rule("VALUE", low=0.9),
                    share,
                    f"{scheme}, of the wired rate",
                    ("1", "2", "3"),
                )
                for scheme in _BOTH
            ),
            *(
                ask(
                    of(DROPS, scheme),
                    order(),
                    count,
                    f"{scheme}, link-layer drops per 1,000",
                    ("1", "2", "3"),
                    Role.BESIDE,
                )
                for scheme in _BOTH
            ),
        ),
        claim(
            "16.1",
            "fairness is nearly optimal with both while the wired links have 5 Mbit/s or less",
            "nearly optimal",
            *(ask(of(JAIN, scheme), NEARLY, number, f"Jain's index of {scheme}", _LIMITED) for scheme in _BOTH),
        ),
        claim(
            "16.2",
            "and wired links above 5 Mbit/s TCP-GAP stays optimally fair",
            "optimal",
            ask(of(JAIN, _GAP), EQUAL, number, "Jain's index of TCP-GAP", _FREE),
        ),
        claim(
            "16.3",
            "and wired links above 5 Mbit/s NewReno does not divide equally",
            "not equal",
            ask(of(JAIN, _NEWRENO), Rule("NEARLY", high=NEARLY.low), number, "Jain's index of NewReno", _FREE),
            ask(difference(JAIN), FAIRER, signed, "TCP-GAP's less NewReno's", _FREE, Role.GUARD),
        ),
        claim(
            "16.4",
            "more wired rate makes NewReno worse in fairness and, against TCP-GAP, in aggregate",
            "degrades",
            ask(
                rank_along(of(JAIN, _NEWRENO)),
                trend(0.2, rises=False),
                signed,
                "Correlation of NewReno's Jain index with the rate",
                joint="fairness",
            ),
            ask(
                change_along(of(JAIN, _NEWRENO)),
                order(NO_FAIRNESS, rises=False),
                signed,
                "Its last point less the first",
                joint="fairness",
            ),
            ask(
                rank_along(ours), trend(0.2, rises=True), signed, "Correlation of the gain with the rate", joint="gain"
            ),
            ask(change_along(ours), order(NO_GAIN), percent, "The gain's last point less the first", joint="gain"),
            ask(
                rise_along(of(GOODPUT, _NEWRENO), ("5", *_FREE)),
                order(),
                percent,
                "NewReno's aggregate, last against 5 Mbit/s",
                role=Role.BESIDE,
            ),
        ),
    ]


CLAIMS: tuple[Claim, ...] = tuple(claim for profile in FAST for claim in _claims(profile))
