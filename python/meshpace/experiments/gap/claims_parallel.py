"""Claims of Figs. 10 to 12 and Table 2 of the TCP-GAP paper: parallel chains (docs/experiments/gap.md, section 3)."""

from __future__ import annotations

from meshpace.experiments.gap import table2
from meshpace.experiments.gap.figures import CASES, PAPER
from meshpace.results import RunResult
from meshpace.study.claims import Against, Ask, Claim, Role
from meshpace.study.measures import difference, gain, of
from meshpace.study.quantities import GOODPUT, JAIN, LEAD, SHARE, Quantity
from meshpace.study.rules import (
    EQUAL,
    MORE,
    MUCH_FAIRER,
    MUCH_MORE,
    NO_FAIRNESS,
    STARVES,
    Rule,
    about,
    equality,
    order,
)
from meshpace.study.words import count, number, percent, share
from meshpace.study.words import difference as signed

_GAP, _NOGC, _NEWRENO = "tcp-gap", "tcp-gap-nogc", "newreno"
_FIGURES = {"up": "10", "down": "11"}
_UPPER = frozenset(("A1", "RL1", "RL2", "RL3", "RL4"))


def _loser_and_winner(run: RunResult) -> float | None:
    """Drops a packet sent on the starving chain over those on the other, less 1; None where nobody starves."""
    smallest = SHARE(run)
    if smallest is None or smallest > STARVES.high:
        return None
    drops = {True: 0, False: 0}
    for link in run["links"]:
        upper = bool({link["from"], link["to"]} & _UPPER)
        drops[upper] += link["data_drops"] + link["ack_drops"]
    first, second = run["flows"][:2]
    loser = first["goodput_bps"] < second["goodput_bps"]  # the first flow's chain is the upper one
    sent = {True: first["segments_sent"], False: second["segments_sent"]}
    if not (sent[True] and sent[False] and drops[not loser]):
        return None
    return (drops[loser] / sent[loser]) / (drops[not loser] / sent[not loser]) - 1


_LOSING = Quantity("losing", "drops a packet on the losing chain", "", _loser_and_winner)


def same_way(way: str, prefix: str = "gap") -> list[Claim]:
    """Claims N.1 to N.4 of Figs. 10 and 11, of the study PREFIX-parallel-WAY."""
    n, study, cause = _FIGURES[way], (f"{prefix}-parallel-{way}",), f"gap-switches-parallel-{way}"
    figure, source = f"Fig. {n}", f"{PAPER}, Fig. {n}"
    return [
        Claim(
            f"{n}.1", f"With NewReno one of two parallel chains starves over the whole run, {CASES[way]}.", figure,
            source,
            "FTP 2 starves",
            (Ask(of(SHARE, _NEWRENO), STARVES, share, "The weaker flow's part of the aggregate", study),), cause=cause,
        ),
        Claim(
            f"{n}.2", f"TCP-GAP shares equally between two parallel chains, {CASES[way]}.", figure, source, "equal",
            (Ask(of(JAIN, _GAP), EQUAL, number, "Jain's index of TCP-GAP", study),), cause=cause,
        ),
        Claim(
            f"{n}.3", f"On two parallel chains TCP-GAP is significantly fairer than NewReno, {CASES[way]}.", figure,
            source,
            "significantly fairer",
            (Ask(difference(JAIN), MUCH_FAIRER, signed, "Jain's index less NewReno's", study),), cause=cause,
        ),
        Claim(
            f"{n}.4", f"On two parallel chains TCP-GAP delivers more in all than NewReno, {CASES[way]}.", figure,
            source,
            "more",
            (
                Ask(gain(GOODPUT), MORE, percent, "Against NewReno", study),
                Ask(gain(GOODPUT), MUCH_MORE, percent, "Much more would be 10 % and up", study, role=Role.BESIDE),
            ),
            cause=cause,
        ),
    ]  # fmt: skip


def _losing(way: str) -> Claim:
    n = _FIGURES[way]
    return Claim(
        f"{n}.5",
        f"With NewReno the losing chain suffers more link-layer drops a packet than the winning one, {CASES[way]}.",
        f"Fig. {n}", f"{PAPER}, Fig. {n}", "far more",
        (
            Ask(
                of(_LOSING, _NEWRENO), order(), percent, "Drops a packet sent against the winning chain",
                (f"gap-parallel-{way}",),
            ),
        ),
        otherwise=f"In no run does a flow starve ({n}.1), so no chain loses.",
    )  # fmt: skip


_WORST = Claim(
    "11.6", "NewReno's Jain index with lasting flows is the worst possible.", "Fig. 11", f"{PAPER}, section 5.3.1",
    "0.5",
    (
        Ask(of(JAIN, _NEWRENO), about(0.5, 0.55), number, "Jain's index of NewReno", ("gap-parallel-down",)),
        Ask(
            of(JAIN, _NEWRENO), about(0.5, 0.55), number, "Fig. 16", ("gap-54mbps-ofdm", "gap-54mbps-dsss"),
            unit=" Mbit/s wired", role=Role.BESIDE,
        ),
    ),
    0.5, "gap-switches-parallel-down",
)  # fmt: skip


