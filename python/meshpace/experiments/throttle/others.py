"""Throttling beside other schemes on the worst cases (docs/experiments/ingress-throttling.md, X12).

The abstract compares with other schemes; the text does so in prose, without a number. Flows alone, which u and s
compare with, are points of the study; u counts what flows get above their ideal, too, so s is judged and u told beside.
"""

from __future__ import annotations

from meshpace.experiments.throttle.figures import lone, parallel
from meshpace.experiments.throttle.measures import STRIPS
from meshpace.experiments.throttle.quantities import LOST
from meshpace.experiments.throttle.shares import spread, unfairness
from meshpace.experiments.throttle.sources import TABLES
from meshpace.experiments.throttle.strip import STRIP, strip
from meshpace.experiments.throttle.study import PAPER, QUICK, study
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.model import Plan, Point
from meshpace.study.quantities import DELAY, GOODPUT, JAIN, TIMEOUTS
from meshpace.study.rules import order
from meshpace.study.words import difference

OTHERS = ("newreno", "split", "tcp-ap", "oid", "few", "tcp-ada", "llap")
"""Of the papers here; ``split`` is a queue a flow, unthrottled."""
_HOPS, _FLOWS = (3, 6), 5

STUDIES = (
    study(
        "others",
        "Throttling beside other schemes",
        "abstract and section 5",
        "Total and unfairness of 5 flows of 3 and 6 hops side by side: throttled, and with other schemes.",
        scenario=STRIP,
        axis=("network", ""),
        points=tuple(
            Point(label, strip(h, n)) for h in _HOPS for label, n in ((lone(h), 1), (parallel(h, _FLOWS), _FLOWS))
        ),
        schemes=("throttle", *OTHERS),
        quantities=(GOODPUT, JAIN, LOST, DELAY, TIMEOUTS),
        quick=Plan(6, QUICK, core_s=0.1),
        full_core_s=0.2,
        notes=f"{TABLES} Alone means NewReno. The scheme that the paper names, Yang, Seah and Yin's, is not built.",
    ),
)

CLAIMS = (
    Claim(
        "throttle X12",
        "Throttled flows differ less than those of other schemes (our question: no number is printed).",
        "abstract",
        f"{PAPER}, abstract",
        "compared in prose",
        tuple(
            Ask(
                STRIPS.difference(number, "throttle", other),
                order(rises=False),
                difference,
                f"{letter} less that of {other}",
                ("throttle-others",),
                tuple(parallel(h, _FLOWS) for h in _HOPS),
                role=role,
            )
            for number, letter, role in ((spread, "s", Role.CLAIM), (unfairness, "u", Role.BESIDE))
            for other in OTHERS
        ),
    ),
)
