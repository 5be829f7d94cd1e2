#!/usr/bin/env python3
"""The live gateway's benchmark: plain forwarding, the queue alone, observe, pace, ebpf and tbf, in turns in one run.

    bench/run_gateway.py [--rounds N] [--seconds S] [--connections N] [--only ROW ...] [-o FILE]

Needs root. Exit status 0: all rows were measured; 1: a row is missing (the reason is printed and on the page);
2: bad usage.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import document
from gateway.daemon import Accept, Daemon, Lateness, Meshpaced
from gateway.network import Network, run
from gateway.traffic import Connections, Measured, bulk
from process import ToolError

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks-gateway.md"

MESH = '[mesh]\ninterfaces = ["mesh0"]\n'
# Links so fast, and a path so short, that the law asks for little patience: what pacing costs, not what it limits.
FAST = MESH + 'rate = "10Gbps"\n[hops]\ndefault = 1\n[gateway]\ngoodput_control = false\n'
# All that goes into the mesh, by host.
CAPPED = 'mode = "pace"\n' + MESH + '[hosts]\nrate = "1Gbps"\nby = "bytes"\nflows = "free"\n'
# The kernel's own at that rate, and as much at once as the daemon makes up for: a millisecond.
BUCKET = ("tbf", "rate", "1gbit", "burst", "125kb", "latency", "50ms")
# An ordinary mesh: what pacing is for.
SLOW = MESH + 'rate = "11Mbps"\n[hops]\ndefault = 4\n'


# Flows at once in the second table, and at a cap.
SEVERAL, CROWD = 8, 200

T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One way to have packets forwarded."""

    name: str
    label: str
    offloads: bool = True
    config: str | None = None
    """Of meshpaced; None: without it."""
    accept: bool = False
    """The queue with a program that accepts everything."""
    bucket: bool = False
    """A token bucket of the kernel's on the mesh interface."""
    queueing: str = ""
    """Further keys of [nfqueue]."""

    def daemon(self, network: Network, binaries: Binaries, directory: Path) -> Daemon | None:
        """What is to be started, if anything."""
        if self.accept:
            return Accept(network, binaries.accept, directory)
        if self.config is None:
            return None
        return Meshpaced(network, binaries.meshpaced, directory, self.config, self.queueing)


ROWS = (
    Row("plain", "plain forwarding, 64 kB segments"),
    Row("plain-mtu", "plain forwarding, packets of the MTU", offloads=False),
    Row("queue", "NFQUEUE alone, everything accepted", accept=True),
    Row("observe", "observe", config='mode = "observe"\n' + FAST),
    Row("observe-mtu", "observe, packets of the MTU", offloads=False, config='mode = "observe"\n' + FAST),
    Row(
        "observe-all",
        "observe, packets of the MTU, all of them",
        offloads=False,
        config='mode = "observe"\n' + FAST,
        queueing='observed_max = "all"\n',
    ),
    Row("pace", "pace, links of 10 Gbit/s, 1 hop", config='mode = "pace"\n' + FAST),
    # Pacing by eBPF takes sch_fq, which not every kernel has; what it costs a packet is the same program.
    Row("ebpf", "observe by eBPF", config='mode = "observe"\ndatapath = "ebpf"\n' + FAST),
)
CAPS = (
    Row("tbf", "tbf, 64 kB segments", bucket=True),
    Row("tbf-mtu", "tbf, packets of the MTU", offloads=False, bucket=True),
    Row("cap", 'pace, [hosts] rate = "1Gbps"', config=CAPPED),
)
MANY = (
    Row("queue", "NFQUEUE alone, everything accepted", accept=True),
    Row("observe", "observe", config='mode = "observe"\n' + SLOW),
    Row("pace", "pace, 11 Mbit/s, 4 hops", config='mode = "pace"\n' + SLOW),
    Row("ebpf", "observe by eBPF", config='mode = "observe"\ndatapath = "ebpf"\n' + SLOW),
)


@dataclass(frozen=True)
class Binaries:
    """What is measured."""

    meshpaced: Path
    accept: Path


def build(profile: str, built: bool) -> Binaries:
    """Builds of the daemon and of the program that accepts everything, made now unless they are there."""
    common = ("cargo", "build", "--profile", profile, "--quiet", "--manifest-path", ROOT / "Cargo.toml")
    if not built:
        run(*common, "-p", "meshpace-daemon")
        run(*common, "-p", "meshpace-linux", "--example", "nfqueue_accept")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / profile
    return Binaries(target / "meshpaced", target / "examples" / "nfqueue_accept")


@dataclass
class Results:
    """What was measured of a row, a round each."""

    loads: list[float]
    single: list[Measured]
    several: list[Measured]
    lateness: list[Lateness]
    """After all of a round."""


@dataclass(frozen=True)
class Crowd:
    """What was measured with many connections."""

    load: float
    traffic: Measured
    bytes_per_flow: float
    lateness: Lateness | None


