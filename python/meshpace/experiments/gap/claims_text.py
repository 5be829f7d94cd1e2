"""Statements of the TCP-GAP paper that belong to no figure (docs/experiments/gap.md, section 4)."""

from __future__ import annotations

from dataclasses import replace

from meshpace.experiments.gap.claims_chain import PRINTED, TOLERANCE
from meshpace.experiments.gap.claims_time import TAKES_THE_FREE, Bins
from meshpace.experiments.gap.claims_web import MOST_HTTP, best_gain
from meshpace.experiments.gap.claims_web import TOLERANCE as TOLERANCE_HTTP
from meshpace.experiments.gap.figures import CASES, PAPER
from meshpace.experiments.gap.text import CHOSEN, INTERVALS, OVERALL, SHAPES, THRESHOLDS, setting
from meshpace.experiments.gap.web import CONNECTIONS
from meshpace.study.claims import Ask, Claim, Role
from meshpace.study.measures import Measure, Values, difference, from_series, gain, greatest, of, paired
from meshpace.study.model import Cell, Condition
from meshpace.study.outcome import Outcome
from meshpace.study.quantities import CONTROL, FLOWS, GOODPUT, JAIN, QUEUE_MAX, Quantity
from meshpace.study.rules import EQUAL, MUCH_FAIRER, NEARLY, NO_GAIN, Rule, equality, order, up_to
from meshpace.study.words import count, most, number, percent, share
from meshpace.study.words import difference as signed

_GAP, _NOGC, _NEWRENO = "tcp-gap", "tcp-gap-nogc", "newreno"
_READ = OVERALL.reads
_HTTP = tuple(name for name in _READ if name.startswith("gap-http"))
_FTP = tuple(name for name in _READ if not name.startswith(("gap-http", "gap-responsiveness")))
_FAIR = tuple(name for name in (*_FTP, *_HTTP) if not name.startswith(("gap-chain", "gap-random", "gap-54mbps")))
_SAME_WAY = ("gap-parallel-up", "gap-parallel-down", "gap-cross-up", "gap-cross-down")
_FAST = tuple(name for name in _FTP if name.startswith("gap-54mbps"))
_WINDOW = 64


def _over_all(id_: str, statement: str, where: str, printed: str, *asks: Ask, value: float | None = None) -> Claim:
    return Claim(id_, statement, where, f"{PAPER}, {where}", printed, asks, value, told_with=OVERALL.name)


def _kept(kind: str) -> Claim:
    quick = best_gain(f"gap-http-parallel{kind}")
    return _over_all(
        f"A13{kind}", f"Its quick response is what makes TCP-GAP good for short flows ({CONNECTIONS[kind]}).",
        "section 5.2.2.1", "22.1 and 13.2 together",
        *(replace(ask, joint="both") for ask in (quick, *TAKES_THE_FREE)), value=MOST_HTTP,
    )  # fmt: skip


_OVERALL = (
    _over_all(
        "A1", "With lasting flows TCP-GAP delivers up to 42 % more than NewReno, over all experiments.", "abstract",
        "up to +42 %",
        Ask(gain(GOODPUT), up_to(PRINTED["down"][1], TOLERANCE), percent, "Against NewReno", _FTP, best=True),
        value=PRINTED["down"][1],
    ),
    _over_all(
        "A2", "With web traffic TCP-GAP delivers up to 70 % more than NewReno, over all experiments.", "abstract",
        "up to +70 %",
        Ask(gain(GOODPUT), up_to(MOST_HTTP, TOLERANCE_HTTP), percent, "Against NewReno", _HTTP, best=True),
        value=MOST_HTTP,
    ),
    _over_all(
        "A3", "TCP-GAP is nearly optimally fair in all scenarios.", "abstract", "nearly optimal",
        Ask(of(JAIN, _GAP), NEARLY, number, "Jain's index of TCP-GAP", (*_FAIR, *_FAST)),
        Ask(of(JAIN, _GAP), NEARLY, number, 'Fig. 21, left out by "almost all"', ("gap-random",), role=Role.BESIDE),
    ),
    _over_all(
        "A4", "Pacing alone is nearly optimally fair where no flows meet.", "section 4.4", "nearly optimal",
        Ask(of(JAIN, _NOGC), NEARLY, number, "Jain's index without goodput control", _SAME_WAY),
    ),
    *map(_kept, CONNECTIONS),
)  # fmt: skip


def _short(shape: str, case: str) -> Claim:
    return Claim(
        "A5", f"Several flows below 4 hops: NewReno is severely unfair, TCP-GAP is not ({shape}, {CASES[case]}).",
        "section 5.2.1", f"{PAPER}, section 5.2.1", "severely unfair",
        (
            Ask(
                difference(JAIN), MUCH_FAIRER, signed, "Jain's index less NewReno's",
                (f"gap-short-multiflow-{shape}-{case}",), unit=" hops",
            ),
            Ask(
                of(JAIN, _NEWRENO), EQUAL, number, "NewReno's", (f"gap-short-multiflow-{shape}-{case}",), unit=" hops",
                role=Role.BESIDE,
            ),
        ),
    )  # fmt: skip


