"""What the gateway changes, shown without a radio: two downloads into a mesh of network namespaces, before and after.

The mesh is a model (crates/linux/examples/relay.rs): a chain of four radios on one channel, which a packet occupies hop
by hop, with an interface queue of 50 packets at the gateway. It has a mesh's queue and its shared air; it has no
collisions and no lost frames, so it cannot show what pacing gains by avoiding those: `make demo` does, with the
simulator's radio. Before, the daemon only observes; after, it paces. Both ends are this machine's own TCP.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from daemon import Daemon
from net import MESHPACED, RELAY, Delays, Net
from traffic import Bulk

# 802.11b at 11 Mbit/s: long preambles, RTS, CTS and ACK at 1 Mbit/s, DIFS, three SIFS and the mean backoff of 15.5
# slots are 1.5 ms a frame (schemes.md 17.2).
MODEL = "airtime=1500us,rate=11Mbps,hops=4,queue=50"
HOPS, RATE = 4, "11Mbps"
WARM_UP, MEASURED = 5.0, 10.0


@dataclass(frozen=True)
class Outcome:
    """What one run showed."""

    goodput: list[float]
    rtt: float
    queueing: float
    queue: int
    dropped: int
    held: float
    wait: float | None


def run(mode: str, folder: Path) -> Outcome:
    """Two downloads for some seconds under a mode of the daemon."""
    with (
        Net(folder, Delays(wired=0.020, mesh=0.0, mesh_model=MODEL), room="demo") as net,
        Daemon(net, mode, hops=HOPS, rate=RATE) as daemon,
        Bulk(net) as one,
        Bulk(net) as two,
    ):
        time.sleep(WARM_UP)
        before = [bulk.received for bulk in (one, two)]
        started = time.monotonic()
        rtts, held, waits = [], [], []
        while time.monotonic() < started + MEASURED:
            time.sleep(0.25)
            flows = daemon.flows()
            rtts += [flow["wireless_rtt_s"] for flow in flows if flow["wireless_rtt_s"] is not None]
            held.append(sum(flow["queued"] for flow in flows))
            waits += [flow["wait_s"] for flow in flows if flow["wait_s"] is not None]
        seconds = time.monotonic() - started
        # Before the end: what the daemon holds would leave all at once.
        net.stop_relay()
        mesh = net.relayed[1]
        goodput = [(bulk.received - then) * 8 / seconds for bulk, then in zip((one, two), before, strict=True)]
    return Outcome(
        goodput=goodput,
        rtt=statistics.median(rtts),
        queueing=mesh["queueing_mean_s"][0],
        queue=mesh["queue_max"][0],
        dropped=mesh["dropped"][0],
        held=statistics.mean(held),
        wait=statistics.median(waits) if waits else None,
    )


def missing() -> str | None:
    """Why the demo cannot run here, if it cannot."""
    if os.geteuid() != 0:
        return "it needs root, for network namespaces and firewall rules: sudo make demo-gateway"
    tools = [tool for tool in ("ip", "sysctl") if shutil.which(tool) is None]
    if tools or not any(shutil.which(tool) for tool in ("nft", "iptables")):
        return "it needs ip, sysctl and nft or iptables (Debian: iproute2 procps nftables iptables)"
    if not Path("/dev/net/tun").exists():
        return "it needs /dev/net/tun (modprobe tun)"
    absent = [str(binary) for binary in (MESHPACED, RELAY) if not binary.exists()]
    return f"{absent[0]} is missing: make setup builds it" if absent else None


def main() -> int:
    """Runs both and prints the table."""
    if why := missing():
        print(f"demo-gateway: {why}", file=sys.stderr)
        return 1
    print(f"Two downloads over four hops of 802.11b (a model, see {Path(__file__).name}), {MEASURED:.0f} s each ...")
    with tempfile.TemporaryDirectory(prefix="meshpace-demo-") as folder:
        outcomes = []
        for mode in ("observe", "pace"):
            place = Path(folder) / mode
            place.mkdir()
            outcomes.append(run(mode, place))
    rows = [
        ("download 1, Mbit/s", lambda o: f"{o.goodput[0] / 1e6:.2f}"),
        ("download 2, Mbit/s", lambda o: f"{o.goodput[1] / 1e6:.2f}"),
        ("both, Mbit/s", lambda o: f"{sum(o.goodput) / 1e6:.2f}"),
        ("round trip in the mesh, median", lambda o: f"{o.rtt * 1e3:.0f} ms"),
        ("wait at the gateway's radio, mean", lambda o: f"{o.queueing * 1e3:.0f} ms"),
        ("longest queue there, packets of 50", lambda o: f"{o.queue}"),
        ("packets dropped there", lambda o: f"{o.dropped}"),
        ("packets held by meshpaced, mean", lambda o: f"{o.held:.0f}"),
        ("their wait at meshpaced, median", lambda o: "none" if o.wait is None else f"{o.wait * 1e3:.0f} ms"),
    ]
    print(f"\n{'':36}{'before (observe)':>18}{'after (pace)':>16}")
    for name, show in rows:
        print(f"{name:36}{show(outcomes[0]):>18}{show(outcomes[1]):>16}")
    print("\nPacing moves the queue from the radio, where every packet of the mesh waits behind it, to the gateway,")
    print("where each flow waits for itself. The model has no collisions: their part is in `make demo`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