def with_daemon(row: Row, binaries: Binaries, body: Callable[[Network, Daemon | None], T]) -> T:
    """Runs `body` in a fresh network with the row's daemon."""
    with tempfile.TemporaryDirectory(prefix="mp-bench-") as directory, Network(row.offloads) as network:
        if row.bucket:
            network.run("gw", "tc", "qdisc", "replace", "dev", "mesh0", "root", *BUCKET)
        daemon = row.daemon(network, binaries, Path(directory))
        with daemon if daemon is not None else nullcontext():
            measured = body(network, daemon)
            if daemon is not None:
                daemon.check()
            return measured


def throughput(
    rows: Sequence[Row], binaries: Binaries, rounds: int, seconds: int, several: int
) -> dict[str, Results | str]:
    """One bulk flow and several, rounds interleaved; what failed is a text."""
    results: dict[str, Results | str] = {row.name: Results([], [], [], []) for row in rows}
    for turn in range(rounds):
        for row in rows:
            found = results[row.name]
            if isinstance(found, str):
                continue

            def both(network: Network, daemon: Daemon | None) -> tuple[Measured, Measured, Lateness | None]:
                measured = bulk(network, daemon, seconds, 1), bulk(network, daemon, seconds, several)
                return *measured, daemon.lateness() if isinstance(daemon, Meshpaced) else None

            try:
                found.loads.append(os.getloadavg()[0])
                single, many, lateness = with_daemon(row, binaries, both)
            except ToolError as problem:
                results[row.name] = missing(row.name, problem)
                continue
            found.single.append(single)
            found.several.append(many)
            found.lateness += [lateness] if lateness is not None and lateness.departures else []
            print(
                f"{turn + 1}/{rounds} {row.label}: {single.megabits:,.0f} and {many.megabits:,.0f} Mbit/s", flush=True
            )
    return results


def missing(name: str, problem: ToolError) -> str:
    """Says what is missing."""
    print(f"MISSING {name}: {problem}", file=sys.stderr, flush=True)
    return str(problem).splitlines()[0]


def crowds(rows: Sequence[Row], binaries: Binaries, number: int, seconds: int) -> dict[str, Crowd | str]:
    """Many connections, each with a burst of three packets every two seconds."""
    results: dict[str, Crowd | str] = {}
    for row in rows:

        def crowd(network: Network, daemon: Daemon | None) -> Crowd:
            assert daemon is not None
            load, before = os.getloadavg()[0], daemon.resident_bytes()
            with Connections(network, number, message_bytes=4000, period_s=2.0) as connections:
                measured = connections.measure(daemon, seconds)
                grown = daemon.resident_bytes() - before
                lateness = daemon.lateness() if isinstance(daemon, Meshpaced) else None
            return Crowd(load, measured, grown / number, lateness)

        try:
            found = results[row.name] = with_daemon(row, binaries, crowd)
            print(f"{number} connections, {row.label}: {found.traffic.packet_rate:,.0f} packets/s", flush=True)
        except ToolError as problem:
            results[row.name] = missing(row.name, problem)
    return results


def spread(values: Sequence[float], form: str = ",.0f") -> str:
    """Median, and the range where there is one."""
    middle = format(statistics.median(values), form)
    return middle if len(values) == 1 else f"{middle} ({format(min(values), form)} to {format(max(values), form)})"


def optional(values: Sequence[float | None], form: str) -> str:
    """As `spread`, a dash where there is no daemon."""
    known = [value for value in values if value is not None]
    return spread(known, form) if known else "–"


