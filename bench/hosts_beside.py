"""A gateway that shapes by host beside what the kernel has: tbf, htb with fq_codel, cake, and cake under cake-autorate.

    .venv/bin/python bench/hosts_beside.py shares|use|changing [--runs K] [--seconds S] [--kbps RATE] [--only WORD,...]

`shares` and `use` are bench/hosts_live.py's, over the same model of a mesh. `changing` is of a wire whose rate changes,
and two hosts that always want more. As root, on a kernel that has these disciplines: `VM_CASES=13 make test-vm` runs it
in Debian's. Late is the share of packets that the relay gave out more than a millisecond late, and the worst.
docs/hosts.md has the tables.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from net import Delays, Net, run
from traffic import Bulk, quantile

from autorate import PINGERS, Bounds
from autorate_live import autorate
from hosts_live import AUTO, BESIDE, CLIENTS, FREE, Gateway, Late, Shaping, Shares, echo, lateness, measure, row, used
from meshpace.stats import jain_index

RATE_KBPS = 900
"""What hosts_live.py gives its shaper."""
QUEUE = 50
"""Packets that wait in tbf, as many as in the mesh."""


class Discipline(NamedTuple):
    """The kernel's, on the gateway's mesh interface: commands of tc(8)."""

    label: str
    commands: tuple[str, ...]

    @contextmanager
    def on(self, net: Net) -> Iterator[None]:
        """It at work; it goes with the namespace."""
        for command in self.commands:
            run("ip", "netns", "exec", net.gw, "tc", *command.split())
        yield


class Autorated(NamedTuple):
    """A cake whose rate cake-autorate's rule finds."""

    label: str
    bounds: Bounds

    @contextmanager
    def on(self, net: Net) -> Iterator[None]:
        """It at work."""
        with cake(round(self.bounds.base)).on(net), autorate(net, CLIENTS - PINGERS, self.bounds):
            yield


def tbf(rate: int) -> Discipline:
    """A token bucket that holds a packet, and behind it one queue for all."""
    return Discipline("tbf", (f"qdisc add dev mesh0 root tbf rate {rate}bit burst 1600 limit {1500 * QUEUE}",))


