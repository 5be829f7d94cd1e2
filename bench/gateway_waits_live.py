"""The curve of goodput against wait on this machine's own TCP: downloads through a live gateway, whose pacing queues
are the paper's FIFO, CoDel by each flow's round trip, the same with windows of each flow's pipe (the default), with
ECN, and CoDel with fixed targets.

The mesh is a model (crates/linux/src/bin/relay.rs): four hops of 802.11b on one channel that a packet occupies hop by
hop, without collisions or losses. The wired part has 120 ms each way as in the TCP-GAP paper. Runs as root, in network
namespaces; prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from daemon import Daemon
from net import RELAY, Delays, Net, run
from traffic import Bulk

from demo_gateway import HOPS, RATE, missing
from meshpace.stats import jain_index

# 802.11b at 11 Mbit/s: long preambles, RTS, CTS and ACK at 1 Mbit/s, DIFS, three SIFS and the mean backoff of 15.5
# slots are 1.5 ms a frame (schemes.md 17.2).
MODEL = f"airtime=1500us,rate={RATE},hops={HOPS},queue=50"
WIRED_S = 0.120
WARM_UP_S = 15.0
LOOK_S = 0.1


@dataclass(frozen=True)
class Queue:
    """One row: the gateway's keys, and whether the ends ask for ECN (net.ipv4.tcp_ecn)."""

    label: str
    keys: str
    ecn: bool = False


RECEIVER = 'gap_window = "receiver"'
QUEUES = (
    Queue("FIFO", f'{RECEIVER}\ngap_queue = "fifo"\ngap_retransmissions = "in-turn"'),
    Queue("CoDel", RECEIVER),
    Queue("CoDel, ECN", RECEIVER, ecn=True),
    Queue("pipe", ""),
    Queue("pipe, ECN", "", ecn=True),
    *(Queue(f"{ms} ms", f'{RECEIVER}\ngap_queue_target = "{ms}ms"') for ms in (5, 50, 100, 200, 400)),
)


def measure(queue: Queue, flows: int, congestion: str, seconds: float, folder: Path) -> str:
    """The row of one queue."""
    with (
        Net(folder, Delays(wired=WIRED_S, mesh=0.0, mesh_model=MODEL), room="wait") as net,
        Daemon(net, "pace", hops=HOPS, rate=RATE, more=f"[gateway]\n{queue.keys}\n") as daemon,
        ExitStack() as stack,
    ):
        for name in (net.srv, net.cli):
            run("ip", "netns", "exec", name, "sysctl", "-qw", f"net.ipv4.tcp_ecn={int(queue.ecn)}")
        bulks = [stack.enter_context(Bulk(net, congestion=congestion, bounded=False)) for _ in range(flows)]
        time.sleep(WARM_UP_S)
        before, started = [bulk.received for bulk in bulks], time.monotonic()
        waits, trips = [], []
        while time.monotonic() < started + seconds:
            time.sleep(LOOK_S)
            for flow in daemon.flows():
                waits += [flow["wait_s"]] if flow["wait_s"] is not None else []
                trips += [flow["wireless_rtt_s"]] if flow["wireless_rtt_s"] is not None else []
        lasted = time.monotonic() - started
        goodput = [(bulk.received - then) * 8 / lasted for bulk, then in zip(bulks, before, strict=True)]
        told = daemon.status()["wait"]
        net.stop_relay()  # or all that is held would leave at once
    cells = [
        queue.label,
        f"{sum(goodput) / 1e3:.0f}",
        f"{jain_index(goodput) or 0.0:.3f}",
        f"{1e3 * statistics.median(waits):.0f}",
        f"{1e3 * statistics.quantiles(waits, n=20)[-1]:.0f}",
        f"{1e3 * statistics.median(trips):.0f}",
        f"{told['aqm_drops']}",
        f"{told['aqm_marks']}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flows", type=int, default=2)
    parser.add_argument("--congestion", default="reno", help="the senders' congestion control")
    parser.add_argument("--seconds", type=float, default=40.0)
    labels = [queue.label for queue in QUEUES]
    parser.add_argument("--rows", nargs="*", default=labels, choices=labels)
    arguments = parser.parse_args()
    if why := missing() or (None if RELAY.exists() else f"{RELAY} is missing: make setup builds it"):
        print(f"{Path(__file__).name}: {why}", file=sys.stderr)
        return 1
    if os.cpu_count() is not None and os.getloadavg()[0] > 2 * (os.cpu_count() or 1):
        print(f"note: the machine is busy (load {os.getloadavg()[0]:.1f})", file=sys.stderr)
    print("| gateway | goodput, kbit/s | Jain | median wait, ms | 95 % | wireless round trip, ms | dropped | marked |")
    print("|---|---|---|---|---|---|---|---|")
    for queue in (queue for queue in QUEUES if queue.label in arguments.rows):
        with tempfile.TemporaryDirectory(prefix="meshpace-wait-") as folder:
            row = measure(queue, arguments.flows, arguments.congestion, arguments.seconds, Path(folder))
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
