"""This machine's own TCP through a live gateway that shapes by host, and through one that does not: who gets what.

    .venv/bin/python bench/hosts_live.py shares|use|crowd|quic|line [--runs K] [--seconds S]

The mesh is a model (crates/linux/src/bin/relay.rs): four hops of 802.11b on one channel, which carries 1.0 to
1.3 Mbit/s of downloads, by their acknowledgements. CUBIC, as root, in network namespaces. Payload in kbit/s (median
of the runs), echo in ms (median and 95 % of all): a datagram of 56 bytes, as ping(8) sends, every half second to the
first host and back: a hop takes 0.96 ms for it, so that ten a second would take a twelfth of the air.
`crowd` is of 200 downloads of 20 hosts.
`use` is of a page and a call beside bulk (bench/hosts_use.py), `quic` of downloads over QUIC (bench/hosts_quic.py).
`line` is of veth without a mesh, iperf3's downloads in Mbit/s: what the shaper itself can do. docs/hosts.md has the
tables.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from daemon import Daemon
from flood import flood
from meanwhile import meanwhile
from net import SERVER, Delays, Net, client
from traffic import Bulk

from demo_gateway import missing
from hosts_quic import build, download
from hosts_use import call, page, told
from meshpace.stats import jain_index

MESH = Delays(wired=0.010, mesh=0.002, mesh_model="airtime=900us,rate=11Mbps,hops=4,queue=50", logged=False)
HOSTS = '[hosts]\nrate = "900kbps"\nby = "bytes"\n'
WARM_UP_S = 4.0
CLIENTS = 8
"""Mesh hosts; those behind the second have no traffic of their own."""
ECHO_PORT = 7778
ECHO = 56
"""Bytes, as of ping(8): no longer with headers than an acknowledgement. Ten longer ones a second are a call."""


class Gateway(NamedTuple):
    """A mode and more keys of the daemon's file."""

    label: str
    mode: str
    more: str
    top: str = ""

    def on(self, net: Net) -> AbstractContextManager[object]:
        """The daemon at work."""
        return Daemon(net, self.mode, more=self.more, top=self.top)


class Shaping(Protocol):
    """Whatever stands at the gateway."""

    @property
    def label(self) -> str:
        """What a table calls it."""

    def on(self, net: Net) -> AbstractContextManager[object]:
        """It at work."""


class Late(NamedTuple):
    """How well the relay kept to its time: packets, those more than a millisecond late, and the worst, seconds."""

    packets: int
    late: int
    worst: float


def lateness(net: Net) -> Late:
    """Of a network that is gone."""
    packets = sum(sum(link["packets"]) for link in net.relayed)
    return Late(packets, sum(link["late"] for link in net.relayed), max(link["late_max_s"] for link in net.relayed))


class Shares(NamedTuple):
    """What two hosts got, kbit/s, and round trips of datagrams to the first, seconds."""

    first: float
    second: float
    trips: list[float]
    late: Late

    @property
    def jain(self) -> float:
        """Jain's index of the two."""
        return jain_index([self.first, self.second]) or 0.0


class Used(NamedTuple):
    """Seconds that pages took, and one-way delays of a call by direction."""

    pages: list[float]
    delays: dict[str, list[float]]
    late: list[Late]


def subnet(host: int) -> str:
    """A mesh host that is paced."""
    return f'[[subnet]]\nprefix = "{client(4, host)}"\nmode = "pace"\n'


PLAIN = Gateway("plain", "observe", "")
AUTO = Gateway("hosts, rate auto", "pace", '[hosts]\nrate = "auto"\nby = "bytes"\n')
NOT_SHARED = AUTO._replace(label="hosts, rate auto, uploads free", more=f'{AUTO.more}uploads = "free"\n')
PACED = Gateway("the first paced by TCP-GAP", "observe", subnet(0))
FREE = Gateway("hosts", "pace", HOSTS)
BOTH = Gateway("hosts, the first paced by TCP-GAP", "observe", HOSTS + 'flows = "paced"\n' + subnet(0))