def htb(rate: int) -> Discipline:
    """One class of htb and fq_codel in it.

    Target, interval and burst are those of sqm-scripts for so slow a link (`adapt_target_to_slow_link`,
    `adapt_interval_to_slow_link`, `get_burst`, src/functions.sh of github.com/tohojo/sqm-scripts at 95337de67a35):
    a packet of 1,749 bytes takes the target.
    """
    target = max(5_000, 33 * 53 * 8 * 1_000_000 // rate)
    return Discipline(
        "htb with fq_codel",
        (
            "qdisc add dev mesh0 root handle 1: htb default 1",
            f"class add dev mesh0 parent 1: classid 1:1 htb rate {rate}bit burst 1749 cburst 1749",
            f"qdisc add dev mesh0 parent 1:1 fq_codel target {target}us interval {95_000 + target}us",
        ),
    )


def cake(rate: int) -> Discipline:
    """Hosts first, by destination; what is not said is its default."""
    return Discipline("cake", (f"qdisc add dev mesh0 root cake bandwidth {rate}bit dual-dsthost",))


PLAIN = Discipline("plain", ())


def shapings(kbps: int) -> dict[str, Shaping]:
    """All of them, by word; those that have a given rate have this one."""
    rate = kbps * 1_000
    free = FREE._replace(label="meshpaced, NFQUEUE", more=FREE.more.replace("900kbps", f"{kbps}kbps"))
    return {
        "plain": PLAIN,
        "tbf": tbf(rate),
        "htb": htb(rate),
        "cake": cake(rate),
        "nfqueue": free,
        "ebpf": free._replace(label="meshpaced, eBPF", top='datapath = "ebpf"'),
        "autorate": Autorated("cake under cake-autorate's rule", Bounds(2e5, 9e5, 4e6)),
        "auto": AUTO._replace(label="meshpaced, rate auto"),
        "auto-ebpf": AUTO._replace(label="meshpaced, eBPF, rate auto", top='datapath = "ebpf"'),
    }


CHANGES = ((0, 4), (30, 1), (50, 3))
"""From which second on, Mbit/s."""
BEGIN_S, END_S = 10, 70
WIRE = Delays(
    wired=0.010,
    mesh=0.010,
    mesh_model="airtime=0us,hops=1,ways=2,queue=50,rate=" + "+".join(f"{rate}Mbps@{at}s" for at, rate in CHANGES),
    logged=False,
)
CHANGING_BOUNDS = Bounds(5e5, 1e6, 5e6)
CHANGING: dict[str, Shaping] = {
    "plain": PLAIN,
    "cake": cake(900_000),
    "autorate": Autorated("cake under cake-autorate's rule", CHANGING_BOUNDS),
    "auto": Gateway("meshpaced, rate auto", "pace", AUTO.more + 'rate_min = "500kbps"\nrate_max = "5Mbps"\n'),
}


def kept(late: list[Late]) -> str:
    """How well the relay kept to its time, over runs."""
    packets, behind = sum(of.packets for of in late), sum(of.late for of in late)
    return f"{behind / max(1, packets):.2%}, {max(of.worst for of in late) * 1e3:.1f} ms"


def shared(shaping: Shaping, second: int, runs: int, seconds: float) -> list[Shares]:
    """One download of the first host beside so many of the second."""
    got = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            got.append(measure(shaping, second, seconds, Path(folder)))
    return got


def shares(chosen: dict[str, Shaping], runs: int, seconds: float) -> None:
    """One download alone, and one beside twenty of another host."""
    print("| hosts | gateway | first | second | Jain of hosts | echo, median | echo, 95 % | late |")
    print("|---|---|---|---|---|---|---|---|")
    for case, second in {"one download alone": 0, "one beside 20 of another host": 20}.items():
        for shaping in chosen.values():
            got = shared(shaping, second, runs, seconds)
            trips = [trip * 1e3 for one in got for trip in one.trips]
            one, two = (statistics.median(of) for of in zip(*(one[:2] for one in got), strict=True))
            both = f"{two:.0f} | {statistics.median(one.jain for one in got):.3f}" if second else " | "
            times = f"{statistics.median(trips):.0f} | {quantile(trips, 0.95):.0f} | {kept([one.late for one in got])}"
            print(f"| {case} | {shaping.label} | {one:.0f} | {both} | {times} |", flush=True)


def use(chosen: dict[str, Shaping], runs: int, seconds: float) -> None:
    """A page and a call beside bulk."""
    print("| beside | gateway | page, s | call down, ms | 99 % | lost | call up, ms | 99 % | lost | late |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case, host in BESIDE.items():
        for shaping in chosen.values():
            got = used(shaping, host, runs, seconds)
            print(f"{row(case, shaping, got)} {kept(got.late)} |", flush=True)


class Followed(NamedTuple):
    """The share of what the wire carries that arrived, Jain's index of the hosts, round trips of datagrams in ms."""

    share: float
    jain: float
    trips: list[float]
    late: Late


def follow(shaping: Shaping) -> Followed:
    """Two hosts with two downloads each, over the wire whose rate changes."""
    ends = [at for at, _ in CHANGES[1:]] + [END_S]
    begins = [max(BEGIN_S, at) for at, _ in CHANGES]
    carries = sum(rate * 1e6 * (end - begin) for (_, rate), begin, end in zip(CHANGES, begins, ends, strict=True))
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        net = stack.enter_context(Net(Path(folder), WIRE, clients=CLIENTS, room="b"))
        begun = time.monotonic()
        stack.enter_context(shaping.on(net))
        bulks = [stack.enter_context(Bulk(net, congestion="cubic", host=at % 2)) for at in range(4)]
        time.sleep(max(0.0, begun + BEGIN_S - time.monotonic()))
        before = [bulk.received for bulk in bulks]
        with echo(net, 0.1) as trips:
            time.sleep(max(0.0, begun + END_S - time.monotonic()))
            got = [bulk.received - had for bulk, had in zip(bulks, before, strict=True)]
    jain = jain_index([sum(got[0::2]), sum(got[1::2])]) or 0.0
    return Followed(8 * sum(got) / carries, jain, [trip * 1e3 for trip in trips], lateness(net))


def changing(chosen: dict[str, Shaping], runs: int) -> None:
    """What follows a rate that changes."""
    print("| gateway | goodput, of what the wire carries | Jain of hosts | echo, median | 95 % | 99 % | late |")
    print("|---|---|---|---|---|---|---|")
    for shaping in chosen.values():
        got = [follow(shaping) for _ in range(runs)]
        trips = [trip for one in got for trip in one.trips]
        cells = [
            f"{statistics.median(one.share for one in got):.1%}",
            f"{statistics.median(one.jain for one in got):.3f}",
            *(f"{quantile(trips, part):.0f}" for part in (0.5, 0.95, 0.99)),
            kept([one.late for one in got]),
        ]
        print(f"| {shaping.label} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["shares", "use", "changing"])
    parser.add_argument("--runs", type=int, default=1, metavar="K")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S")
    parser.add_argument("--kbps", type=int, default=RATE_KBPS, metavar="RATE", help="of those that have a given rate")
    parser.add_argument("--only", metavar="WORD,...", help=f"of {', '.join(shapings(RATE_KBPS))}")
    given = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("needs root")
    known = CHANGING if given.what == "changing" else shapings(given.kbps)
    words = given.only.split(",") if given.only else list(known)
    if unknown := set(words) - set(known):
        parser.error(f"--only: found {', '.join(sorted(unknown))}, allowed {', '.join(known)}")
    chosen = {word: known[word] for word in words}
    if given.what == "changing":
        changing(chosen, given.runs)
    else:
        {"shares": shares, "use": use}[given.what](chosen, given.runs, given.seconds)


if __name__ == "__main__":
    main()