def _less(a: float, b: float) -> float:
    return a - b


def _oncoming() -> list[Claim]:
    study, cause = ("gap-parallel-mix",), "gap-switches-parallel-mix"
    figure, source = "Fig. 12", f"{PAPER}, Fig. 12"
    fair = of(JAIN, _NOGC)
    return [
        Claim(
            "12.1", "Oncoming flows: TCP-GAP without goodput control is much fairer than NewReno.", figure, source,
            "much fairer",
            (Ask(difference(JAIN, _NOGC), MUCH_FAIRER, signed, "Jain's index less NewReno's", study),), cause=cause,
        ),
        Claim(
            "12.2",
            "Oncoming flows: without goodput control the shares are not optimal, as in Figs. 10 and 11 they are.",
            figure, source, "not optimal",
            (
                Ask(fair, Rule("EQUAL", high=EQUAL.low), number, "Jain's index without goodput control", study),
                *(
                    Ask(
                        fair, order(NO_FAIRNESS, rises=False), signed, f"Less than in Fig. {n}", study,
                        role=Role.GUARD, against=Against(f"gap-parallel-{way}", "", fair, _less),
                    )
                    for way, n in _FIGURES.items()
                ),
            ),
            cause=cause,
        ),
        Claim(
            "12.3", "Oncoming flows: without goodput control the one into the mesh gets more than the one out of it.",
            figure, f"{PAPER}, section 4.4", "FTP 1 ahead",
            (Ask(of(LEAD, _NOGC), order(0.02), percent, "FTP 1 less FTP 2, of both", study),), cause=cause,
        ),
        Claim(
            "12.4", "Oncoming flows: with goodput control the shares are optimal.", figure, source, "optimal",
            (Ask(of(JAIN, _GAP), EQUAL, number, "Jain's index of TCP-GAP", study),), cause=cause,
        ),
        Claim(
            "12.5", "Oncoming flows: goodput control costs almost nothing in aggregate.", figure, source,
            "almost no loss",
            (Ask(gain(GOODPUT, _GAP, _NOGC), equality(-0.05, 0.02), percent, "With against without it", study),),
            cause=cause,
        ),
    ]  # fmt: skip


def _table() -> list[Claim]:
    study, cause = ("gap-link-drops",), "gap-switches-parallel-mix"

    def ask(name: str, take: table2.Take, rule: Rule, what: str) -> Ask:
        return Ask(of(Quantity(name, what, "", take), _NOGC), rule, count, what, study)

    def claim(number_: str, statement: str, printed: str, asked: Ask, value: float | None = None) -> Claim:
        return Claim(number_, statement, "Table 2", f"{PAPER}, Table 2", printed, (asked,), value, cause)

    far, near = table2.ratio(("RL7", "RL8"), ("RL3", "RL4")), table2.ratio(("RL8", "IG"), ("RL4", "IG"))
    return [
        claim(
            "T2.1", "RL7 to RL8 gives up about 12 times as many packets as RL3 to RL4.", "12 times",
            ask("far", far, about(6, 24, 1.0), "Drops RL7-RL8 over RL3-RL4"), 12.0,
        ),
        claim(
            "T2.2", "RL8 to the gateway gives up about 2.5 times as many packets as RL4 to the gateway.", "2.5 times",
            ask("near", near, about(2.5 / 1.5, 2.5 * 1.5, 1.0), "Drops RL8-IG over RL4-IG"), 2.5,
        ),
        claim(
            "T2.3", "Each link gives up as many packets as printed: 20 numbers.", "20 numbers",
            ask("agreeing", table2.agreeing, about(16, 20, 8.0), "Numbers of 20 that agree"), 20.0,
        ),
        claim(
            "T2.4", "The flow out of the mesh has more timeouts than the one into it.", "more",
            ask("timeouts_lead", table2.timeouts_lead, order(0.02), "FTP 2's timeouts less FTP 1's, of both"),
        ),
        claim(
            "T2.5", "Frames from RL8 collide at the gateway more often than frames from RL4.", "more",
            ask("collisions_lead", table2.collisions_lead, order(0.02), "RL8's collisions less RL4's, of both"),
        ),
        Claim(
            "T2.6", "(Derived, not a statement of the paper.) Most data packets given up are those out of the mesh.",
            "Table 2", f"derived from {PAPER}, Table 2", "73 % by our sums",
            (
                Ask(
                    of(Quantity("upward", "", "", table2.upward_share), _NOGC), about(0.63, 0.83), share,
                    "Part of the data drops that are upward", study,
                ),
            ),
            table2.PRINTED_UPWARD_SHARE, cause,
        ),
    ]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    *same_way("up"),
    _losing("up"),
    *same_way("down"),
    _losing("down"),
    _WORST,
    *_oncoming(),
    *_table(),
)
