"""Claims of Figs. 18 to 21 of the TCP-GAP paper: cross and random mesh (docs/experiments/gap.md, section 3)."""

from __future__ import annotations

from meshpace.experiments.gap.figures import CASES, PAPER
from meshpace.results import RunResult
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import difference, gain, median, of
from meshpace.study.quantities import GOODPUT, JAIN, Quantity
from meshpace.study.rules import EQUAL, FAIRER, MUCH_FAIRER, MUCH_MORE, SLIGHTLY_LESS, Rule, about
from meshpace.study.words import difference as signed
from meshpace.study.words import number, percent, share

_GAP, _NOGC, _NEWRENO = "tcp-gap", "tcp-gap-nogc", "newreno"


def _cross(case: str, figure: int) -> list[Claim]:
    study, cause = (f"gap-cross-{case}",), f"gap-switches-cross-{case}"
    where, source, way = f"Fig. {figure}", f"{PAPER}, Fig. {figure}", CASES[case]
    claims = [
        Claim(
            f"{figure}.1",
            f"Four arms around a gateway share considerably more fairly with TCP-GAP than NewReno, {way}.",
            where, source, "considerably fairer",
            (Ask(difference(JAIN), MUCH_FAIRER, signed, "Jain's index less NewReno's", study),), cause=cause,
        ),
        Claim(
            f"{figure}.2", f"Over four arms TCP-GAP delivers considerably more in all than NewReno, {way}.",
            where, source, "considerably more",
            (Ask(gain(GOODPUT), MUCH_MORE, percent, "Against NewReno", study),), cause=cause,
        ),
    ]  # fmt: skip
    if case != "mix":
        claims.append(
            Claim(
                f"{figure}.3",
                f"Four arms share optimally with TCP-GAP, {way}.",
                where,
                source,
                "optimal",
                (Ask(of(JAIN, _GAP), EQUAL, number, "Jain's index of TCP-GAP", study),),
                cause=cause,
            )
        )
    return claims


def _parts(first: tuple[int, ...], others: tuple[int, ...]) -> Quantity:
    """What some flows get over what others get, means of each."""

    def take(run: RunResult) -> float | None:
        rates = [flow["goodput_bps"] for flow in run["flows"]]
        a, b = (sum(rates[index] for index in group) / len(group) for group in (first, others))
        return a / b if b else None

    return Quantity("ratio", "some flows over others", "", take)


_ONCOMING = (
    Claim(
        "20.3", "Two flows each way: without goodput control those out of the mesh get slightly less.", "Fig. 20",
        f"{PAPER}, Fig. 20", "slightly less",
        (
            Ask(
                of(_parts((0, 2), (1, 3)), _NOGC), about(0.80, 0.98, 1.0, 0.02), number, "Out of the mesh over into it",
                ("gap-cross-mix",),
            ),
            Ask(
                of(_parts((0, 1), (2, 3)), _NOGC), about(0.80, 0.98, 1.0, 0.02), number,
                "Read to the letter: flows 1 and 2 over 3 and 4", ("gap-cross-mix",), role=Role.BESIDE,
            ),
        ),
        cause="gap-switches-cross-mix",
    ),
    Claim(
        "20.4", "Two flows each way: with goodput control the shares are optimal.", "Fig. 20", f"{PAPER}, Fig. 20",
        "optimal",
        (
            Ask(of(JAIN, _GAP), EQUAL, number, "Jain's index of TCP-GAP", ("gap-cross-mix",)),
            Ask(
                difference(JAIN, _GAP, _NOGC), FAIRER, signed, "Less that without goodput control", ("gap-cross-mix",),
                role=Role.GUARD,
            ),
        ),
        cause="gap-switches-cross-mix",
    ),
)  # fmt: skip

_INTO_THE_MESH = 4
"""Flows 1 to 4 of Fig. 21."""


def _of_an_equal_share(rank: int, flows: int | None = None) -> Quantity:
    """The flow of that rank from below, among the first so many, as a part of an equal share."""

    def take(run: RunResult) -> float | None:
        rates = [flow["goodput_bps"] for flow in run["flows"]]
        return sorted(rates[:flows])[rank] * len(rates) / sum(rates) if sum(rates) else None

    return Quantity("of_equal", "of an equal share", "%", take, factor=100.0)


def _random() -> list[Claim]:
    study, source, cause = ("gap-random",), f"{PAPER}, Fig. 21", "gap-switches-random"
    return [
        Claim(
            "21.1", "In a random mesh 8 flows share much more fairly with TCP-GAP than with NewReno.", "Fig. 21",
            source,
            "much fairer", (Ask(difference(JAIN), MUCH_FAIRER, signed, "Jain's index less NewReno's", study),),
            cause=cause,
        ),
        Claim(
            "21.2", "In a random mesh NewReno lets two of the four flows into the mesh almost starve.", "Fig. 21",
            source,
            "two almost starve",
            (
                Ask(
                    median(of(_of_an_equal_share(1, _INTO_THE_MESH), _NEWRENO)), Rule("VALUE", high=0.10), share,
                    "The last but one flow into the mesh, of an equal share, median topology", study,
                ),
            ),
            cause=cause,
        ),
        Claim(
            "21.3", "In a random mesh every flow gets something with TCP-GAP.", "Fig. 21", source, "every flow",
            (
                Ask(
                    median(of(_of_an_equal_share(0), _GAP)), Rule("VALUE", low=0.10), share,
                    "The smallest flow, of an equal share, median topology", study,
                ),
            ),
            cause=cause,
        ),
        Claim(
            "21.4", "In a random mesh TCP-GAP delivers slightly less in all than NewReno.", "Fig. 21", source,
            "slightly less", (Ask(gain(GOODPUT), SLIGHTLY_LESS, percent, "Against NewReno", study),), cause=cause,
        ),
    ]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    *_cross("up", 18),
    *_cross("down", 19),
    *_cross("mix", 20),
    *_ONCOMING,
    *_random(),
)
