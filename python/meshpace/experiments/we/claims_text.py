"""What the WE TCP-AP paper says beside its figures (docs/experiments/we-tcp-ap.md, section 4)."""

from __future__ import annotations

from meshpace.experiments.we.adhoc import STILL
from meshpace.experiments.we.asking import (
    claim,
    close,
    fairer,
    less,
    more,
    packets,
    ratio,
    scattered,
    throughput,
    unsteadier,
)
from meshpace.experiments.we.chains import TCP_AP, WCP, WE, WINF, XCP_B, XCP_WINF
from meshpace.experiments.we.quantities import PACKET_DELAY, USE
from meshpace.experiments.we.text import NO_COLLISIONS, NO_RTS, RCP, RCP_WINF, RENO, XCP
from meshpace.study.claims import Against, Ask
from meshpace.study.measures import Measure, Values, gain, of, paired
from meshpace.study.model import AS_IS, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, Quantity
from meshpace.study.rules import NO_GAIN, Rule, equality, order
from meshpace.study.words import difference as signed
from meshpace.study.words import percent

MESH, ADHOC = "we-text-mesh", "we-text-adhoc"
_HERE = (AS_IS,)
_BOTH = ("we-mesh", "we-adhoc")


def _changed(quantity: Quantity, scheme: str, changed: str, rule: Rule, study: str, what: str) -> Ask:
    """A scheme's number with something changed against the number as it is, paired by seed."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        before, after = (of(quantity, scheme).take(outcome, condition, point) for point in (AS_IS, changed))
        return paired(after, before, lambda a, b: a / b - 1 if b else None)

    measure = Measure((scheme,), take, quantity, along=(AS_IS, changed), once=True)
    return Ask(measure, rule, percent, what, (study,))


CLAIMS = (
    claim(
        "X1",
        "WE TCP-AP outperforms TCP-AP: more throughput and packets, less delay.",
        "",
        "outperforms",
        *(
            ask
            for study in _BOTH
            for ask in (
                throughput(WE, TCP_AP, study),
                less(PACKET_DELAY, WE, TCP_AP, study),
                packets(WE, TCP_AP, study),
            )
        ),
    ),
    claim(
        "X2",
        "It is more stable than TCP-AP and uses the channel better.",
        "",
        "more stable",
        *(
            ask
            for study in _BOTH
            for ask in (
                unsteadier(WE, TCP_AP, study, rises=False),
                scattered(WE, TCP_AP, study, rises=False),
                more(USE, WE, TCP_AP, study),
            )
        ),
    ),
    claim(
        "X3",
        "It gets close to rate-based protocols.",
        "",
        "close",
        *(close(GOODPUT, WE, XCP_WINF, study) for study in _BOTH),
        *(close(GOODPUT, WE, RCP_WINF, study, points=_HERE) for study in (MESH, ADHOC)),
    ),
    claim(
        "X4",
        "TCP-AP is below rate-based approaches.",
        "",
        "below",
        *(less(GOODPUT, TCP_AP, XCP_WINF, study) for study in _BOTH),
    ),
    claim(
        "X5",
        "rt-Winf alone improves TCP-AP, and its fairness stays weak.",
        "",
        "improves",
        throughput(WINF, TCP_AP, "we-mesh-winf"),
        throughput(WINF, TCP_AP, "we-adhoc-winf"),
        *(fairer(WE, WINF, study, points=_HERE) for study in (MESH, ADHOC)),
    ),
    claim(
        "X6",
        "The collision term matters: without it WE TCP-AP has less throughput.",
        "",
        "matters",
        *(
            _changed(
                GOODPUT, WE, NO_COLLISIONS, order(NO_GAIN, rises=False), study, f"Throughput without the term, {where}"
            )
            for study, where in ((MESH, "mesh"), (ADHOC, "ad hoc"))
        ),
    ),
    claim(
        "X7",
        "The number of nodes matters: WE TCP-AP is significantly above TCP-AP with rt-Winf.",
        "",
        "significantly",
        *(
            more(GOODPUT, WE, WINF, study, rule=Rule("MUCH", 0.1, neutral=0.0, margin=NO_GAIN), points=_HERE)
            for study in (MESH, ADHOC)
        ),
        more(
            GOODPUT,
            WE,
            WINF,
            "we-chain",
            rule=Rule("MUCH", 0.1, neutral=0.0, margin=NO_GAIN),
            points=("4", "5", "6", "8", "10"),
        ),
    ),
    claim(
        "X10",
        "TCP-AP delivers no less than NewReno.",
        "",
        "among the better",
        *(
            Ask(
                gain(GOODPUT, TCP_AP, RENO),
                Rule("ORDER", low=-NO_GAIN),
                percent,
                f"TCP-AP against NewReno, {where}",
                (study,),
                points,
            )
            for study, where, points in (
                (MESH, "mesh", _HERE),
                (ADHOC, "ad hoc", _HERE),
                ("we-text-chain", "chains", None),
            )
        ),
    ),
    claim(
        "X11",
        "XCP-b works with few nodes and little movement, not in very dynamic networks.",
        "",
        "not in dynamic ones",
        Ask(
            ratio(GOODPUT, XCP_B, XCP_WINF),
            order(NO_GAIN),
            signed,
            "XCP-b's throughput by XCP-Winf's, 8 static nodes less 64 moving ones",
            ("we-adhoc-static",),
            (f"4, {STILL}",),
            against=Against("we-adhoc-static", "32", ratio(GOODPUT, XCP_B, XCP_WINF), lambda a, b: a - b),
        ),
    ),
    claim(
        "X12",
        "rt-Winf makes XCP and RCP more efficient, and better than other wireless approaches.",
        "",
        "more efficient",
        *(
            more(GOODPUT, ours, than, study, points=_HERE)
            for study in (MESH, ADHOC)
            for ours, rivals in ((XCP_WINF, (XCP, WCP, XCP_B)), (RCP_WINF, (RCP, WCP, XCP_B)))
            for than in rivals
        ),
    ),
    claim(
        "X14",
        "RTS/CTS costs a negligible overhead.",
        "",
        "negligible",
        _changed(GOODPUT, RENO, NO_RTS, equality(-0.05, 0.05), MESH, "NewReno without RTS/CTS, mesh"),
    ),
)
