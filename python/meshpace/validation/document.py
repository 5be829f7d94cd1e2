"""The table of a validation as Markdown (docs/validation.md)."""

from __future__ import annotations

from collections import Counter

from meshpace import engine
from meshpace.validation.explained import EXPLAINED
from meshpace.validation.families import FAMILIES
from meshpace.validation.model import Verdict


def document(verdicts: list[Verdict], wall_s: float) -> str:
    """The whole page."""
    passed = sum(verdict.passed for verdict in verdicts)
    parts = [_HEAD.format(version=engine.version(), rows=len(verdicts), passed=passed, wall=f"{wall_s:.0f}")]
    parts.append(_summary(verdicts))
    explained = [verdict for verdict in verdicts if not verdict.passed and verdict.key in EXPLAINED]
    if explained:
        parts.append("## Explained misses\n")
        parts.append("\n".join(f"- {verdict.key}: {EXPLAINED[verdict.key]}" for verdict in explained) + "\n")
    for name, family in FAMILIES.items():
        rows = [verdict for verdict in verdicts if verdict.family == name]
        if rows:
            parts.append(_family(name, (family.__doc__ or "").strip(), rows))
    return "\n".join(parts)


_HEAD = """\
# Validation

This page compares the simulator with measurements that others can repeat, row by row: the unmodified ns-2.35 with
the same parameters (validation/reference/README.md), ns-3.37 for chains of 802.11n and links of 802.11ac and ax,
the numbers that the papers print, and closed forms. `make validate` writes the page (engine {version}): {passed} of
{rows} rows are within their tolerance; it took {wall} s of wall time. Nothing was tuned to hit a row.

Measurements on both sides are means over seeds; ± is the half-width of our 95 % confidence interval. A row passes
if the difference is within these bounds, beyond what the scatter of both sides explains at 99 % (Welch's test):

| rows | bound |
|---|---|
| static routes | goodput 2 % (one saturated sender: half a percent), RTTs and intervals 5 %, counts 10 % or 3, \
Jain's index 0.005 |
| AODV | what the scatter explains at 99.9 % with at least ten seeds of ours; half a percent or 3 at any rate |
| of the specification, besides | static routes: 10 % up to 3 hops, 15 % beyond; AODV: 20 % up to 8 hops, 30 % at 9 \
and 10; static TCP-AP and UDP: 10 %; counts: a factor of 1.5 where the reference is at least 20 a run, else 15 |
| closed forms | 3 % of Bianchi's throughput, 1 % of one saturated sender, a tenth of a microsecond of times on the \
air |
| TCP/Linux of ns-2.35 over wired bottlenecks | 1 % of goodput, 5 % of the window, 4 packets of the queue |
| 802.11n, ac and ax | 3 % of ns-3.37 on one link and 10 % over chains, 1 % of a saturated link, 3 % of Bianchi's \
throughput and of two categories, a tenth of the few frames of best effort beside voice |

A pass does not say everything. [sensitivity.md](sensitivity.md) shows which wrong inputs the table notices and
which it does not. RTTs of TCP agents are in ticks of 10 ms on both sides, so at one hop any RTT below a tick
passes.

Two things are not compared: the TCP-AP authors' agent held at a fixed interval (`ap_agent_interval`) below the best
one, and its stall (`ap_stall`, off by default). ns-2's goodput was seen to be 4 to 11 % below ours there, with 14
to 24 stalls a run, but the reference has no table of them; [model.md](model.md) has our figures. The agent is
compared with the interval that it takes for three hops, which is too short for them: goodput, retransmissions and
timeouts in tcp_ap_chain_static and tcp_ap_chain_aodv. `ap_stall` changes none of these numbers.
"""


def _summary(verdicts: list[Verdict]) -> str:
    rows, passed = Counter(v.family for v in verdicts), Counter(v.family for v in verdicts if v.passed)
    lines = ["| family | rows | pass | explained misses | unexplained |", "|---|--:|--:|--:|--:|"]
    for family, count in rows.items():
        missed = [v for v in verdicts if v.family == family and not v.passed]
        explained = sum(v.key in EXPLAINED for v in missed)
        lines.append(f"| {family} | {count} | {passed[family]} | {explained} | {len(missed) - explained} |")
    return "\n".join(lines) + "\n"


def _family(name: str, title: str, verdicts: list[Verdict]) -> str:
    command = verdicts[0].job.command()
    title = " ".join(title.split())
    lines = [
        f"## {name}\n",
        f"{title} Repeat a run, here the first row's: `{command}`\n",
        "| row | quantity | ours | reference | ours / reference | tolerance | verdict |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    for verdict in verdicts:
        check, ours = verdict.check, verdict.ours
        quantity = f"{check.quantity} ({check.unit})" if check.unit else check.quantity
        value = "-" if ours is None else f"{ours.mean:,.{check.digits}g}"
        if ours is not None and ours.half_width is not None:
            value += f" ± {ours.half_width:.2g}"
        ratio = f"{ours.mean / check.reference:.3f}" if ours is not None and check.reference else "-"
        reference = f"{check.reference:,.{check.digits}g}"
        reference += "" if check.source == "ns-2.35" else f" ({check.source})"
        word = "pass" if verdict.passed else "explained" if verdict.key in EXPLAINED else "**miss**"
        lines.append(f"| {check.name} | {quantity} | {value} | {reference} | {ratio} | {check.tolerance} | {word} |")
    return "\n".join(lines) + "\n"