def throughput_table(
    rows: Sequence[Row], results: dict[str, Results | str], pick: Callable[[Results], list[Measured]]
) -> str:
    """One table of bulk transfers."""
    lines = [
        "| data path | Mbit/s | of plain, 64 kB | of plain, MTU | packets/s | daemon us/packet | its core, busy "
        "| per 100 Mbit/s | retransmits | load |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    plain = [results.get(name) for name in ("plain", "plain-mtu")]
    for row in rows:
        found = results[row.name]
        if isinstance(found, str):
            lines.append(f"| {row.label} | not measured: {found} | | | | | | | | |")
            continue
        runs = pick(found)
        shares = [one.cpu_share for one in runs]
        per = [None if one.cpu_share is None else one.cpu_share / one.megabits * 100 for one in runs]
        cells = [
            row.label,
            spread([one.megabits for one in runs]),
            *(ratio(runs, pick(by)) if isinstance(by, Results) else "–" for by in plain),
            spread([one.packet_rate for one in runs]),
            optional([one.cpu_us_per_packet for one in runs], ".2f"),
            optional(shares, ".0%"),
            optional(per, ".2%"),
            optional([one.retransmits for one in runs], ",.0f"),
            spread(found.loads, ".1f"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def ratio(runs: Sequence[Measured], plain: Sequence[Measured]) -> str:
    """Of the same rounds' plain forwarding."""
    return spread([one.megabits / by.megabits for one, by in zip(runs, plain, strict=False)], ".2f")


def capped_table(
    rows: Sequence[Row], results: dict[str, Results | str], pick: Callable[[Results], list[Measured]]
) -> str:
    """One table of bulk transfers at a cap."""
    lines = [
        "| data path | Mbit/s | packets/s | processors, busy | daemon's core, busy | late p50 | p99 | most | load |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        found = results[row.name]
        if isinstance(found, str):
            lines.append(f"| {row.label} | not measured: {found} | | | | | | | |")
            continue
        runs, late = pick(found), found.lateness
        times = [[one.p50_s for one in late], [one.p99_s for one in late], [one.max_s for one in late]]
        cells = [
            row.label,
            spread([one.megabits for one in runs]),
            spread([one.packet_rate for one in runs]),
            optional([one.work_share for one in runs], ".2f"),
            optional([one.cpu_share for one in runs], ".0%"),
            *(optional([None if time is None else time * 1e3 for time in of], ".2f") for of in times),
            spread(found.loads, ".1f"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def crowd_table(rows: Sequence[Row], results: dict[str, Crowd | str]) -> str:
    """The table of many connections."""
    lines = [
        "| data path | packets/s | daemon us/packet | its core, busy | memory a flow | departures "
        "| late p50 | p99 | most | load |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        found = results[row.name]
        if isinstance(found, str):
            lines.append(f"| {row.label} | not measured: {found} | | | | | | | | |")
            continue
        late = found.lateness
        times = ["–", "–", "–"]
        if late is not None and late.departures:
            quantiles = (late.p50_s, late.p99_s, late.max_s)
            times = ["–" if value is None else f"{value * 1e3:.2f} ms" for value in quantiles]
        cells = [
            row.label,
            f"{found.traffic.packet_rate:,.0f}",
            optional([found.traffic.cpu_us_per_packet], ".2f"),
            optional([found.traffic.cpu_share], ".0%"),
            f"{found.bytes_per_flow:,.0f} bytes",
            "–" if late is None else f"{late.departures:,}",
            *times,
            f"{found.load:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def undisturbed() -> str:
    """Lets this process and the load that it starts go before what else runs here; says how it is scheduled."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except OSError as problem:
        return f"load with ordinary scheduling ({problem.strerror})"
    return "load under SCHED_RR"


def positive(text: str) -> int:
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def main() -> int:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description="Measure the live gateway.")
    parser.add_argument(
        "--rounds", type=positive, default=3, metavar="N", help="interleaved rounds of bulk transfers (3)"
    )
    parser.add_argument("--seconds", type=positive, default=8, metavar="S", help="length of a measurement (8)")
    parser.add_argument("--connections", type=positive, default=10_000, metavar="N", help="connections at once (10000)")
    parser.add_argument("--profile", default="release", help="cargo's, of the daemon (release)")
    parser.add_argument("--built", action="store_true", help="measure what was built before")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=[row.name for row in (*ROWS, *CAPS)],
        metavar="ROW",
        help="leave the other rows out",
    )
    parser.add_argument(
        "-o", "--output", type=Path, help=f"the page whose blocks are rewritten (full runs: {PAGE.name})"
    )
    options = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("network namespaces and NFQUEUE take root")
    wanted = options.only or [row.name for row in (*ROWS, *CAPS)]
    rows, caps, many = ([row for row in table if row.name in wanted] for table in (ROWS, CAPS, MANY))
    page = options.output or (None if options.only else PAGE)
    try:
        binaries = build(options.profile, options.built)
    except ToolError as problem:
        print(problem, file=sys.stderr)
        return 1
    scheduling = undisturbed()
    load = os.getloadavg()
    results = throughput(rows, binaries, options.rounds, options.seconds, SEVERAL)
    capped = throughput(caps, binaries, options.rounds, options.seconds, CROWD)
    crowd = crowds(many, binaries, options.connections, options.seconds)
    heading = (
        f"{document.machine()}, kernel {os.uname().release.partition('-')[0]}; load average {load[0]:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after, {scheduling}; "
        f"`{' '.join(['bench/run_gateway.py', *sys.argv[1:]])}`: "
        f"{options.rounds} interleaved rounds of {options.seconds} s, median (lowest to highest)."
    )
    text = "\n\n".join(
        (
            heading,
            "One TCP flow:",
            throughput_table(rows, results, lambda found: found.single),
            f"{SEVERAL} TCP flows:",
            throughput_table(rows, results, lambda found: found.several),
            "A cap of 1 Gbit/s, one TCP flow (late: in ms, of both tables' flows):",
            capped_table(caps, capped, lambda found: found.single),
            f"A cap of 1 Gbit/s, {CROWD} TCP flows:",
            capped_table(caps, capped, lambda found: found.several),
            f"{options.connections:,} connections, each with a burst of three data packets every two seconds:",
            crowd_table(many, crowd),
        )
    )
    print(text)
    if page is not None:
        document.update(page, "gateway", text)
    failed = any(isinstance(found, str) for found in (*results.values(), *capped.values(), *crowd.values()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
