"""Claims of Figs. 22 to 24 of the TCP-GAP paper: web traffic (docs/experiments/gap.md, section 3)."""

from __future__ import annotations

from meshpace.experiments.gap.figures import PAPER
from meshpace.experiments.gap.web import CONNECTIONS
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.measures import change_along, difference, from_the_mean, gain, of, rank_along, rise_along
from meshpace.study.quantities import GOODPUT, JAIN
from meshpace.study.rules import (
    FAIRER,
    MUCH_FAIRER,
    NEARLY,
    NO_FAIRNESS,
    NO_GAIN,
    NO_LOSS,
    Rule,
    equality,
    order,
    trend,
    up_to,
)
from meshpace.study.words import difference as signed
from meshpace.study.words import number, percent

_GAP, _NEWRENO = "tcp-gap", "newreno"
MOST_HTTP, TOLERANCE = 0.70, 0.15
"""The largest gain that is printed of web traffic, and its tolerance."""
_SLIGHTLY_FAIRER = Rule("ORDER", 0.0, 0.10, 0.0, NO_FAIRNESS)
_CONSIDERABLY_MORE = Rule("MUCH", 0.10, MOST_HTTP, 0.0, NO_GAIN)


def best_gain(study: str) -> Ask:
    """What 22.1 asks before it asks that no point loses."""
    return Ask(
        gain(GOODPUT), up_to(MOST_HTTP, TOLERANCE), percent, "Against NewReno", (study,), unit=" s pause", best=True
    )


def _parallel(kind: str) -> list[Claim]:
    name = f"gap-http-parallel{kind}"
    study, cause, unit = (name,), f"gap-switches-http{kind}", " s pause"

    def claim(id_: str, statement: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
        figure = f"Fig. {id_.partition('.')[0]}"
        text = f"Web traffic on parallel chains: {statement} ({CONNECTIONS[kind]})."
        return Claim(id_, text, figure, f"{PAPER}, {figure}", printed, asks, value, cause)

    return [
        claim(
            "22.1", "TCP-GAP gives up to 70 % more aggregate averaged goodput", "up to +70 %", best_gain(name),
            Ask(gain(GOODPUT), NO_LOSS, percent, "Each", study, unit=unit, role=Role.GUARD), value=MOST_HTTP,
        ),
        claim(
            "22.2", "TCP-GAP's averaged goodput rises with the pause", "rises",
            Ask(
                rank_along(of(GOODPUT, _GAP)), trend(0.2, rises=True), signed, "Correlation with the pause", study,
                joint="trend",
            ),
            Ask(
                rise_along(of(GOODPUT, _GAP)), order(NO_GAIN), percent, "Last less first, of the mean", study,
                joint="trend",
            ),
        ),
        claim(
            "22.3", "NewReno's averaged goodput does not change with the pause", "does not change",
            Ask(
                from_the_mean(of(GOODPUT, _NEWRENO)), equality(-0.10, 0.10), percent, "NewReno against its mean", study,
                unit=unit,
            ),
        ),
        claim(
            "23.1", "TCP-GAP is fairer than NewReno at every pause", "fairer",
            Ask(difference(JAIN), FAIRER, signed, "Jain's index less NewReno's", study, unit=unit),
            Ask(difference(JAIN), MUCH_FAIRER, signed, "Much fairer would be 0.05", study, unit=unit, role=Role.BESIDE),
        ),
        claim(
            "23.2", "NewReno is considerably fairer than with lasting flows", "considerably fairer",
            Ask(
                of(JAIN, _NEWRENO), order(NO_FAIRNESS), signed, "Less that of Fig. 11", study, unit=unit,
                against=Against("gap-parallel-down", "", of(JAIN, _NEWRENO), lambda a, b: a - b),
            ),
            Ask(
                of(JAIN, _NEWRENO), Rule("VALUE", low=0.7), number, "Jain's index of NewReno", study, unit=unit,
                role=Role.GUARD,
            ),
        ),
        claim(
            "23.3", "TCP-GAP is nearly optimally fair", "nearly optimal",
            Ask(of(JAIN, _GAP), NEARLY, number, "Jain's index of TCP-GAP", study, unit=unit),
            Ask(change_along(of(JAIN, _GAP)), order(), signed, "Last pause less first", study, role=Role.BESIDE),
        ),
    ]  # fmt: skip


def _random(kind: str) -> list[Claim]:
    study, source = (f"gap-http-random{kind}",), f"{PAPER}, Fig. 24"
    cause = f"gap-switches-http-random{kind}"

    def claim(id_: str, statement: str, printed: str, ask: Ask) -> Claim:
        text = f"Web traffic in a random mesh: {statement} ({CONNECTIONS[kind]})."
        return Claim(id_, text, "Fig. 24", source, printed, (ask,), cause=cause)

    return [
        claim(
            "24.1", "NewReno is fair", "fair",
            Ask(of(JAIN, _NEWRENO), Rule("VALUE", low=0.90), number, "Jain's index of NewReno", study),
        ),
        claim(
            "24.2", "TCP-GAP is slightly fairer", "slightly fairer",
            Ask(difference(JAIN), _SLIGHTLY_FAIRER, signed, "Jain's index less NewReno's", study),
        ),
        claim(
            "24.3", "TCP-GAP gives considerably more averaged goodput", "considerably more",
            Ask(gain(GOODPUT), _CONSIDERABLY_MORE, percent, "Against NewReno", study),
        ),
    ]  # fmt: skip


CLAIMS: tuple[Claim, ...] = tuple(
    claim for kind in CONNECTIONS for part in (_parallel, _random) for claim in part(kind)
)  # fmt: skip