@contextmanager
def echo(net: Net, every: float = 0.5) -> Iterator[list[float]]:
    """Round trips of small datagrams that leave every so often, in seconds."""
    with net.within(net.cli):
        far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with net.within(net.srv):
        near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    far.bind((client(4, 0), ECHO_PORT))
    far.settimeout(0.2)
    near.settimeout(2.0)
    trips: list[float] = []
    over = threading.Event()

    def answer() -> None:
        while not over.is_set():
            try:
                data, whence = far.recvfrom(2_000)
                far.sendto(data, whence)
            except TimeoutError:
                continue

    def ask() -> None:
        while not over.is_set():
            begun = time.monotonic()
            near.sendto(begun.hex().encode().ljust(ECHO), (client(4, 0), ECHO_PORT))
            try:
                while near.recv(2_000).strip() != begun.hex().encode():
                    pass
                trips.append(time.monotonic() - begun)
            except TimeoutError:
                trips.append(2.0)
            over.wait(max(0.0, begun + every - time.monotonic()))

    with far, near, meanwhile(over, answer, ask):
        yield trips


def measure(gateway: Shaping, second: int | None, seconds: float, folder: Path) -> Shares:
    """What the first host gets with one download, and the second with so many or, if `None`, by datagrams."""
    with Net(folder, MESH, clients=CLIENTS, room="b") as net, ExitStack() as stack:
        stack.enter_context(gateway.on(net))
        first = stack.enter_context(Bulk(net, congestion="cubic"))
        bulks = [stack.enter_context(Bulk(net, congestion="cubic", host=1)) for _ in range(second or 0)]
        flooded = stack.enter_context(flood(net, 1, 3e6)) if second is None else [0]

        def others() -> int:
            return sum(bulk.received for bulk in bulks) + flooded[0]

        time.sleep(WARM_UP_S)
        before = first.received, others()
        with echo(net) as trips:
            time.sleep(seconds)
            # Its end waits for an answer that is under way.
            got = (first.received - before[0]) * 8e-3 / seconds, (others() - before[1]) * 8e-3 / seconds
    return Shares(*got, trips, lateness(net))


