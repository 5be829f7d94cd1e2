"""``meshpace crosscheck``: one scenario, two simulators."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from meshpace import engine
from meshpace.cli.arguments import job, job_of_each_seed
from meshpace.cli.tables import show
from meshpace.cli.terminal import console
from meshpace.files import distinct, replacing
from meshpace.ns2.express import express
from meshpace.ns2.parse import Figures, FlowFigures
from meshpace.ns2.run import find_ns, run_seeds
from meshpace.ns2.script import write_script
from meshpace.progress import Progress
from meshpace.results import FlowResult, LinkResult, RunResult
from meshpace.stats import Estimate, estimate
from meshpace.words import counted


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity in both; ``flow`` is None for the whole network, ``ratio`` None where ns-2 has zero."""

    flow: str | None
    quantity: str
    unit: str
    engine: Estimate | None
    ns2: Estimate | None

    @property
    def ratio(self) -> float | None:
        """Ours over that of ns-2."""
        if self.engine is None or self.ns2 is None or self.ns2.mean == 0:
            return None
        return self.engine.mean / self.ns2.mean


_FLOW: tuple[tuple[str, str, Callable[[FlowResult], float | None], Callable[[FlowFigures], float | None]], ...] = (
    ("goodput", "bit/s", lambda a: a["goodput_bps"], lambda b: b.goodput_bps),
    ("segments sent", "", lambda a: a["segments_sent"], lambda b: b.segments_sent),
    ("retransmits", "", lambda a: a["retransmits"], lambda b: b.retransmits),
    ("timeouts", "", lambda a: a["timeouts"], lambda b: b.timeouts),
    ("RTT", "s", lambda a: a["srtt_s"], lambda b: b.srtt_s),
)


def _links(take: Callable[[LinkResult], int], *, given_up: bool = False) -> Callable[[RunResult], float]:
    """A sum over the links; ``given_up`` leaves out wired ones, whose data_drops and ack_drops are queue drops."""

    def total(run: RunResult) -> float:
        # Nothing is given up on a link without a MAC; what a wired queue drops is not in retry_drops.
        links = [link for link in run["links"] if link["retry_drops"] or not given_up]
        return float(sum(take(link) for link in links))

    return total


_NETWORK: tuple[tuple[str, str, Callable[[RunResult], float | None], Callable[[Figures], float | None]], ...] = (
    ("aggregate goodput", "bit/s", lambda a: a["aggregate_goodput_bps"], lambda b: b.aggregate_goodput_bps),
    ("Jain's index", "", lambda a: a["jain"], lambda b: b.jain),
    ("Jain's index over 1 s", "", lambda a: a["jain_windows"].get("1"), lambda b: b.jain_windows["1"]),
    ("Jain's index over 10 s", "", lambda a: a["jain_windows"].get("10"), lambda b: b.jain_windows["10"]),
    ("Jain's index over 100 s", "", lambda a: a["jain_windows"].get("100"), lambda b: b.jain_windows["100"]),
    ("data packets given up", "", _links(lambda link: link["data_drops"], given_up=True), lambda b: b.data_drops),
    ("TCP ACKs given up", "", _links(lambda link: link["ack_drops"], given_up=True), lambda b: b.ack_drops),
    ("collisions", "", _links(lambda link: link["collisions"]), lambda b: b.collisions),
    ("collisions of RTS", "", _links(lambda link: link["collisions_rts"]), lambda b: b.collisions_rts),
    ("full-queue drops", "", _links(lambda link: link["queue_drops"]), lambda b: b.queue_drops),
    ("drops while an address was asked for", "", _links(lambda link: link["arp_drops"]), lambda b: b.arp_drops),
)


def crosscheck(
    scenario: Path,
    seeds: int,
    scheme: str | None,
    settings: list[str] | None,
    script: Path | None,
    as_json: bool,
    threads: int | None,
) -> None:
    """Runs both and prints them side by side; with ``script`` only writes the Tcl file of seed 1."""
    if script is not None:
        distinct({"--script": script}, [scenario])
        with replacing(script) as draft:
            draft.write_text(write_script(express(job(scenario, settings, scheme))))
        return
    jobs = job_of_each_seed(scenario, settings, scheme, seeds)
    expressed = [express(one) for one in jobs]
    find_ns()
    with Progress("meshpace", seeds) as progress:
        ours = engine.run_many(jobs, threads, progress)
    with Progress("ns-2.35", seeds) as progress:
        theirs = run_seeds(expressed, [one.seed for one in jobs], progress, threads)
    rows = compare(ours, theirs)
    if as_json:
        found = [{**asdict(row), "ratio": row.ratio} for row in rows]
        print(json.dumps({"schema": 1, "scenario": ours[0]["scenario"], "seeds": seeds, "rows": found}))
        return
    _print(ours[0]["scenario"], seeds, rows)


def compare(ours: Sequence[RunResult], theirs: Sequence[Figures]) -> list[Row]:
    """Every quantity that both tell, flow by flow, then over the network."""
    rows = []
    for index, flow in enumerate(ours[0]["flows"]):
        for name, unit, take, their in _FLOW:
            a = _estimate([take(run["flows"][index]) for run in ours])
            b = _estimate([their(run.flows[index]) for run in theirs])
            if b is not None:
                rows.append(Row(flow["id"], name, unit, a, b))
    for name, unit, whole, their_whole in _NETWORK:
        b = _estimate([their_whole(run) for run in theirs])
        if b is not None:
            rows.append(Row(None, name, unit, _estimate([whole(run) for run in ours]), b))
    return rows


def _estimate(values: Sequence[float | None]) -> Estimate | None:
    return estimate([value for value in values if value is not None])


def _print(name: str, seeds: int, rows: Sequence[Row]) -> None:
    from rich import box
    from rich.table import Table

    title = f"{name}, {counted(seeds, 'seed')}, means with 95 % confidence intervals"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("flow")
    table.add_column("quantity")
    for head in ("meshpace", "ns-2.35", "ratio"):
        table.add_column(head, justify="right")
    for row in rows:
        factor, unit = (1e-3, "kbit/s") if row.unit == "bit/s" else (1e3, "ms") if row.unit == "s" else (1.0, "")
        decimals = 3 if row.quantity.startswith("Jain") else 1
        cells = (show(value, (factor, decimals)) for value in (row.engine, row.ns2))
        ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
        table.add_row(row.flow or "all", f"{row.quantity} {unit}".strip(), *cells, ratio)
    terminal = console()
    terminal.print(table)
    ratios = [row.ratio for row in rows if row.quantity == "goodput" and row.ratio]
    if ratios:
        terminal.print(f"goodput ratio, geometric mean over the flows: {statistics.geometric_mean(ratios):.3f}")
