"""The TCP-GAP paper's claims that the demo can judge, and the rules by which the numbers judge them.

Rules, the same for every claim: a difference counts only where its 95 % confidence interval (paired by seed) leaves
out zero. "Up to x %" holds if the largest gain reaches half of x and no point loses. A claim holds in part if it
holds at some of its points only, does not hold if the intervals exclude it, and is undecided if they allow both. Every
claim is judged under ns-2's AODV and under static routes, since the papers used the former and its false route
failures are part of what pacing avoids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from meshpace.demo.outcome import Outcome, Quantity, delay, goodput, jain, smallest_share
from meshpace.demo.plan import DIRECTION_NAMES, HOPS, ROUTING_NAMES, ROUTINGS, Case
from meshpace.report.model import Claim, Finding, Verdict
from meshpace.stats import Estimate

_PAPER = "TCP-GAP paper (Computer Networks 2008)"
_LONG = tuple(h for h in HOPS if h >= 4)
_SHORT = tuple(h for h in HOPS if h < 4)
_STARVED = 0.05
"""A flow with less than a twentieth of the aggregate over the whole run starves."""


def judge(outcome: Outcome) -> tuple[Claim, ...]:
    """Every claim with its findings."""
    return (
        _claim(
            "TCP-GAP delivers up to 41 % more than NewReno from a wireless host to the Internet over 4 hops and more.",
            "Chain, wireless to wired",
            lambda routing: _chain_gain(outcome, routing, "up", 0.41),
        ),
        _claim(
            "TCP-GAP delivers up to 42 % more than NewReno from the Internet to a wireless host over 4 hops and more.",
            "Chain, wired to wireless",
            lambda routing: _chain_gain(outcome, routing, "down", 0.42),
        ),
        _claim(
            "Below 4 hops TCP-GAP stays within 3 % of NewReno towards the wireless host.",
            "Chain, wired to wireless",
            lambda routing: _short_chains(outcome, routing),
        ),
        _claim(
            "With NewReno one of two parallel chains starves for good.",
            "Figs. 10, 11, 14",
            lambda routing: _starvation(outcome, routing),
        ),
        _claim(
            "TCP-GAP shares the gateway between parallel chains more equally than NewReno over 10 s windows.",
            "Figs. 10 to 12",
            lambda routing: _parallel(outcome, routing, jain(10), "Jain's index", ("up", "down", "mix")),
        ),
        _claim(
            "With flows in the same direction TCP-GAP also has the higher aggregate goodput.",
            "Figs. 10, 11",
            lambda routing: _parallel(outcome, routing, goodput, "aggregate goodput", ("up", "down")),
        ),
        Claim(
            "Pacing keeps the queues short: packets of TCP-GAP arrive sooner than those of NewReno.",
            "What pacing is for",
            tuple(_shorter_delay(outcome, routing) for routing in ROUTINGS),
        ),
    )


def _claim(statement: str, where: str, finding: Callable[[str], Finding]) -> Claim:
    return Claim(statement, f"{_PAPER}: {where}", tuple(map(finding, ROUTINGS)))


def _percent(value: Estimate) -> str:
    width = "" if value.half_width is None else f" ± {value.half_width * 100:.1f}"
    return f"{value.mean * 100:+.1f}{width} %"


def _sign(value: Estimate) -> int:
    """1 or -1 if the confidence interval leaves out zero on that side, else 0."""
    width = value.half_width or 0.0
    return 1 if value.mean > width else -1 if value.mean < -width else 0


def by_signs(signs: Sequence[int]) -> Verdict:
    """Of a claim that something is larger at every point: 1 where it is, -1 where it is smaller, 0 where either."""
    if min(signs) == 1:
        return Verdict.HOLDS
    if 1 in signs:
        return Verdict.PART
    return Verdict.FAILS if -1 in signs else Verdict.OPEN


def _finding(routing: str, verdict: Verdict, reason: str) -> Finding:
    return Finding(ROUTING_NAMES[routing], verdict, reason)


def _gains(outcome: Outcome, cases: Sequence[tuple[str, Case]], quantity: Quantity) -> list[tuple[str, Estimate]]:
    found = [(name, outcome.gain(case, "tcp-gap", "newreno", quantity)) for name, case in cases]
    return [(name, gain) for name, gain in found if gain is not None]


def _nothing(routing: str) -> Finding:
    return _finding(routing, Verdict.FAILS, "NewReno delivered nothing to compare with.")


def _chain_gain(outcome: Outcome, routing: str, direction: str, printed: float) -> Finding:
    gains = _gains(outcome, [(f"{h} hops", Case(routing, direction, h)) for h in _LONG], goodput)
    if not gains:
        return _nothing(routing)
    best, worst = max(gains, key=lambda g: g[1].mean), min(gains, key=lambda g: g[1].mean)
    signs = [_sign(gain) for _, gain in gains]
    if best[1].mean >= printed / 2 and -1 not in signs:
        verdict = Verdict.HOLDS
    elif 1 in signs:
        verdict = Verdict.PART
    else:
        # Refuted only if no point can reach what is asked, even at the upper end of its interval.
        reach = max(gain.mean + (gain.half_width or 0.0) for _, gain in gains)
        verdict = Verdict.FAILS if reach < printed / 2 else Verdict.OPEN
    found = f"best {_percent(best[1])} at {best[0]}, worst {_percent(worst[1])} at {worst[0]}"
    reason = f"{found} (printed: up to {printed:.0%})."
    return _finding(routing, verdict, reason)


def _short_chains(outcome: Outcome, routing: str) -> Finding:
    gains = _gains(outcome, [(f"{h} hops", Case(routing, "down", h)) for h in _SHORT], goodput)
    if not gains:
        return _nothing(routing)
    within = [abs(gain.mean) <= 0.03 for _, gain in gains]
    verdict = Verdict.HOLDS if all(within) else Verdict.PART if any(within) else Verdict.FAILS
    return _finding(routing, verdict, "; ".join(f"{name} {_percent(gain)}" for name, gain in gains) + ".")


def _starvation(outcome: Outcome, routing: str) -> Finding:
    shares = []
    for direction in ("up", "down"):
        share = outcome.estimate(Case(routing, direction), "newreno", smallest_share)
        if share is not None:
            shares.append((direction, share))
    if not shares:
        return _nothing(routing)
    starved = [share.mean < _STARVED for _, share in shares]
    verdict = Verdict.HOLDS if all(starved) else Verdict.PART if any(starved) else Verdict.FAILS
    text = "; ".join(f"{DIRECTION_NAMES[d]} {share.mean:.0%}" for d, share in shares)
    return _finding(routing, verdict, f"the weaker flow's part of the aggregate over the whole run: {text}.")


def _parallel(outcome: Outcome, routing: str, quantity: Quantity, name: str, directions: Sequence[str]) -> Finding:
    gains = _gains(outcome, [(DIRECTION_NAMES[d], Case(routing, d)) for d in directions], quantity)
    if not gains:
        return _nothing(routing)
    signs = [_sign(gain) for _, gain in gains]
    verdict = by_signs(signs)
    text = "; ".join(f"{direction} {_percent(gain)}" for direction, gain in gains)
    return _finding(routing, verdict, f"{name} against NewReno: {text}.")


def _shorter_delay(outcome: Outcome, routing: str) -> Finding:
    ranges, signs = [], []
    for direction in ("up", "down"):
        gains = [gain for _, gain in _gains(outcome, [("", Case(routing, direction, h)) for h in _LONG], delay)]
        if gains:
            signs += [_sign(gain) for gain in gains]
            means = [gain.mean for gain in gains]
            ranges.append(f"{DIRECTION_NAMES[direction]} {min(means):+.0%} to {max(means):+.0%}")
    if not signs:
        return _nothing(routing)
    verdict = by_signs([-sign for sign in signs])
    what = "one-way delay over 4 hops and more, the wired 120 ms and the gateway's own queue included"
    return _finding(routing, verdict, f"{what}: {'; '.join(ranges)}.")
