"""Advice on a terminal, in words, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.table import Table

from meshpace.advice.instead import Change
from meshpace.advice.make import Advice
from meshpace.advice.traffic import Pattern
from meshpace.advice.weigh import Answer, Effect, Way, Weighed
from meshpace.cli.tables import show
from meshpace.cli.terminal import console
from meshpace.stats import Estimate
from meshpace.study.model import scheme_name
from meshpace.study.quantities import DELAY, GOODPUT, JAIN, Quantity
from meshpace.study.record import running

HEADS = ("goodput %", "Jain's index", "delay %")
"""What an effect is told by."""
READING = (
    "Changes are to {baseline}, paired by seed, means with 95 % confidence intervals; * is certain though it is one of "
    "many patterns (Bonferroni). Goodput is that of all flows together, delay one way."
)


def print_advice(advice: Advice) -> None:
    """The patterns, what it comes to over all of them, and the answer."""
    terminal = console()
    terminal.print(by_pattern(advice))
    terminal.print(over_all(advice))
    for line in told(advice):
        terminal.print(line, highlight=False, soft_wrap=True, markup=False)


def by_pattern(advice: Advice) -> Table:
    """A row a pattern of traffic: what there is, and what each scheme changes."""
    schemes = advice.question.schemes
    table = Table(title=title(advice), title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("traffic")
    table.add_column("hops", justify="right")
    table.add_column(f"{scheme_name(advice.question.baseline)}\nkbit/s", justify="right")
    for scheme in schemes:
        for number, head in enumerate(HEADS):
            table.add_column(f"{scheme_name(scheme) if number == 0 else ''}\n{head}", justify="right", no_wrap=True)
    for row in pattern_rows(advice):
        table.add_row(*row)
    return table


def title(advice: Advice) -> str:
    """What was asked."""
    return f"{advice.resolved['name']}: gateway {advice.gateway}, {advice.seeds} seeds"


def pattern_rows(advice: Advice) -> Iterator[tuple[str, ...]]:
    """The cells of :func:`by_pattern`."""
    for pattern in advice.patterns:
        goodput = _estimate(advice, pattern, advice.question.baseline, GOODPUT)
        cells = [cell for s in advice.question.schemes for cell in effect_cells(advice.of_scheme(pattern, s), advice)]
        hops = ", ".join(map(str, pattern.hops))
        yield (pattern.name, hops, show(goodput, (GOODPUT.factor, GOODPUT.decimals)), *cells)


def over_all(advice: Advice) -> Table:
    """A row a scheme and a row a change: the mean over all patterns."""
    table = Table(title=OVER_ALL, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("")
    for head in (*HEADS, "does it help?"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("")
    for row in overall_rows(advice):
        table.add_row(*row)
    return table


OVER_ALL = "Over all patterns: pacing, and what else could be done instead"


def overall_rows(advice: Advice) -> Iterator[tuple[str, ...]]:
    """The cells of :func:`over_all`."""
    for scheme in advice.question.schemes:
        found = advice.scheme(scheme)
        yield (scheme_name(scheme), *effect_cells(found), str(found.answer), "")
    for change in _ranked(advice):
        found = advice.change(change)
        yield (change.what, *effect_cells(found), str(found.answer), change.caveat)


def effect_cells(found: Effect, advice: Advice | None = None) -> tuple[str, str, str]:
    """Goodput, fairness, delay; with the advice marked where they are certain among its patterns."""
    among = None if advice is None else len(advice.patterns)
    return (
        _signed(found.goodput, 100, 1, among),
        _signed(found.fairness, 1, 3, among),
        _signed(found.delay, 100, 0, among),
    )


def _signed(weighed: Weighed, factor: float, decimals: int, among: int | None) -> str:
    value = weighed.change()
    if value is None:
        return "-"
    text = _plain(value, factor, decimals)
    certain = among is not None and weighed.way(among) in (Way.MORE, Way.LESS)
    return f"{text} *" if certain else text


def _plain(value: Estimate, factor: float, decimals: int) -> str:
    text = f"{value.mean * factor:+,.{decimals}f}"
    return text if value.half_width is None else f"{text} ± {value.half_width * factor:,.{decimals}f}"


def _ranked(advice: Advice) -> list[Change]:
    """Changes by what they do to goodput, the best first."""

    def gain(change: Change) -> float:
        value = advice.change(change).goodput.change()
        return float("-inf") if value is None else value.mean

    return sorted(advice.changes, key=gain, reverse=True)


def told(advice: Advice) -> list[str]:
    """The answer in sentences."""
    best = advice.best()
    found, name = advice.scheme(best), scheme_name(best)
    lines = [f"Would pacing help? {in_words(found)} {name}: {_words(found)}."]
    lines += _where(advice, best)
    better = [change for change in _ranked(advice) if _beats(advice.change(change), found)]
    if better:
        what = "; ".join(f"{change.what} ({_words(advice.change(change))})" for change in better)
        lines.append(f"What gives more goodput than that: {what}.")
    else:
        lines.append("Nothing else that was tried gives more goodput for certain.")
    lines += [f"Not tried: {change.what}: {reason}" for change, reason in advice.refused]
    if found.answer in (Answer.OPEN, Answer.COSTS):
        lines.append("More seeds would decide it (--seeds, --precision).")
    if advice.ended:
        lines.append(
            "The budget ended before the precision was reached; the same command with a larger --budget goes on."
        )
    lines.append(READING.format(baseline=scheme_name(advice.question.baseline)))
    return lines


def in_words(found: Effect) -> str:
    """What it comes to: of a trade and of what is not decided, which falls."""
    dear = found.goodput.way() is Way.LESS
    return {
        Answer.YES: "Yes.",
        Answer.FAIRER: "Yes, it makes flows share more equally.",
        Answer.TRADE: f"It trades {'goodput for fairness' if dear else 'fairness for goodput'}.",
        Answer.OPEN: "Undecided.",
        Answer.COSTS: "No, or a trade: "
        + (
            "goodput falls for certain, and whether flows share more equally is undecided."
            if dear
            else "flows share less equally for certain, and whether goodput rises is undecided."
        ),
        Answer.NO: "No.",
    }[found.answer]


def _words(found: Effect) -> str:
    parts = []
    for weighed, name, factor, decimals, unit in (
        (found.goodput, "goodput", 100, 1, " %"),
        (found.fairness, "Jain's index", 1, 3, ""),
        (found.delay, "delay", 100, 0, " %"),
    ):
        if (value := weighed.change()) is not None:
            parts.append(f"{name} {_plain(value, factor, decimals)}{unit}")
    return ", ".join(parts) or "nothing arrives without it"


def _where(advice: Advice, scheme: str) -> list[str]:
    """The patterns where it is certain that goodput or fairness move."""
    count = len(advice.patterns)
    lines = []
    for way, verb in ((Way.MORE, "helps"), (Way.LESS, "costs")):
        places = []
        for pattern in advice.patterns:
            found = advice.of_scheme(pattern, scheme)
            moved = [
                f"{name} {_plain(value, factor, decimals)}{unit}"
                for weighed, name, factor, decimals, unit in (
                    (found.goodput, "goodput", 100, 1, " %"), (found.fairness, "Jain's index", 1, 3, ""),
                )
                if weighed.way(count) is way and (value := weighed.change()) is not None
            ]  # fmt: skip
            if moved:
                places.append(f"{pattern.name} ({', '.join(moved)})")
        if places:
            lines.append(f"Where it {verb} for certain: {'; '.join(places)}.")
    return lines


def _beats(one: Effect, other: Effect) -> bool:
    """Whether one's change of goodput lies above the other's, intervals apart, and above none."""
    first, second = one.goodput.change(), other.goodput.change()
    if first is None or first.half_width is None or one.goodput.way() is not Way.MORE:
        return False
    if second is None or second.half_width is None:
        return True
    return first.mean - first.half_width > second.mean + second.half_width


def as_json(advice: Advice) -> dict[str, Any]:
    """What ``--json`` prints."""
    question, tally = advice.question, advice.tally
    return {
        "schema": 1,
        "engine_fingerprint": running().fingerprint,
        "scenario": advice.resolved["name"],
        "gateways": [advice.mesh.ids[node] for node in advice.mesh.gateways],
        "baseline": question.baseline,
        "seeds": advice.seeds,
        "runs": {"made": tally.made, "stored": tally.stored, "others": tally.others},
        "ended": advice.ended,
        "answer": str(advice.scheme(advice.best()).answer),
        "best": advice.best(),
        "told": told(advice),
        "patterns": [_pattern_json(advice, pattern) for pattern in advice.patterns],
        "schemes": {scheme: _effect_json(advice.scheme(scheme)) for scheme in question.schemes},
        "instead": [
            {"what": change.what, "settings": list(change.settings), "caveat": change.caveat or None,
             **_effect_json(advice.change(change))}
            for change in _ranked(advice)
        ],
        "not_tried": [{"what": change.what, "reason": reason} for change, reason in advice.refused],
    }  # fmt: skip


def _pattern_json(advice: Advice, pattern: Pattern) -> dict[str, Any]:
    baseline = advice.question.baseline
    ends = zip(pattern.flows, pattern.hops, strict=True)
    return {
        "name": pattern.name,
        "flows": [{"from": source, "to": sink, "hops": hops} for (source, sink), hops in ends],
        "schemes": {
            scheme: {
                "quantities": {q.name: _pair(_estimate(advice, pattern, scheme, q)) for q in (GOODPUT, JAIN, DELAY)},
                "change": None if scheme == baseline else _effect_json(advice.of_scheme(pattern, scheme)),
                "command": advice.schemes.command(advice.cell(pattern, scheme)),
            }
            for scheme in (baseline, *advice.question.schemes)
        },
    }


def _estimate(advice: Advice, pattern: Pattern, scheme: str, quantity: Quantity) -> Estimate | None:
    return advice.schemes.estimate(advice.cell(pattern, scheme), quantity)


def _effect_json(found: Effect) -> dict[str, Any]:
    return {
        "answer": str(found.answer),
        **{
            name: None if (value := weighed.change()) is None else {**(_pair(value) or {}), "way": str(weighed.way())}
            for name, weighed in (("goodput", found.goodput), ("jain", found.fairness), ("delay", found.delay))
        },
    }


def _pair(value: Estimate | None) -> dict[str, float | None] | None:
    return None if value is None else {"mean": value.mean, "ci95": value.half_width}