def carried(rate: str | None, flows: int, seconds: float, folder: Path) -> float:
    """What so many downloads get over veth, Mbit/s: through a gateway that shapes at this rate, or only watches."""
    more = "" if rate is None else f'[hosts]\nrate = "{rate}"\nby = "bytes"\n'
    with Net(folder, None, room="b") as net, Daemon(net, "observe" if rate is None else "pace", more=more):
        words = ["ip", "netns", "exec"]
        server = subprocess.Popen([*words, net.srv, "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        asking = ["iperf3", "-c", SERVER[4], "-R", "-t", str(round(seconds)), "-J", "-C", "cubic", "-P", str(flows)]
        done = subprocess.run([*words, net.cli, *asking], capture_output=True, text=True, check=True)
        server.wait()
    return float(json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]) / 1e6


def line(runs: int, seconds: float) -> None:
    """How fast it is."""
    print("| downloads | only watched | hosts at 1Gbps | hosts at 100Mbps |")
    print("|---|---|---|---|")
    for flows in (1, 20, 100):
        cells = []
        for rate in (None, "1Gbps", "100Mbps"):
            got = []
            for _ in range(runs):
                with tempfile.TemporaryDirectory() as folder:
                    got.append(carried(rate, flows, seconds, Path(folder)))
            cells.append(f"{statistics.median(got):.0f}")
        print(f"| {flows} | {' | '.join(cells)} |", flush=True)


BESIDE = {"nothing": None, "four downloads of another host": 1, "four downloads of the same host": 0}


def used(gateway: Shaping, beside: int | None, runs: int, seconds: float) -> Used:
    """A page and a call of the first host beside four downloads of that host, if any."""
    got = Used([], {"down": [], "up": []}, [])
    for _ in range(runs):
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            net = stack.enter_context(Net(Path(folder), MESH, clients=CLIENTS, room="b"))
            stack.enter_context(gateway.on(net))
            for _ in range(0 if beside is None else 4):
                stack.enter_context(Bulk(net, congestion="cubic", host=beside or 0))
            time.sleep(WARM_UP_S)
            with call(net) as delays:
                time.sleep(seconds)
            for way, of in delays.items():
                got.delays[way] += of
            got.pages.append(page(net))
        got.late.append(lateness(net))
    return got


def use(runs: int, seconds: float) -> None:
    """A page and a call of the first host beside four downloads of another one, or of its own."""
    print("| beside | gateway | page, s | call down: median, ms | 99 % | lost | call up: median, ms | 99 % | lost |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case, host in BESIDE.items():
        for gateway in (PLAIN, FREE, AUTO):
            print(row(case, gateway, used(gateway, host, runs, seconds)), flush=True)


def row(case: str, gateway: Shaping, got: Used) -> str:
    """It as a row of the table."""
    ways = " | ".join(told(of) for of in got.delays.values())
    return f"| {case} | {gateway.label} | {statistics.median(got.pages):.1f} | {ways} |"


def crowd(runs: int, seconds: float) -> None:
    """200 downloads of 20 hosts: for how long hosts, and downloads, get nothing."""
    heads = "gateway|all|least host|Jain of hosts|a host without anything, s|downloads without for 25 s"
    print("| " + " | ".join([*heads.split("|"), "echo, median", "echo, 95 %"]) + " |")
    print("|" + "---|" * 8)
    for gateway in (PLAIN, FREE, AUTO):
        rows: list[tuple[float, ...]] = []
        trips: list[float] = []
        for _ in range(runs):
            with ExitStack() as stack:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                net = stack.enter_context(Net(Path(folder), MESH, clients=20, room="b"))
                stack.enter_context(Daemon(net, gateway.mode, more=gateway.more))
                bulks = [stack.enter_context(Bulk(net, congestion="cubic", host=n % 20)) for n in range(200)]
                time.sleep(WARM_UP_S)
                begun = time.monotonic()
                seen = [(begun, [bulk.received for bulk in bulks])]
                with echo(net) as came:
                    while time.monotonic() < begun + seconds:
                        time.sleep(0.25)
                        seen.append((time.monotonic(), [bulk.received for bulk in bulks]))
                trips += came
            hosts = [[sum(each[n::20]) for _, each in seen] for n in range(20)]
            got = [(of[-1] - of[0]) * 8e-3 / seconds for of in hosts]
            times = [at for at, _ in seen]
            silent = [silence(times, of) for of in zip(*(each for _, each in seen), strict=True)]
            without = sum(time > 25.0 for time in silent)
            rows.append((sum(got), min(got), jain_index(got) or 0.0, max(silence(times, of) for of in hosts), without))
        total, least, jain, host, without = (statistics.median(of) for of in zip(*rows, strict=True))
        trips = sorted(trip * 1e3 for trip in trips)
        cells = [f"{total:.0f}", f"{least:.1f}", f"{jain:.3f}", f"{host:.1f}", f"{without:.0f} of 200"]
        cells += [f"{trips[len(trips) * part // 100]:.0f}" for part in (50, 95)]
        print(f"| {gateway.label} | {' | '.join(cells)} |", flush=True)


def silence(times: list[float], received: Sequence[int]) -> float:
    """For how long nothing came at the longest, seconds."""
    since, most = times[0], 0.0
    for (_, before), (at, now) in pairwise(zip(times, received, strict=True)):
        if now > before:
            since = at
        most = max(most, at - since)
    return most


def quic(runs: int, seconds: float) -> None:
    """A download over QUIC of the first host, alone and beside one over TCP of the second."""
    program = build()
    print("| hosts | gateway | spin bit | first, QUIC | second, TCP | Jain | round trips by TCP, spin bit, echoes |")
    print("|---|---|---|---|---|---|---|")
    deaf = AUTO._replace(label="hosts, rate auto, no echoes", more=AUTO.more + "probes = 0\n")
    for beside, gateways in ((False, (PLAIN, FREE, AUTO, deaf)), (True, (PLAIN, FREE, AUTO))):
        for gateway in gateways:
            for spin in (True, False) if gateway in (AUTO, deaf) else (True,):
                gots: list[tuple[float, float]] = []
                trips: list[str] = []
                for _ in range(runs):
                    with ExitStack() as stack:
                        folder = stack.enter_context(tempfile.TemporaryDirectory())
                        net = stack.enter_context(Net(Path(folder), MESH, clients=2, room="b"))
                        daemon = stack.enter_context(Daemon(net, gateway.mode, more=gateway.more))
                        hosts = [1] if beside else []
                        bulks = [stack.enter_context(Bulk(net, congestion="cubic", host=host)) for host in hosts]
                        with download(net, program, spin, WARM_UP_S, seconds) as fetching:
                            time.sleep(WARM_UP_S)
                            before = [bulk.received for bulk in bulks]
                            time.sleep(seconds)
                            tcp = sum(bulk.received for bulk in bulks) - sum(before)
                            found = daemon.status().get("hosts", {}).get("found")
                            out, _ = fetching.communicate()
                        gots.append((int(out) * 8e-3 / seconds, tcp * 8e-3 / seconds))
                        trips += [f"{found['tcp']}, {found['spin']}, {found['probes']}"] if found else []
                one, two = (statistics.median(of) for of in zip(*gots, strict=True))
                jain = f"{jain_index([one, two]) or 0.0:.3f}" if beside else ""
                cells = [f"{one:.0f}", f"{two:.0f}" if beside else "", jain, "; ".join(trips)]
                hosts_word = "QUIC beside TCP" if beside else "QUIC alone"
                spins = "on" if spin else "off"
                print(f"| {hosts_word} | {gateway.label} | {spins} | {' | '.join(cells)} |", flush=True)


def uploads(k: int, seconds: float) -> None:
    """A download of one host beside uploads of another, at the end of a chain."""
    print("| hops | uploads | gateway | download | uploads | Jain of hosts |")
    print("|---|---|---|---|---|---|")
    for hops, count in ((1, 1), (1, 8), (4, 1), (4, 8)):
        for gateway in (PLAIN, NOT_SHARED, AUTO):
            runs = []
            for _ in range(k):
                with tempfile.TemporaryDirectory() as folder:
                    runs.append(uploaded(gateway, hops, count, seconds, Path(folder)))
            down, up = (statistics.median(gots) for gots in zip(*(run[:2] for run in runs), strict=True))
            jain = f"{jain_index([down, up]) or 0.0:.3f}"
            print(f"| {hops} | {count} | {gateway.label} | {down:.0f} | {up:.0f} | {jain} |", flush=True)


def uploaded(gateway: Shaping, hops: int, count: int, seconds: float, folder: Path) -> Shares:
    """What a host's download and another's uploads get."""
    mesh = dataclasses.replace(MESH, mesh_model=f"airtime=900us,rate=11Mbps,hops={hops},queue=50")
    with Net(folder, mesh, clients=CLIENTS, room="b") as net, ExitStack() as stack:
        stack.enter_context(gateway.on(net))
        bulks = [stack.enter_context(Bulk(net, congestion="cubic", bounded=False))]
        sends = (Bulk(net, congestion="cubic", down=False, host=1, bounded=False) for _ in range(count))
        bulks.extend(stack.enter_context(bulk) for bulk in sends)
        time.sleep(WARM_UP_S)
        before = [bulk.received for bulk in bulks]
        time.sleep(seconds)
        rates = [(bulk.received - b) * 8e-3 / seconds for bulk, b in zip(bulks, before, strict=True)]
    return Shares(rates[0], sum(rates[1:]), [], lateness(net))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["shares", "use", "crowd", "uploads", "quic", "line"])
    parser.add_argument("--runs", type=int, default=5, metavar="K")
    parser.add_argument("--seconds", type=float, default=25.0, metavar="S")
    given = parser.parse_args()
    if os.geteuid() != 0 or missing():
        raise SystemExit("needs root, and what `make setup` builds")
    measures = {"shares": shares, "use": use, "crowd": crowd, "uploads": uploads, "quic": quic, "line": line}
    measures[given.what](given.runs, given.seconds)


def shares(k: int, seconds: float) -> None:
    """Who gets what."""
    cases: dict[str, tuple[int | None, tuple[Gateway, ...]]] = {
        "one download alone": (0, (PLAIN, PACED, FREE, AUTO)),
        "one beside 20 of another host": (20, (PLAIN, PACED, FREE, BOTH, AUTO)),
        "one beside datagrams at 3 Mbit/s": (None, (PLAIN, PACED, FREE, BOTH, AUTO)),
    }
    print("| first and second host | gateway | first | second | Jain of hosts | echo, median | echo, 95 % |")
    print("|---|---|---|---|---|---|---|")
    for case, (second, gateways) in cases.items():
        for gateway in gateways:
            runs = []
            for _ in range(k):
                with tempfile.TemporaryDirectory() as folder:
                    runs.append(measure(gateway, second, seconds, Path(folder)))
            one, two = (statistics.median(gots) for gots in zip(*(run[:2] for run in runs), strict=True))
            jain = jain_index([one, two]) or 0.0
            trips = sorted(trip * 1e3 for run in runs for trip in run.trips)
            middle, late = trips[len(trips) // 2], trips[len(trips) * 95 // 100]
            shares = f"{two:.0f} | {jain:.3f}" if second != 0 else " | "
            print(f"| {case} | {gateway.label} | {one:.0f} | {shares} | {middle:.0f} | {late:.0f} |", flush=True)


if __name__ == "__main__":
    main()
