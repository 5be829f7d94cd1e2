"""Claims of the thesis about delayed ACKs on chains, alone and with pacing (docs/experiments/thesis.md, 3.3, 3.4)."""

from __future__ import annotations

from meshpace.experiments.byu.chains import TABLES, with_n, with_table
from meshpace.experiments.byu.measures import (
    COMPARABLE,
    DRAMATICALLY_FAIRER,
    FAIRER,
    HIGHER,
    LESS_USE,
    LOWER,
    MORE_USE,
    SIGNIFICANT,
    USEFUL,
    at_most_of,
    beside,
    claim,
    fairness,
    goodput,
    relative,
    utility,
    value,
)
from meshpace.experiments.byu.quantities import BY_TIMER, SEGMENTS_AN_ACK
from meshpace.experiments.byu.schemes import AD, AP, DA, TAHOE
from meshpace.experiments.byu.study import COUNTS, many
from meshpace.study.claims import Against, Ask, Claim
from meshpace.study.measures import of, rank_along
from meshpace.study.pooled import pooled
from meshpace.study.quantities import FLOW_GOODPUT, JAIN
from meshpace.study.rules import NO_GAIN, Rule, about, equality, order, trend
from meshpace.study.words import count as counted
from meshpace.study.words import difference as signed
from meshpace.study.words import number, percent, share

DA9, DA4, DA1 = "byu-da-c9", "byu-da-c4", "byu-da-c1"
AD9, AD4, AD1 = "byu-ad-c9", "byu-ad-c4", "byu-ad-c1"
ALL = tuple(map(many, COUNTS))


def _flows(*counts: int) -> tuple[str, ...]:
    return tuple(map(many, counts))


def _useful(study: str) -> tuple[Ask, ...]:
    """Utility significantly above Tahoe's: 0.1 a flow."""
    return tuple(utility(DA, Rule("MUCH", low=USEFUL * k, neutral=0.0), study, _flows(k)) for k in COUNTS)


def _bounds(study: str, count: int) -> tuple[Ask, ...]:
    """That 10 % and 90 % of all flows have more: the lower and the upper bound of a graph's distribution."""

    def gains(part: float) -> Ask:
        what = f"{part:.0%} point of the flows' goodputs against Tahoe's"
        return Ask(pooled(part, DA, TAHOE), HIGHER, percent, what, (study,), _flows(count))

    return gains(0.1), gains(0.9)


CELLS = tuple((study, many(count)) for study in (DA9, DA4, DA1) for count in COUNTS)
SMALLEST = ((DA9, many(2)), (DA1, many(5)))
"""Where the thesis has the two smallest gains of its nine cells."""


def _smaller(here: tuple[str, str], there: tuple[str, str]) -> Ask:
    """The gain of one cell less that of another, which may be of another chain, seed by seed."""
    gain = relative(FLOW_GOODPUT, DA)
    what = f"Gain less that of {there[0].removeprefix('byu-da-').upper()}, {there[1]}"
    return Ask(
        gain, LOWER, signed, what, here[:1], here[1:], against=Against(*there, gain, lambda ours, theirs: ours - theirs)
    )


