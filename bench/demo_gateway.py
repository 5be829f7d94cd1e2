"""What gateway and edge change, shown without a radio: two downloads into an emulated mesh, with neither, either, both.

Server, gateway and wireless host are network namespaces with this machine's own TCP; between them is the simulator's
mesh by the clock, with its collisions and lost frames (`meshpace emulate`, docs/emulation.md): a chain of four hops of
802.11b with static routes. `meshpaced gateway` on the gateway only observes, or it paces; `meshpaced edge` on the
wireless host, where acknowledgements of downloads enter the mesh, lets one for many segments go, or does not run.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from control import ask
from net import MESHPACED

from emulated_flow import PROGRAM, between, told
from emulated_hosts import gateway, host
from meshpace.emulation.verdict import in_words

HOPS, RATE = 4, "11Mbps"
BEFORE_S, WARM_UP_S, MEASURED_S, AFTER_S = 2, 5, 15, 2
LOOK_S = 0.25
PORTS = (5301, 5302)
SCENARIO = f"""\
[measure]
duration = "{BEFORE_S + WARM_UP_S + MEASURED_S + AFTER_S}s"
warmup = "{BEFORE_S + WARM_UP_S}s"

[topology]
kind = "chain"
hops = {HOPS}

[radio]
rate = "{RATE}"

[routing]
protocol = "static"

[[node]]
id = "server"
role = "wired"

[[link]]
a = "n{HOPS}"
b = "server"
rate = "50Mbps"
delay = "20ms"
"""


@dataclass(frozen=True)
class Kind:
    """One run: the mode of the gateway's daemon, and whether the wireless host has an edge."""

    label: str
    mode: str
    edge: bool


KINDS = (
    Kind("without", "observe", edge=False),
    Kind("gateway paces", "pace", edge=False),
    Kind("edge thins", "observe", edge=True),
    Kind("both", "pace", edge=True),
)


@dataclass(frozen=True)
class Outcome:
    """What one run showed."""

    goodput: list[float]
    rtt: float
    held: float
    waits: list[float]
    result: dict[str, Any]

    @property
    def way(self) -> dict[str, Any]:
        """The packets from the server to the wireless host."""
        found: dict[str, Any] = next(row for row in self.result["traffic"] if row["from"] == "server")
        return found

    @property
    def acks(self) -> int:
        """Pure acknowledgements that the wireless host sent into the mesh."""
        return sum(row["acks"] for row in self.result["traffic"] if row["from"] == "n0" and row["to"] == "server")

    def dropped(self, why: str) -> int:
        return sum(link[why] or 0 for link in self.result["links"])


def scenario(kind: Kind, folder: Path) -> str:
    parts = [SCENARIO, gateway(f"n{HOPS}", MESHPACED, folder, kind.mode, rate=RATE, hops=HOPS)]
    if kind.edge:
        parts.append(host("n0", f"exec {MESHPACED} edge --interface mesh0 --socket {folder / 'edge'}"))
    for port in PORTS:
        ends = {"server": f"serve {port} send reno", "n0": f"call server {port} take reno"}
        for node, words in ends.items():
            parts.append(host(node, f"exec {sys.executable} {PROGRAM} {words}", BEFORE_S))
    return "".join(parts)


