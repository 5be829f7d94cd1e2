"""Advice on a terminal, in words, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.table import Table

from meshpace.advice.instead import Change
from meshpace.advice.make import Advice
from meshpace.advice.traffic import Pattern
from meshpace.advice.weigh import Benefit, Effect, Movement, Shift, Weighed
from meshpace.advice.where import SHORT, TOOLS, shown
from meshpace.advice.where import in_words as places_in_words
from meshpace.cli.tables import show
from meshpace.cli.terminal import console
from meshpace.stats import Estimate
from meshpace.study.quantities import GOODPUT, JAIN, Quantity
from meshpace.study.record import running
from meshpace.sweeps.delays import DELAYS
from meshpace.sweeps.delays import told as starved_told
from meshpace.words import counted

HEADS = ("goodput %", "median flow %", "Jain's index", "delay %")
"""What an effect is told by."""
READING = (
    "Changes are to {baseline}, paired by seed, with 95 % confidence intervals (of ratios: from their logarithms); * "
    "is certain though it is one of many patterns (Bonferroni). Goodput is the ratio of sums over all flows, beside it "
    "the median of the flows' own ratios; delay is one way, mean over packets."
)


def print_advice(advice: Advice) -> None:
    """The facts that it cannot know, the patterns, the sum over all patterns, and the answer."""
    terminal = console()
    for line in unknown(advice):
        terminal.print(line, highlight=False, soft_wrap=True, markup=False)
    terminal.print(by_pattern(advice))
    terminal.print(over_all(advice))
    for line in told(advice):
        terminal.print(line, highlight=False, soft_wrap=True, markup=False)


def unknown(advice: Advice) -> list[str]:
    """What no simulation of this file can know of the mesh: it stands before the answer."""
    resolved = advice.resolved
    radio, mesh = resolved["radio"], resolved["mesh"]
    assert isinstance(radio, dict)
    assert isinstance(mesh, list)
    links = bool(resolved["radio_links"])
    lines = [
        "What this cannot know of the mesh: other networks on the channel, weather, traffic beside the bulk flows that "
        "it tries, and rates that adapt (each link keeps its own)."
    ]
    if links and not any(node["placed"] for node in mesh):
        lines.append(
            "Links are those of the file: two nodes without one neither hear nor disturb each other here, and on the "
            "air they may."
        )
    elif not links:
        lines.append(
            f"Who hears whom is by distance, {radio['tx_range_m']:g} m at the most: no walls, no trees, no antennas."
        )
    lines.append(
        f"It takes for granted what all nodes run today: {shown(advice.question.baseline)} (--baseline says otherwise)."
    )
    lines.append(f"It reckons with {_radio(resolved)}, and {_routes(resolved)}.")
    return lines


def _radio(resolved: dict[str, Any]) -> str:
    """``802.11n at 65 Mbit/s, on 2 channels``."""
    radio, channels = resolved["radio"], resolved["channels"]
    rates = f"at {radio['rate_bps'] / 1e6:g} Mbit/s"
    if "rate_control" in radio:
        rates = f"at rates by {radio['rate_control']}"
    elif radio["link_rates"]:
        rates += " but for links with rates of their own"
    return f"{radio['standard']} {rates}" + (f", on {len(channels)} channels" if channels else "")


def _routes(resolved: dict[str, Any]) -> str:
    """``static routes by etx``."""
    routing = resolved["routing"]
    of_profile = f" (profile {routing['profile']})" if routing["profile"] else ""
    by_metric = f" by {routing['metric']}" if "metric" in routing else ""
    return f"{routing['protocol']} routes{of_profile}{by_metric}"


def by_pattern(advice: Advice) -> Table:
    """A row a pattern of traffic and scheme: what there is, and what the scheme changes."""
    table = Table(title=title(advice), title_justify="left", box=box.SIMPLE_HEAD)
    for number, head in enumerate(PATTERN_HEADS):
        table.add_column(head, justify="left" if number in _WORDS else "right", no_wrap=number > 0)
    for row in pattern_rows(advice):
        table.add_row(*row)
    return table


_WORDS = (0, 3)


PATTERN_HEADS = ("traffic", "hops", "without\nkbit/s", "with", HEADS[0], *HEADS[2:])
"""Of :func:`pattern_rows`."""


def title(advice: Advice) -> str:
    """What was asked."""
    gateways = [advice.mesh.ids[node] for node in advice.mesh.gateways]
    many = "s" * (len(gateways) > 1)
    return f"{advice.resolved['name']}: gateway{many} {', '.join(gateways)}, {counted(advice.seeds, 'seed')}"


def pattern_rows(advice: Advice) -> Iterator[tuple[str, ...]]:
    """The cells of :func:`by_pattern`."""
    for pattern in advice.patterns:
        goodput = _estimate(advice, pattern, advice.question.baseline, GOODPUT)
        head = (pattern.name, ", ".join(map(str, pattern.hops)), show(goodput, (GOODPUT.factor, GOODPUT.decimals)))
        for number, scheme in enumerate(advice.question.schemes):
            # The median flow is shown over all patterns only, because most patterns have one flow.
            changed, _, *cells = effect_cells(advice.of_scheme(pattern, scheme), advice)
            yield (*(head if number == 0 else ("", "", "")), SHORT.get(scheme) or shown(scheme), changed, *cells)


def over_all(advice: Advice) -> Table:
    """A row a scheme and a row a change, over all patterns."""
    table = Table(title=OVER_ALL, title_justify="left", box=box.SIMPLE_HEAD)
    for number, head in enumerate(OVERALL_HEADS):
        table.add_column(head, justify="right" if head in HEADS else "left", no_wrap=number > 0)
    for row in overall_rows(advice):
        table.add_row(*row)
    return table


OVER_ALL = "Over all patterns: pacing, and what else could be done instead"
OVERALL_HEADS = ("what, and where", *HEADS, "does it help?")


def overall_rows(advice: Advice) -> Iterator[tuple[str, ...]]:
    """The cells of :func:`over_all`."""
    for scheme in advice.question.schemes:
        found = advice.scheme(scheme)
        where = "" if scheme in SHORT else f"\n  {places_in_words(advice.where[scheme])}"
        yield (f"{shown(scheme)}{where}", *effect_cells(found), str(found.answer))
    for change in _ranked(advice):
        found = advice.change(change)
        yield (f"{change.what}\n  {change.where}", *effect_cells(found), str(found.answer))


def effect_cells(found: Effect, advice: Advice | None = None) -> tuple[str, str, str, str]:
    """Goodput, the median flow, fairness, delay; with the advice marked where they are certain among its patterns."""
    among = None if advice is None else len(advice.patterns)
    return (
        _signed(found.goodput, 100, 0, among),
        _signed(found.median_flow, 100, 0, among),
        _signed(found.fairness, 1, 2, among),
        _signed(found.delay, 100, 0, among),
    )


def _signed(weighed: Weighed, factor: float, decimals: int, among: int | None) -> str:
    value = weighed.change()
    if value is None:
        return "-"
    text = _plain(value, factor, decimals)
    certain = among is not None and weighed.way(among) in (Movement.MORE, Movement.LESS)
    return f"{text} *" if certain else text


def _plain(value: Shift, factor: float, decimals: int) -> str:
    text = f"{value.mean * factor:+,.{decimals}f}"
    if value.low is None or value.high is None:
        return text
    return f"{text} ({value.low * factor:+,.{decimals}f}, {value.high * factor:+,.{decimals}f})"


def _ranked(advice: Advice) -> list[Change]:
    """Changes by what they do to goodput, the best first."""

    def gain(change: Change) -> float:
        value = advice.change(change).goodput.change()
        return float("-inf") if value is None else value.mean

    return sorted(advice.changes, key=gain, reverse=True)


def told(advice: Advice) -> list[str]:
    """The answer in sentences."""
    best = advice.best()
    found = advice.scheme(best)
    lines = [f"Would pacing help? {in_words(found)} {_switched(advice, best)}: {_words(found)}."]
    lines += [
        f"{_switched(advice, scheme)}: {_words(advice.scheme(scheme))}."
        for scheme in advice.question.schemes
        if scheme != best
    ]
    lines += _where(advice, best)
    better = [change for change in _ranked(advice) if _beats(advice.change(change), found)]
    if better:
        what = "; ".join(f"{change.what}, at {change.where} ({_words(advice.change(change))})" for change in better)
        lines.append(f"What gives more goodput than that: {what}.")
    else:
        lines.append("Nothing else that was tried gives more goodput than that for certain.")
    lines += [f"{change.what}: {change.caveat}." for change in _ranked(advice) if change.caveat]
    lines += [f"Not tried: {change.what}: {reason}" for change, reason in advice.refused]
    lines += starved_told(
        (pattern.name, advice.baseline(pattern)) for pattern in advice.patterns if len(pattern.flows) > 1
    )
    if found.answer in (Benefit.OPEN, Benefit.COSTS):
        lines.append("More seeds would decide it (--seeds, --precision).")
    if advice.ended:
        lines.append(
            "The budget ended before the precision was reached; the same command with a larger --budget goes on."
        )
    lines.append(READING.format(baseline=shown(advice.question.baseline)))
    return lines


def _switched(advice: Advice, scheme: str) -> str:
    """A scheme and whose machines it takes."""
    name = shown(scheme)
    if scheme in TOOLS:
        return f"{name[:1].upper()}{name[1:]} ({TOOLS[scheme]})"
    where = places_in_words(advice.where[scheme])
    if not advice.deployable(scheme):
        return f"{name[:1].upper()}{name[1:]}, which {where} would have to run"
    return f"{name[:1].upper()}{name[1:]} (switched on at {where})"


def in_words(found: Effect) -> str:
    """The effect in words.

    Of a trade or an undecided effect it says which figure falls, and whether packets take longer.
    """
    dear = found.goodput.way() is Movement.LESS
    late = ", but packets take longer" if found.delay.way() is Movement.MORE else ""
    return {
        Benefit.YES: f"Yes{late}.",
        Benefit.FAIRER: f"Yes, it makes flows share more equally{late}.",
        Benefit.TRADE: f"It trades {'goodput for fairness' if dear else 'fairness for goodput'}{late}.",
        Benefit.OPEN: "Undecided.",
        Benefit.COSTS: "No, or a trade: "
        + (
            "goodput falls for certain, and whether flows share more equally is undecided."
            if dear
            else "flows share less equally for certain, and whether goodput rises is undecided."
        ),
        Benefit.NO: "No.",
    }[found.answer]


def _words(found: Effect) -> str:
    parts = []
    for weighed, name, factor, decimals, unit in (
        (found.goodput, "goodput", 100, 0, " %"),
        (found.median_flow, "of the median flow", 100, 0, " %"),
        (found.fairness, "Jain's index", 1, 2, ""),
        (found.delay, "delay", 100, 0, " %"),
    ):
        value = weighed.change()
        if value is None:
            continue
        gone = weighed.ratio and value.high == -1.0
        parts.append(f"{name}: nothing arrives" if gone else f"{name} {_plain(value, factor, decimals)}{unit}")
    return ", ".join(parts) or "nothing arrives without it"


def _where(advice: Advice, scheme: str) -> list[str]:
    """The patterns where it is certain that goodput or fairness move."""
    count = len(advice.patterns)
    lines = []
    for way, verb in ((Movement.MORE, "helps"), (Movement.LESS, "costs")):
        places = []
        for pattern in advice.patterns:
            found = advice.of_scheme(pattern, scheme)
            moved = [
                f"{name} {_plain(value, factor, decimals)}{unit}"
                for weighed, name, factor, decimals, unit in (
                    (found.goodput, "goodput", 100, 0, " %"), (found.fairness, "Jain's index", 1, 2, ""),
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
    if first is None or first.low is None or one.goodput.way() is not Movement.MORE:
        return False
    return second is None or second.high is None or first.low > second.high


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
        "unknown": unknown(advice),
        "answer": str(advice.scheme(advice.best()).answer),
        "best": advice.best(),
        "told": told(advice),
        "patterns": [_pattern_json(advice, pattern) for pattern in advice.patterns],
        "schemes": {
            scheme: {"where": list(map(str, advice.where[scheme])), **_effect_json(advice.scheme(scheme))}
            for scheme in question.schemes
        },
        "instead": [
            {"what": change.what, "where": str(change.where), "settings": list(change.settings),
             "caveat": change.caveat or None, **_effect_json(advice.change(change))}
            for change in _ranked(advice)
        ],
        "not_tried": [{"what": change.what, "reason": reason} for change, reason in advice.refused],
    }  # fmt: skip


def _pattern_json(advice: Advice, pattern: Pattern) -> dict[str, Any]:
    baseline, shown_quantities = advice.question.baseline, (GOODPUT, JAIN, *DELAYS)
    ends = zip(pattern.flows, pattern.hops, strict=True)
    return {
        "name": pattern.name,
        "flows": [{"from": source, "to": sink, "hops": hops} for (source, sink), hops in ends],
        "schemes": {
            scheme: {
                "quantities": {q.name: _pair(_estimate(advice, pattern, scheme, q)) for q in shown_quantities},
                "change": None if scheme == baseline else _effect_json(advice.of_scheme(pattern, scheme)),
                "command": advice.schemes.command(advice.cell(pattern, scheme)),
            }
            for scheme in (baseline, *advice.question.schemes)
        },
    }


def _estimate(advice: Advice, pattern: Pattern, scheme: str, quantity: Quantity) -> Estimate | None:
    return advice.schemes.estimate(advice.cell(pattern, scheme), quantity)


def _effect_json(found: Effect) -> dict[str, Any]:
    weighed = {
        "goodput": found.goodput, "median_flow": found.median_flow, "jain": found.fairness, "delay": found.delay
    }  # fmt: skip
    return {
        "answer": str(found.answer),
        **{
            name: None if (value := one.change()) is None else {**_shift(value), "way": str(one.way())}
            for name, one in weighed.items()
        },
    }


def _shift(value: Shift) -> dict[str, float | None]:
    return {"mean": value.mean, "low": value.low, "high": value.high, "ci95": value.half_width}


def _pair(value: Estimate | None) -> dict[str, float | None] | None:
    return None if value is None else {"mean": value.mean, "ci95": value.half_width}
