"""What the WE TCP-AP paper says beside its figures (docs/experiments/we-tcp-ap.md, section 4)."""

from __future__ import annotations

from meshpace.experiments.we.adhoc import STILL
from meshpace.experiments.we.asking import SIGNIFICANT, Runs, claim, ratio
from meshpace.experiments.we.chains import TCP_AP, WCP, WE, WINF, XCP_B, XCP_WINF
from meshpace.experiments.we.claims import LONG, SWITCHES
from meshpace.experiments.we.quantities import PACKET_DELAY, RECEIVED, USE
from meshpace.experiments.we.text import NO_COLLISIONS, NO_RTS, RCP, RCP_WINF, RENO, XCP
from meshpace.study.claims import Against, Ask
from meshpace.study.measures import Measure, Values, gain, of, paired
from meshpace.study.model import AS_IS, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import GOODPUT, Quantity
from meshpace.study.rules import NO_GAIN, Rule, equality, order
from meshpace.study.words import difference as signed
from meshpace.study.words import percent

MESH, ADHOC = Runs("we-text-mesh"), Runs("we-text-adhoc")
_HERE = tuple(study.at((AS_IS,)) for study in (MESH, ADHOC))
_BOTH = (Runs("we-mesh"), Runs("we-adhoc"))


def _changed(quantity: Quantity, scheme: str, changed: str, rule: Rule, study: Runs, what: str) -> Ask:
    """A scheme's number with something changed against the number as it is, paired by seed."""

    def take(outcome: Outcome, condition: Condition, _: str) -> Values:
        before, after = (of(quantity, scheme).take(outcome, condition, point) for point in (AS_IS, changed))
        return paired(after, before, lambda a, b: a / b - 1 if b else None)

    measure = Measure((scheme,), take, quantity, along=(AS_IS, changed), once=True)
    return study.asks(measure, rule, percent, what)


def _no_less(study: Runs, where: str) -> Ask:
    """TCP-AP's throughput beside NewReno's."""
    rule = Rule("ORDER", low=-NO_GAIN)
    return study.asks(gain(GOODPUT, TCP_AP, RENO), rule, percent, f"TCP-AP against NewReno, {where}")


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
                study.more(GOODPUT, WE, TCP_AP),
                study.less(PACKET_DELAY, WE, TCP_AP),
                study.more(RECEIVED, WE, TCP_AP),
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
                study.unsteadier(WE, TCP_AP, rises=False),
                study.scattered(WE, TCP_AP, rises=False),
                study.more(USE, WE, TCP_AP),
            )
        ),
    ),
    claim(
        "X3",
        "It gets close to rate-based protocols.",
        "",
        "close",
        *(study.close(GOODPUT, WE, XCP_WINF) for study in _BOTH),
        *(study.close(GOODPUT, WE, RCP_WINF) for study in _HERE),
    ),
    claim(
        "X4",
        "TCP-AP is below rate-based approaches.",
        "",
        "below",
        *(study.less(GOODPUT, TCP_AP, XCP_WINF) for study in _BOTH),
    ),
    claim(
        "X5",
        "rt-Winf alone improves TCP-AP, and its fairness stays weak.",
        "",
        "improves",
        Runs("we-mesh-winf").more(GOODPUT, WINF, TCP_AP),
        Runs("we-adhoc-winf").more(GOODPUT, WINF, TCP_AP),
        *(study.fairer(WE, WINF) for study in _HERE),
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
        *(study.more(GOODPUT, WE, WINF, SIGNIFICANT) for study in _HERE),
    ),
    claim(
        "X7",
        "The number of nodes matters most in long chains: WE TCP-AP is significantly above TCP-AP with rt-Winf.",
        "",
        "significantly",
        Runs("we-chain", LONG).more(GOODPUT, WE, WINF, SIGNIFICANT),
        switches=SWITCHES,
    ),
    claim(
        "X10",
        "TCP-AP delivers no less than NewReno.",
        "",
        "among the better",
        *(_no_less(study, where) for study, where in zip(_HERE, ("mesh", "ad hoc"), strict=True)),
    ),
    claim(
        "X10",
        "TCP-AP delivers no less than NewReno over chains.",
        "",
        "among the better",
        _no_less(Runs("we-text-chain"), "chains"),
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
            study.more(GOODPUT, ours, than)
            for study in _HERE
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