def run(kind: Kind, folder: Path) -> Outcome:
    """Two downloads for some seconds."""
    file = folder / "mesh.toml"
    file.write_text(scenario(kind, folder))
    name = f"demo-{os.getpid()}-{KINDS.index(kind)}"
    words = [sys.executable, "-m", "meshpace", "emulate", str(file), "--json", "--name", name]
    output, errors = folder / "result.json", folder / "errors"
    looks: list[list[dict[str, Any]]] = []
    with (
        output.open("wb") as out,
        errors.open("wb") as err,
        subprocess.Popen(words, stdout=out, stderr=err) as process,
    ):
        while process.poll() is None:
            time.sleep(LOOK_S)
            with suppress(OSError, ValueError):  # before it serves, and after
                looks.append(list(ask(folder / "control", "flows")["flows"]["list"]))
    if process.returncode != 0:
        sys.exit(f"demo-gateway: {errors.read_text()}")
    result = json.loads(output.read_text())
    goodput = []
    for port in PORTS:
        (download,) = (row["output"] for row in result["runs"] if f"call server {port} " in row["run"])
        try:
            goodput.append(between(told(download), WARM_UP_S, WARM_UP_S + MEASURED_S) * 8 / MEASURED_S)
        except ValueError as error:
            sys.exit(f"demo-gateway: {error}")
    # Of what was seen while there were flows, the later part.
    looks = [flows for flows in looks if flows]
    flows = looks[len(looks) * WARM_UP_S // (WARM_UP_S + MEASURED_S) :]
    return Outcome(
        goodput=goodput,
        rtt=statistics.median(flow["wireless_rtt_s"] for all_ in flows for flow in all_ if flow["wireless_rtt_s"]),
        held=statistics.mean(sum(flow["queued"] for flow in all_) for all_ in flows),
        waits=[flow["wait_s"] for all_ in flows for flow in all_ if flow["wait_s"] is not None],
        result=result,
    )


def missing() -> str | None:
    """Why the demo cannot run here, if it cannot."""
    if os.geteuid() != 0:
        return "it needs root, for network namespaces and firewall rules: sudo make demo-gateway"
    if shutil.which("ip") is None or not any(shutil.which(tool) for tool in ("nft", "iptables")):
        return "it needs ip and nft or iptables (Debian: iproute2 nftables iptables)"
    if not Path("/dev/net/tun").exists():
        return "it needs /dev/net/tun (modprobe tun)"
    return None if MESHPACED.exists() else f"{MESHPACED} is missing: make setup builds it"


def main() -> int:
    """Runs both and prints the table."""
    if why := missing():
        print(f"demo-gateway: {why}", file=sys.stderr)
        return 1
    print(
        f"Two downloads over {HOPS} hops of 802.11b, emulated, {MEASURED_S} s each after {WARM_UP_S} s, "
        f"{len(KINDS)} times ...",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="meshpace-demo-") as folder:
        outcomes = []
        for number, kind in enumerate(KINDS):
            place = Path(folder) / str(number)
            place.mkdir()
            outcomes.append(run(kind, place))
    rows = [
        ("download 1, Mbit/s", lambda o: f"{o.goodput[0] / 1e6:.2f}"),
        ("download 2, Mbit/s", lambda o: f"{o.goodput[1] / 1e6:.2f}"),
        ("both, Mbit/s", lambda o: f"{sum(o.goodput) / 1e6:.2f}"),
        ("round trip in the mesh, median", lambda o: f"{o.rtt * 1e3:.0f} ms"),
        ("server to wireless host, median", lambda o: f"{o.way['delay_p50_s'] * 1e3:.0f} ms"),
        ("the same, 95 %", lambda o: f"{o.way['delay_p95_s'] * 1e3:.0f} ms"),
        ("acknowledgements into the mesh", lambda o: f"{o.acks}"),
        ("dropped by full queues", lambda o: f"{o.dropped('queue_drops')}"),
        ("given up by the radios", lambda o: f"{o.dropped('retry_drops')}"),
        ("packets held by meshpaced, mean", lambda o: f"{o.held:.0f}"),
        ("their wait there, median", lambda o: f"{statistics.median(o.waits) * 1e3:.0f} ms" if o.waits else "none"),
    ]
    print("\n" + " " * 36 + "".join(f"{kind.label:>15}" for kind in KINDS))
    for name, show in rows:
        print(f"{name:36}" + "".join(f"{show(outcome):>15}" for outcome in outcomes))
    for kind, outcome in zip(KINDS, outcomes, strict=True):
        print(f"\n{kind.label}: " + "\n".join(in_words(outcome.result)))
    print("\nPacing moves the queue from the radios, where every packet of the mesh waits behind it, to the gateway,")
    print("where each flow waits for itself. The edge gives data the air that acknowledgements took. A gateway that")
    print("paces by round trips takes acknowledgements that wait at an edge for queues: docs/edge.md says what to set.")
    print("More kernels, both directions: docs/emulation.md.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