_THINNED = (
    claim(
        "DA.a",
        "The advantage of delayed ACKs falls with the number of flows on each chain.",
        "section 5.5",
        "falls",
        *(
            Ask(
                rank_along(relative(FLOW_GOODPUT, DA), ALL),
                trend(0.2, rises=False),
                signed,
                "Spearman's correlation of the gain with the flows",
                (study,),
            )
            for study in (DA9, DA4, DA1)
        ),
    ),
    claim(
        "DA.b",
        "The gains with 2 flows over 9 hops and with 5 over one are the two smallest of nine.",
        "section 5.5",
        "smallest",
        *(_smaller(here, there) for here in SMALLEST for there in CELLS if there not in SMALLEST),
    ),
    claim(
        "5.20.a",
        "Delayed ACKs raise goodput, significantly with 1 and 5 flows.",
        "Fig. 5.20",
        "more, significantly with 1 and 5",
        goodput(DA, SIGNIFICANT, DA9, _flows(1, 5)),
        goodput(DA, HIGHER, DA9, _flows(2)),
    ),
    claim("5.20.b", "With 2 flows the lower and the upper bound move up.", "Fig. 5.20", "up", *_bounds(DA9, 2)),
    claim("5.21.a", "They are fairer than Tahoe.", "Fig. 5.21", "fairer", fairness(DA, FAIRER, DA9, _flows(2, 5))),
    claim("5.21.b", "Utility is significantly above Tahoe's.", "Fig. 5.21", "significantly", *_useful(DA9)),
    claim(
        "5.22.a", "Goodput is significantly higher.", "Fig. 5.22", "significantly", goodput(DA, SIGNIFICANT, DA4, ALL)
    ),
    claim("5.23.a", "Fairness is comparable.", "Fig. 5.23", "comparable", fairness(DA, COMPARABLE, DA4, _flows(2, 5))),
    claim("5.23.b", "Utility is significantly above Tahoe's.", "Fig. 5.23", "significantly", *_useful(DA4)),
    claim(
        "5.24.a",
        "Goodput is higher, significantly with 1 and 2 flows.",
        "Fig. 5.24",
        "more, significantly with 1 and 2",
        goodput(DA, SIGNIFICANT, DA1, _flows(1, 2)),
        goodput(DA, HIGHER, DA1, _flows(5)),
    ),
    claim("5.24.b", "With 5 flows the lower and the upper bound move up.", "Fig. 5.24", "up", *_bounds(DA1, 5)),
    claim("5.25.a", "Fairness is comparable.", "Fig. 5.25", "comparable", fairness(DA, COMPARABLE, DA1, _flows(2, 5))),
    claim("5.25.b", "Utility is significantly above Tahoe's.", "Fig. 5.25", "significantly", *_useful(DA1)),
)


AS_MEANT = beside(of(FLOW_GOODPUT, DA), lambda label: label.replace(TABLES[0], TABLES[1]))
_TABLES = (
    claim(
        "3.6.a",
        "A faster ramp, 1, 3, 3, 4 segments an ACK, is no worse than 1, 2, 3, 4.",
        "section 3.6",
        "if anything, better",
        *(
            Ask(
                AS_MEANT,
                Rule("ORDER", low=-NO_GAIN),
                percent,
                "Goodput against 1, 2, 3, 4",
                (f"byu-da-table-{chain}",),
                tuple(with_table(count, TABLES[0]) for count in COUNTS),
            )
            for chain in ("c9", "c4", "c1")
        ),
    ),
)


def _four(*counts: int) -> tuple[str, ...]:
    return tuple(with_n(count, 4) for count in counts)


def _one(*counts: int) -> tuple[str, ...]:
    return tuple(with_n(count, 1) for count in counts)


def _as_four(label: str) -> str:
    return label.replace("n = 1", "n = 4")


