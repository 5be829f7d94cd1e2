"""What keeping the gateway's pacing queues short costs in goodput, and what it brings in delay.

The TCP-GAP paper's flows from the Internet into the mesh, under the paper's FIFO, under CoDel by each flow's round
trip, the same with windows of each flow's pipe (the live gateway's default), with ECN, and under CoDel with fixed
targets; on paths that are in no figure; and with constant windows. Beside them one CBR flow alone over as many hops,
at a tenth of what one TCP flow gets there alone. The table `shares` tells the mesh's own part of a delay from the
gateway's: by datagrams that no pacing queue holds, beside each flow, one every two seconds. `--output
docs/gateway-waits.md` writes the page's tables.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from meshpace.engine import Job, run_many
from meshpace.results import FlowResult, RunResult
from meshpace.stats import estimate

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = {
    "9": "gap-fig09-chain-down",
    "11": "gap-fig11-parallel-down",
    "12": "gap-fig12-parallel-mix",
    "19": "gap-fig19-cross-down",
    "20": "gap-fig20-cross-mix",
    "21": "gap-fig21-random",
}
TIMES = ("measure.duration=170s", "measure.warmup=20s")
TARGETS_MS = (5, 50, 100, 200, 400)
GAP = "scheme.tcp-gap."


@dataclass(frozen=True)
class FlowSetting:
    """Where flows go."""

    label: str
    scenario: str
    network: tuple[str, ...] = ()


@dataclass(frozen=True)
class Queue:
    """How their packets wait."""

    label: str
    keys: tuple[str, ...]


def short(label: str, *keys: str) -> Queue:
    live = (f"{GAP}gap_queue=codel", f"{GAP}gap_retransmissions=first")
    return Queue(label, (*live, *keys))


def window(segments: int) -> Queue:
    key = f"defaults.window={segments}"
    return Queue(f"FIFO, windows of {segments}", (f"{GAP}gap_queue=fifo", f"{GAP}gap_retransmissions=first", key))


FIGURES = tuple(FlowSetting(f"Fig. {figure}", figure) for figure in SCENARIOS)
OTHERS = (
    FlowSetting("2 hops", "9", ("topology.hops=2",)),
    FlowSetting("8 hops", "9", ("topology.hops=8",)),
    FlowSetting("wired 3 x 5 ms", "9", ("topology.wired_delay=5ms",)),
    FlowSetting("wired 3 x 100 ms", "9", ("topology.wired_delay=100ms",)),
    FlowSetting("mesh of 2 Mbit/s", "9", ("radio.rate=2Mbps",)),
    FlowSetting("two chains, 3 x 5 ms", "11", ("topology.wired_delay=5ms",)),
)
FIFO = Queue("FIFO", (f"{GAP}gap_queue=fifo",))
PIPE = f"{GAP}gap_window=pipe"
CODEL = short("CoDel")
DEFAULT = short("pipe", PIPE)
ECN = short("pipe, ECN", PIPE, f"{GAP}ecn=true")
FIXED = tuple(short(f"{target} ms", f"{GAP}gap_queue_target={target}ms") for target in TARGETS_MS)
# Each with the place whose flows they are for.
TABLES: dict[str, list[tuple[FlowSetting, tuple[Queue, ...]]]] = {
    "figures": [(place, (FIFO, CODEL, DEFAULT, ECN)) for place in FIGURES],
    "targets": [(place, (FIFO, *FIXED)) for place in FIGURES],
    "others": [(place, (FIFO, CODEL, DEFAULT, ECN)) for place in OTHERS],
    "windows": [(place, (FIFO, *map(window, (4, 6, 8, 12)))) for place in FIGURES if place.scenario in ("19", "21")],
}
HEAD = (
    "| flows | gateway | goodput, all flows, kbit/s | over FIFO's | Jain | less FIFO's | median wait, ms "
    "| median delay, ms | over CBR's |"
)


def job(place: FlowSetting, seed: int, *overrides: str) -> Job:
    path = ROOT / "scenarios" / f"{SCENARIOS[place.scenario]}.toml"
    return Job(str(path), path.read_bytes(), (*TIMES, *place.network, *overrides), "tcp-gap", seed)


def down(result: RunResult) -> list[FlowResult]:
    """The flows into the mesh."""
    return [flow for flow in result["flows"] if flow["from"].startswith("B")]


def delays(results: Sequence[RunResult]) -> list[float]:
    return [flow["delay_p50_s"] for result in results for flow in down(result) if flow["delay_p50_s"] is not None]


def cbr_delays(network: tuple[str, ...], hops: set[int], seeds: range) -> dict[int, float]:
    """The median delay over a chain of so many hops of one CBR flow at a tenth of what one TCP flow gets there."""
    order = sorted(hops)
    chain = FlowSetting("chain", "9", tuple(key for key in network if not key.startswith("topology.hops")))

    def each(*overrides: str, of: Sequence[tuple[str, ...]]) -> list[RunResult]:
        keys = [(f"topology.hops={count}", *more) for count, more in zip(order, of, strict=True)]
        return run_many([job(chain, seed, *overrides, *key) for key in keys for seed in seeds], None)

    alone = each(*FIFO.keys, of=[()] * len(order))
    per = len(seeds)
    rates = [
        statistics.mean(r["aggregate_goodput_bps"] for r in alone[i * per : (i + 1) * per]) for i in range(len(order))
    ]
    results = each("flow.0.app=cbr", "flow.0.packet=1460", of=[(f"flow.0.rate={round(rate / 10)}",) for rate in rates])
    return {count: statistics.median(delays(results[i * per : (i + 1) * per])) for i, count in enumerate(order)}


def paired(values: Sequence[float], sign: str) -> str:
    """The mean over seeds, with its 95 % interval."""
    told = estimate(values)
    if told is None:
        return "-"
    return f"{told.mean:{sign}.3f}" + ("" if told.half_width is None else f" ± {told.half_width:.3f}")


def row(
    place: FlowSetting, queue: Queue, results: Sequence[RunResult], fifo: Sequence[RunResult], cbr: dict[int, float]
) -> str:
    goodput = [result["aggregate_goodput_bps"] for result in results]
    reference = statistics.mean(result["aggregate_goodput_bps"] for result in fifo)
    gained = [1 + (a - b["aggregate_goodput_bps"]) / reference for a, b in zip(goodput, fifo, strict=True)]
    jains = [(a["jain"], b["jain"]) for a, b in zip(results, fifo, strict=True)]
    told = [(a, b) for a, b in jains if a is not None and b is not None]
    waits = [g["wait_p50_s"] for result in results for g in result["gateways"] if g["wait_p50_s"] is not None]
    ratios = [
        flow["delay_p50_s"] / cbr[flow["hops"]]
        for result in results
        for flow in down(result)
        if flow["delay_p50_s"] is not None and flow["hops"] in cbr
    ]
    cells = [
        place.label,
        queue.label,
        f"{statistics.mean(goodput) / 1e3:.0f}",
        "1" if queue is FIFO else paired(gained, ""),
        f"{statistics.mean(a for a, _ in told):.3f}",
        "0" if queue is FIFO else paired([a - b for a, b in told], "+"),
        f"{1e3 * statistics.median(waits):.0f}",
        f"{1e3 * statistics.median(delays(results)):.0f}",
        f"{statistics.median(ratios):.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def rows(place: FlowSetting, queues: Sequence[Queue], seeds: range) -> Iterator[str]:
    """A line each queue."""
    flat = run_many([job(place, seed, *queue.keys) for queue in queues for seed in seeds], None)
    per = len(seeds)
    results = [flat[i * per : (i + 1) * per] for i in range(len(queues))]
    hops = {f["hops"] for r in flat for f in down(r) if f["hops"] is not None and 1 <= f["hops"] <= 20}
    cbr = cbr_delays(place.network, hops, range(1, 4))
    for queue, runs in zip(queues, results, strict=True):
        yield row(place, queue, runs, results[0], cbr)


NAMES = [*TABLES, "shares"]
PROBE = {"app": '"cbr"', "rate": '"6kbps"', "packet": "1460"}


def ends(flow: FlowResult, **more: str) -> str:
    keys = {"from": f'"{flow["from"]}"', "to": f'"{flow["to"]}"', **more}
    return "\n[[flow]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def share_row(place: FlowSetting, seeds: range) -> str:
    """The delay of the flows into the mesh beside that of datagrams that go their way at the same time."""
    pairs: list[tuple[FlowResult, FlowResult]] = []
    for alone in run_many([job(place, seed, *DEFAULT.keys) for seed in seeds], None):
        again = job(place, alone["seed"], *DEFAULT.keys)
        # The ends that this seed drew, by name, so that the probes go to the same.
        network = again.text.decode().partition("[[flow]]")[0]
        named = "".join(map(ends, alone["flows"])) + "".join(ends(flow, **PROBE) for flow in down(alone))
        found = down(run_many([again._replace(text=(network + named).encode())], None)[0])
        half = len(found) // 2
        pairs += zip(found[:half], found[half:], strict=True)
    told = [
        (t["delay_p50_s"], p["delay_p50_s"], p["hops"])
        for t, p in pairs
        if t["delay_p50_s"] is not None and p["delay_p50_s"] is not None and p["hops"] is not None
    ]
    cbr = cbr_delays(place.network, {hops for _, _, hops in told}, range(1, 4))
    spacings = [t["pacing_interval_s"] for t, _ in pairs if t["pacing_interval_s"] is not None]
    cells = [
        place.label,
        f"{1e3 * statistics.median(spacings):.0f}",
        f"{1e3 * statistics.median(flow for flow, _, _ in told):.0f}",
        f"{1e3 * statistics.median(probe for _, probe, _ in told):.0f}",
        f"{1e3 * statistics.median(flow - probe for flow, probe, _ in told):.0f}",
        f"{statistics.median(probe / cbr[hops] for _, probe, hops in told):.2f}",
        f"{statistics.median(flow / probe for flow, probe, _ in told):.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


SHARES = (
    "| flows | spacing of the pace, ms | delay, ms | of a datagram beside it, ms | the gateway's part, ms "
    "| datagram over CBR's alone | flow over datagram |"
)


def table(name: str, seeds: range) -> Iterator[str]:
    """The lines of a table, as they come."""
    if name == "shares":
        yield from (SHARES, "|---|---|---|---|---|---|---|")
        yield from (share_row(place, seeds) for place in FIGURES)
        return
    yield from (HEAD, "|---|---|---|---|---|---|---|---|---|")
    for place, queues in TABLES[name]:
        yield from rows(place, queues, seeds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", nargs="*", default=NAMES, choices=NAMES)
    parser.add_argument("--output", type=Path, help="a page between whose markers the tables go")
    arguments = parser.parse_args()
    seeds = range(1, arguments.seeds + 1)
    for name in arguments.tables:
        lines = []
        for line in table(name, seeds):
            print(line, flush=True)
            lines.append(line)
        if arguments.output is not None:
            before, marker, rest = arguments.output.read_text().partition(f"<!-- {name} -->\n")
            _, end, after = rest.partition("<!-- end -->")
            if not marker or not end:
                parser.error(f"{arguments.output}: no place for the table {name}")
            whole = "\n".join(lines)
            arguments.output.write_text(f"{before}{marker}{whole}\n{end}{after}")


if __name__ == "__main__":
    main()
