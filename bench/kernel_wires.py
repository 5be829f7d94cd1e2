"""What thin acknowledgements and calm cost where there is no mesh: this kernel's senders over wires.

    .venv/bin/python bench/kernel_wires.py [--runs K] [--at-once N] [--only RATE]

As root, with the programs of `make setup`. A path is a wire each way between two namespaces (TUN devices, the relay of
crates/linux/src/bin/relay.rs), whose queue is what the path holds, 50 packets at least; and a veth pair, with a token
bucket of 1 Gbit/s each way (sch_tbf) and alone, where nothing is slow but the processor. One flow; goodput and timeouts
of the last 20 s of 30, mean over the runs. Thin: `meshpaced edge` at the receiver.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from calm_kernel import alone, congestion, why_not
from edge import Edge
from net import SERVER, Delays, Net, run

from emulated_flow import PROGRAM, between, told
from meshpace.stats import estimate

WARMUP_S, MEASURED_S = 10, 20
PORT = 5301
PACKET_BITS = 1500 * 8
SENDERS = (("cubic", False), ("cubic", True), ("calm", False), ("calm", True))
RATES = {"100 kbit/s": 1e5, "1 Mbit/s": 1e6, "10 Mbit/s": 1e7, "100 Mbit/s": 1e8, "500 Mbit/s": 5e8}
DELAYS_S = (0.001, 0.02, 0.2)


class Wire(NamedTuple):
    """A wire of a rate, or a veth pair where it has none."""

    name: str
    rate: float | None
    delay_s: float
    bucket: str | None = None
    """Of a veth pair: its token bucket (tc-tbf(8))."""

    def net(self, folder: Path) -> Net:
        if self.rate is None:
            return Net(folder, None)
        queue = max(50, round(2 * self.delay_s * self.rate / PACKET_BITS))
        model = f"rate={self.rate:.0f}bps,ways=2,queue={queue}"
        return Net(folder, Delays(wired=0.0, mesh=self.delay_s, mesh_model=model, logged=False))


class Got(NamedTuple):
    goodput_bps: float
    timeouts: int


PATHS = [
    *(Wire(f"{name}, {delay * 1e3:.0f} ms", rate, delay) for name, rate in RATES.items() for delay in DELAYS_S),
    Wire("veth, 1 Gbit/s", None, 0.0, "rate 1gbit burst 128kb latency 5ms"),
    Wire("veth", None, 0.0),
]


def timeouts(namespace: str) -> int:
    """Of all TCP of a namespace so far (proc(5), /proc/net/netstat)."""
    lines = run("ip", "netns", "exec", namespace, "cat", "/proc/net/netstat").splitlines()
    names, values = (line.split() for line in lines if line.startswith("TcpExt:"))
    return int(values[names.index("TCPTimeouts")])


def transfer(path: Wire, control: str, thin: bool) -> Got:
    with tempfile.TemporaryDirectory(prefix="mp-") as name, path.net(Path(name)) as net, ExitStack() as stack:
        if thin:
            daemon = Edge(net, net.cli, "c0").start()
            stack.callback(daemon.kill)
        if path.bucket:
            for namespace, device in ((net.gw, "mesh0"), (net.gw, "up0")):
                run("ip", "netns", "exec", namespace, *f"tc qdisc add dev {device} root tbf {path.bucket}".split())
        # It tells of whole seconds, and may begin late on a busy machine.
        end = WARMUP_S + MEASURED_S + 5

        def ended(namespace: str, seconds: float, *words: object) -> subprocess.Popen[str]:
            command = ["ip", "netns", "exec", namespace, "timeout", seconds, sys.executable, PROGRAM, *words, control]
            return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)

        ended(net.srv, end, "serve", PORT, "send")
        # Its end is the sender's.
        taker = ended(net.cli, 2 * end, "call", SERVER[4], PORT, "take")
        said, _ = taker.communicate(timeout=2 * end)
        goodput = between(told(said), WARMUP_S, WARMUP_S + MEASURED_S) * 8 / MEASURED_S
        return Got(goodput, timeouts(net.srv))


def cell(all_: list[Got], first: list[Got]) -> str:
    found = estimate([one.goodput_bps / 1e6 for one in all_])
    assert found is not None, "there is a run"
    width = "" if found.half_width is None else f" ± {found.half_width:.3g}"
    share = found.mean / statistics.mean(one.goodput_bps / 1e6 for one in first)
    return f"{found.mean:.4g}{width} ({share:.3f}), {statistics.mean(one.timeouts for one in all_):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--only", help="paths whose names begin so")
    asked = parser.parse_args()
    if why := why_not():
        sys.exit(why)
    paths = [path for path in PATHS if path.name.startswith(asked.only or "")]
    keys = list(itertools.product(paths, SENDERS))
    with alone(), ThreadPoolExecutor(asked.at_once) as pool:
        congestion("load")
        # Run by run, so that a change of the machine's load meets all of them.
        rounds = [list(pool.map(lambda key: transfer(key[0], *key[1]), keys)) for _ in range(asked.runs)]
    found = {key: [one[number] for one in rounds] for number, key in enumerate(keys)}
    print(f"Goodput in Mbit/s (share of the first column's), timeouts; {asked.runs} runs.\n")
    names = [f"{control}, {'thin' if thin else 'its own'}" for control, thin in SENDERS]
    print(f"| path | {' | '.join(names)} |\n|---|{'--:|' * len(names)}")
    for path in paths:
        row = [cell(found[path, sender], found[path, SENDERS[0]]) for sender in SENDERS]
        print(f"| {path.name} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