ABOVE_FOUR = beside(of(FLOW_GOODPUT, AD), _as_four)
_BOTH = (
    claim(
        "5.29.a",
        "Delayed ACKs alone have more goodput than with pacing.",
        "Fig. 5.29",
        "less",
        goodput(AD, LOWER, AD9, _four(*COUNTS), DA, "Goodput against delayed ACKs alone"),
    ),
    claim(
        "5.29.b",
        "With 2 flows both together have less than Tahoe.",
        "Fig. 5.29",
        "less",
        goodput(AD, LOWER, AD9, _four(2)),
    ),
    claim("5.29.c", "With 5 flows they have more.", "Fig. 5.29", "more", goodput(AD, HIGHER, AD9, _four(5))),
    claim(
        "5.29.d",
        "With 5 flows on 9 and 4 hops the timer fires first: few segments an ACK.",
        "section 5.6",
        "2 segments an ACK (3 at most)",
        *(value(SEGMENTS_AN_ACK, AD, Rule("VALUE", high=3.0), counted, study, _four(5)) for study in (AD9, AD4)),
        value(BY_TIMER, AD, Rule("ORDER", low=0.5), share, AD9, _four(5)),
        value=2.0,
    ),
    claim(
        "5.30.a",
        "They are dramatically fairer than Tahoe.",
        "Fig. 5.30",
        "dramatically",
        fairness(AD, DRAMATICALLY_FAIRER, AD9, _four(2, 5)),
    ),
    claim(
        "5.30.b", "With 5 flows utility is above Tahoe's.", "Fig. 5.30", "more", utility(AD, MORE_USE, AD9, _four(5))
    ),
    claim(
        "5.30.c", "With 2 flows utility is below Tahoe's.", "Fig. 5.30", "less", utility(AD, LESS_USE, AD9, _four(2))
    ),
    claim(
        "5.31.a",
        "With 1 and 2 flows they have less goodput than Tahoe.",
        "Fig. 5.31",
        "less",
        goodput(AD, LOWER, AD4, _four(1, 2)),
    ),
    claim(
        "5.31.b",
        "With 5 flows the gain is very limited.",
        "Fig. 5.31",
        "0 to 10 %",
        goodput(AD, about(0.0, 0.1, 0.0, 0.02), AD4, _four(5)),
    ),
    claim(
        "5.32.a",
        "They are drastically fairer than Tahoe.",
        "Fig. 5.32",
        "drastically",
        fairness(AD, DRAMATICALLY_FAIRER, AD4, _four(2, 5)),
    ),
    claim(
        "5.32.b", "With 5 flows utility is above Tahoe's.", "Fig. 5.32", "more", utility(AD, MORE_USE, AD4, _four(5))
    ),
    claim(
        "5.33.a",
        "Over one hop they have less goodput than Tahoe, with n = 1 and n = 4.",
        "Fig. 5.33",
        "less",
        goodput(AD, LOWER, AD1, (*_four(*COUNTS), *_one(*COUNTS))),
    ),
    claim(
        "5.33.b",
        "n = 1 is less poor than n = 4.",
        "Fig. 5.33",
        "more",
        Ask(ABOVE_FOUR, HIGHER, percent, "Goodput of n = 1 against n = 4", (AD1,), _one(*COUNTS)),
    ),
    claim(
        "5.34.a",
        "With 2 flows n = 1 has Jain's index 0.993, and Tahoe more.",
        "Fig. 5.34",
        "0.993",
        value(JAIN, AD, about(0.986, 1.0), number, AD1, _one(2)),
        fairness(AD, order(rises=False), AD1, _one(2)),
        value=0.993,
    ),
    claim(
        "5.34.b",
        "With 2 flows n = 4 is nearly perfect, above n = 1.",
        "Fig. 5.34",
        "0.995 at least",
        value(JAIN, AD, Rule("EQUAL", low=0.995), number, AD1, _four(2)),
        Ask(
            beside(of(JAIN, AD), _as_four),
            order(rises=False),
            percent,
            "Index of n = 1 against n = 4",
            (AD1,),
            _one(2),
        ),
    ),
    claim(
        "5.34.c",
        "With 5 flows n = 4 is fairer than n = 1, and that than Tahoe.",
        "Fig. 5.34",
        "fairer",
        Ask(
            beside(of(JAIN, AD), _as_four),
            order(rises=False),
            percent,
            "Index of n = 1 against n = 4",
            (AD1,),
            _one(5),
        ),
        fairness(AD, FAIRER, AD1, _one(5)),
    ),
    claim(
        "5.34.d",
        "Utility is below Tahoe's in all cells, with both n.",
        "Fig. 5.34",
        "less",
        utility(AD, LESS_USE, AD1, (*_four(2, 5), *_one(2, 5))),
    ),
    claim(
        "AD.a",
        "Delayed ACKs alone beat both together by a large margin.",
        "section 5.6",
        "tends to be 20 % and more",
        *(
            at_most_of(
                relative(FLOW_GOODPUT, DA, AD),
                study,
                cells,
                lambda gain: gain >= 0.2,
                "Cells with 20 % more goodput of delayed ACKs alone",
            )
            for study, cells in ((AD9, _four(*COUNTS)), (AD4, _four(*COUNTS)), (AD1, _four(*COUNTS)))
        ),
    ),
    claim(
        "AD.b",
        "Both together are as fair as pacing alone on chains.",
        "section 5.6",
        "as fair",
        *(fairness(AD, equality(-0.03, 0.03), study, _four(2, 5), AP) for study in (AD9, AD4, AD1)),
    ),
)

CLAIMS: tuple[Claim, ...] = (*_THINNED, *_TABLES, *_BOTH)
