"""``meshpace crosscheck``: one scenario, two simulators: ours and a judge."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from meshpace import engine
from meshpace.cli.arguments import job, job_of_each_seed
from meshpace.cli.failure import BAD_INPUT, InputError
from meshpace.cli.tables import show
from meshpace.cli.terminal import console
from meshpace.engine import Job
from meshpace.files import distinct, replacing
from meshpace.judges.figures import Figures, FlowFigures
from meshpace.judges.judge import Judge, S
from meshpace.judges.refusals import NotExpressibleError
from meshpace.ns2.run import NS2
from meshpace.ns3.run import NS3
from meshpace.progress import Progress
from meshpace.results import FlowResult, LinkResult, RunResult
from meshpace.stats import Estimate, estimate
from meshpace.words import counted

JUDGES: dict[str, Judge[Any]] = {"ns2": NS2, "ns3": NS3}
"""By the word of ``--with``."""


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity in both; ``flow`` is None for the whole network, ``ratio`` None where the judge has zero."""

    flow: str | None
    quantity: str
    unit: str
    engine: Estimate | None
    judge: Estimate | None

    @property
    def ratio(self) -> float | None:
        """Ours over that of the judge."""
        if self.engine is None or self.judge is None or self.judge.mean == 0:
            return None
        return self.engine.mean / self.judge.mean


_FLOW: tuple[tuple[str, str, Callable[[FlowResult], float | None], Callable[[FlowFigures], float | None]], ...] = (
    ("goodput", "bit/s", lambda a: a["goodput_bps"], lambda b: b.goodput_bps),
    ("segments sent", "", lambda a: a["segments_sent"], lambda b: b.segments_sent),
    ("retransmits", "", lambda a: a["retransmits"], lambda b: b.retransmits),
    ("timeouts", "", lambda a: a["timeouts"], lambda b: b.timeouts),
    ("RTT", "s", lambda a: a["srtt_s"], lambda b: b.srtt_s),
    ("delay", "s", lambda a: a["delay_mean_s"], lambda b: b.delay_mean_s),
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
    word: str,
    seeds: int,
    scheme: str | None,
    settings: list[str] | None,
    script: Path | None,
    as_json: bool,
    threads: int | None,
) -> None:
    """Runs both and prints them side by side; with ``script`` only writes the judge's input of seed 1."""
    judge = JUDGES.get(word)
    if judge is None:
        raise InputError(f"--with: found {word!r}; allowed: {', '.join(JUDGES)}")
    if script is not None:
        distinct({"--script": script}, [scenario])
        (only,) = _expressed(judge, [job(scenario, settings, scheme)])
        with replacing(script) as draft:
            draft.write_text(judge.write(only))
        return
    jobs = job_of_each_seed(scenario, settings, scheme, seeds)
    expressed = _expressed(judge, jobs)
    judge.find()
    with Progress("meshpace", seeds) as progress:
        ours = engine.run_many(jobs, threads, progress)
    with Progress(judge.name, seeds) as progress:
        theirs = judge.run(expressed, [one.seed for one in jobs], progress, threads)
    rows = compare(ours, theirs)
    if as_json:
        found = [_row(row, word) for row in rows]
        print(json.dumps({"schema": 1, "scenario": ours[0]["scenario"], "seeds": seeds, "rows": found}))
        return
    _print(ours[0]["scenario"], seeds, rows, judge.name)


def _expressed(judge: Judge[S], jobs: Sequence[Job]) -> list[S]:
    """The jobs in the judge's terms; ends with exit status 2 and a line for each key that it cannot express."""
    try:
        return [judge.express(one) for one in jobs]
    except NotExpressibleError as error:
        print(error, file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None


def _row(row: Row, word: str) -> dict[str, object]:
    fields = asdict(row)
    fields[word] = fields.pop("judge")
    return {**fields, "ratio": row.ratio}


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


def _print(name: str, seeds: int, rows: Sequence[Row], judge: str) -> None:
    from rich import box
    from rich.table import Table

    title = f"{name}, {counted(seeds, 'seed')}, means with 95 % confidence intervals"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("flow")
    table.add_column("quantity")
    for head in ("meshpace", judge, "ratio"):
        table.add_column(head, justify="right")
    for row in rows:
        factor, unit = (1e-3, "kbit/s") if row.unit == "bit/s" else (1e3, "ms") if row.unit == "s" else (1.0, "")
        decimals = 3 if row.quantity.startswith("Jain") else 1
        cells = (show(value, (factor, decimals)) for value in (row.engine, row.judge))
        ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
        table.add_row(row.flow or "all", f"{row.quantity} {unit}".strip(), *cells, ratio)
    terminal = console()
    terminal.print(table)
    ratios = [row.ratio for row in rows if row.quantity == "goodput" and row.ratio]
    if ratios:
        terminal.print(f"goodput ratio, geometric mean over the flows: {statistics.geometric_mean(ratios):.3f}")