def _delayed(direction: str) -> Claim:
    return Claim(
        "A6", f"Delayed acknowledgements raise TCP-GAP's goodput significantly, {CASES[direction]}.", "section 4.3",
        f"{PAPER}, section 4.3", "significantly more",
        (
            Ask(
                gain(GOODPUT, "tcp-gap-delack", _GAP), order(NO_GAIN), percent, "Against TCP-GAP",
                (f"gap-delack-{direction}",), unit=" hops",
            ),
        ),
        cause=f"gap-switches-chain-{direction}",
    )  # fmt: skip


def _over_the_chosen(quantity: Quantity) -> Measure:
    """How much better another setting of goodput control is than the paper's."""

    def take(outcome: Outcome, condition: Condition, point: str) -> Values:
        here, chosen = (outcome.values(Cell(condition, _GAP, label), quantity) for label in (point, CHOSEN))
        return paired(here, chosen, lambda a, b: a / b - 1 if b else None)

    return Measure((_GAP,), take, quantity, along=())


_OTHERS = tuple(
    label for interval in INTERVALS for threshold in THRESHOLDS if (label := setting(interval, threshold)) != CHOSEN
)
_SUITABLE = Rule("EQUALITY", high=0.02)

_BIN_S, _FROM_S, _EXCESS = 5, 30, 1.1 + 0.05


def within_the_threshold(bins: Bins) -> float | None:
    """The part of 5 s intervals in which the flow into the mesh exceeds the mean of both by no more than a tenth."""
    length = min(len(series) for series in bins.values())
    starts = range(_FROM_S, length - _BIN_S + 1, _BIN_S)
    pairs = [[sum(bins[flow][start : start + _BIN_S]) for flow in ("1", "2")] for start in starts]
    kept = [2 * first / (first + second) <= _EXCESS for first, second in pairs if first + second]
    return sum(kept) / len(kept) if kept else None


def _held(quantity: Quantity, what: str, scheme: str, over: str) -> Ask:
    return Ask(gain(quantity, scheme, over), equality(-0.03, 0.03), percent, what, ("gap-gc-separate",))


def _text(id_: str, statement: str, where: str, printed: str, *asks: Ask) -> Claim:
    return Claim(id_, statement, where, f"{PAPER}, {where}", printed, asks)


_SINGLE: tuple[Claim, ...] = (
    _text(
        "A7", "5 s and 1.1 are suitable settings of goodput control: no other is better by more than 2 %.",
        "section 4.4",
        "suitable",
        *(
            Ask(
                _over_the_chosen(quantity), _SUITABLE, percent, f"{what} against 5 s and 1.1", ("gap-gc-settings",),
                _OTHERS,
            )
            for quantity, what in ((JAIN, "Jain's index"), (GOODPUT, "Aggregate"))
        ),
    ),
    _text(
        "A8", "With goodput control a fast flow exceeds the mean goodput by 10 % at most, until it is throttled.",
        "section 4.4", "10 % at most",
        Ask(
            from_series(within_the_threshold, _GAP), Rule("VALUE", low=0.9), share,
            "Intervals of 5 s in which it does not",
            ("gap-gc-time",),
        ),
    ),
    _text(
        "A9", "Without a common bottleneck the fast flow keeps its rate.", "section 4.4", "keeps its rate",
        *(
            _held(flow, f"Flow {n} with against without goodput control", _GAP, _NOGC)
            for n, flow in enumerate(FLOWS[:2], 1)
        ),
    ),
    _text(
        "A10", "The gateway needs at most the receiver's window of buffer a flow.", "section 4.3", "64 packets a flow",
        Ask(
            greatest(of(QUEUE_MAX, _GAP)), Rule("BOUND", high=2 * _WINDOW), most,
            "Most packets that waited in any run, of two flows", ("gap-gateway-buffer",),
        ),
    ),
    _text(
        "A11", "A wireless sender without pacing works through the gateway as plain NewReno.", "section 4.2",
        "as NewReno",
        Ask(
            gain(GOODPUT, "newreno-behind-gap"), equality(-0.02, 0.02), percent, "Against NewReno",
            ("gap-gateway-plain",)
        ),
    ),
    _text(
        "A12", "TCP-GAP sends no control traffic for fairness.", "abstract", "none",
        Ask(
            difference(CONTROL), Rule("ORDER", high=0.0), count, "Routing packets per 100 s less NewReno's",
            ("gap-gateway-plain", "gap-gateway-buffer"),
        ),
    ),
)  # fmt: skip

CLAIMS: tuple[Claim, ...] = (
    *_OVERALL,
    *(_short(shape, case) for shape in SHAPES for case in CASES),
    *map(_delayed, ("up", "down")),
    *_SINGLE,
)
