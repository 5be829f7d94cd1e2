"""What a target for the wait in the gateway's pacing queues costs in goodput, and what it brings in delay.

The TCP-GAP paper's flows from the Internet into the mesh, under the paper's FIFO and under CoDel with several targets;
beside them one CBR flow alone over as many hops, at a tenth of what one TCP flow gets there alone.
`--output docs/gateway-waits.md` writes the page's table.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from meshpace.engine import Job, run_many
from meshpace.results import FlowResult, RunResult

ROOT = Path(__file__).resolve().parent.parent
FIGURES = {
    "9": "gap-fig09-chain-down",
    "11": "gap-fig11-parallel-down",
    "12": "gap-fig12-parallel-mix",
    "19": "gap-fig19-cross-down",
    "20": "gap-fig20-cross-mix",
    "21": "gap-fig21-random",
}
TIMES = ("measure.duration=170s", "measure.warmup=20s")
TARGETS_MS = (5, 50, 100, 160, 240)


def job(figure: str, seed: int, *overrides: str) -> Job:
    path = ROOT / "scenarios" / f"{FIGURES[figure]}.toml"
    return Job(str(path), path.read_bytes(), (*TIMES, *overrides), "tcp-gap", seed)


def queue(target_ms: int | None) -> tuple[str, ...]:
    if target_ms is None:
        return ("scheme.tcp-gap.gap_queue=fifo",)
    parameters = (f"target={target_ms}ms", f"interval={max(100, 2 * target_ms)}ms")
    return ("scheme.tcp-gap.gap_queue=codel", *(f"scheme.tcp-gap.gap_queue_{item}" for item in parameters))


def down(result: RunResult) -> list[FlowResult]:
    """The flows into the mesh."""
    return [flow for flow in result["flows"] if flow["from"].startswith("B")]


def delays(results: Sequence[RunResult]) -> list[float]:
    return [flow["delay_p50_s"] for result in results for flow in down(result) if flow["delay_p50_s"] is not None]


def cbr_delays(hops: set[int], seeds: range) -> dict[int, float]:
    """The median delay over a chain of so many hops of one CBR flow at a tenth of what one TCP flow gets there."""
    order = sorted(hops)

    def chain(*overrides: str, each: Sequence[tuple[str, ...]]) -> list[RunResult]:
        keys = [(f"topology.hops={count}", *more) for count, more in zip(order, each, strict=True)]
        return run_many([job("9", seed, *overrides, *key) for key in keys for seed in seeds], None)

    alone = chain("scheme.tcp-gap.gap_queue=fifo", each=[()] * len(order))
    per = len(seeds)
    rates = [
        statistics.mean(r["aggregate_goodput_bps"] for r in alone[i * per : (i + 1) * per]) for i in range(len(order))
    ]
    cbr = [(f"flow.0.rate={round(rate / 10)}",) for rate in rates]
    results = chain("flow.0.app=cbr", "flow.0.packet=1460", each=cbr)
    return {count: statistics.median(delays(results[i * per : (i + 1) * per])) for i, count in enumerate(order)}


def row(
    figure: str, target: int | None, results: Sequence[RunResult], fifo: Sequence[RunResult], cbr: dict[int, float]
) -> str:
    def goodput(of: Sequence[RunResult]) -> float:
        return statistics.mean(result["aggregate_goodput_bps"] for result in of)

    def jain(of: Sequence[RunResult]) -> float:
        return statistics.mean(jain for result in of if (jain := result["jain"]) is not None)

    waits = [g["wait_p50_s"] for result in results for g in result["gateways"] if g["wait_p50_s"] is not None]
    ratios = [
        flow["delay_p50_s"] / cbr[flow["hops"]]
        for result in results
        for flow in down(result)
        if flow["delay_p50_s"] is not None and flow["hops"] in cbr
    ]
    cells = [
        figure,
        "FIFO" if target is None else f"{target} ms",
        f"{goodput(results) / 1e3:.0f}",
        f"{goodput(results) / goodput(fifo):.3f}",
        f"{jain(results):.3f}",
        f"{jain(results) - jain(fifo):+.3f}",
        f"{1e3 * statistics.median(waits):.0f}",
        f"{1e3 * statistics.median(delays(results)):.0f}",
        f"{statistics.median(ratios):.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--figures", nargs="*", default=list(FIGURES), choices=list(FIGURES))
    parser.add_argument("--output", type=Path, help="a page between whose markers the table goes")
    arguments = parser.parse_args()
    seeds = range(1, arguments.seeds + 1)
    places = [(figure, target) for figure in arguments.figures for target in (None, *TARGETS_MS)]
    flat = run_many([job(figure, seed, *queue(target)) for figure, target in places for seed in seeds], None)
    per = len(seeds)
    results = {place: flat[i * per : (i + 1) * per] for i, place in enumerate(places)}
    hops = {f["hops"] for r in flat for f in down(r) if f["hops"] is not None and 1 <= f["hops"] <= 20}
    cbr = cbr_delays(hops, seeds)
    head = (
        "| Fig. | target | goodput, all flows, kbit/s | over FIFO's | Jain | less FIFO's | median wait, ms "
        "| median delay, ms | over CBR's |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|---|"]
    lines += [row(*place, results[place], results[place[0], None], cbr) for place in places]
    table = "\n".join(lines)
    if arguments.output is None:
        print(table)
        return
    before, _, rest = arguments.output.read_text().partition("<!-- table -->\n")
    _, _, after = rest.partition("<!-- end -->")
    arguments.output.write_text(f"{before}<!-- table -->\n{table}\n<!-- end -->{after}")


if __name__ == "__main__":
    main()
