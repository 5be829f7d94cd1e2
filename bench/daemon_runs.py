"""Runs of routing daemons on the simulated air: at rest, under a transfer, as a node dies."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from daemon_meshes import FIELD_ENDS, MESHES, field, ring
from emulated_runs import Result, emulate
from meshpace import engine
from meshpace.engine import Job

REST_S = 45
BEFORE_S, TRANSFER_S, LEAVES_OUT_S, AFTER_S = 45, 30, 5, 8
"""Until the transfer begins, its length, what does not count of it, and what it may take to end."""
LOAD_S = BEFORE_S + LEAVES_OUT_S + TRANSFER_S + AFTER_S
OFF_S, OUTAGE_S = 35, 115
"""When the ring's node is switched off, and the whole run."""
PROTOCOLS = {
    "static, ETX": 'protocol = "static"\nmetric = "etx"',
    "AODV": 'protocol = "aodv"',
    "DSDV": 'protocol = "dsdv"',
    "Babel": 'protocol = "babel"',
}
"""Of the simulator."""


class Cell(NamedTuple):
    """What is measured."""

    part: str
    """`rest`, `load`, `many` or `outage`."""
    mesh: str
    routes: str
    """A daemon's, or those of a simulated protocol, over which the kernels of real hosts speak."""

    def name(self, seed: int) -> str:
        return f"{self.part}-{self.mesh}-{self.routes.replace(', ', '-')}-{seed}"


def measured(seconds: int, warmup: int = 0) -> str:
    return f'[measure]\nduration = "{seconds}s"\nwarmup = "{warmup}s"\n'


def scenario(cell: Cell, intervals: Path) -> str:
    if cell.part == "rest":
        return measured(REST_S) + MESHES[cell.mesh].tables
    if cell.part == "outage":
        kind = "host" if cell.routes in PROTOCOLS else "node"
        # It ends where there is no route, and asks again then.
        ping = f"while :; do {shutil.which('ping') or 'busybox ping'} -i 0.1 n2 > /dev/null; sleep 0.1; done"
        ends = f'[[emulate.{kind}]]\nnode = "n0"\nrun = "{ping}"\n[[emulate.{kind}]]\nnode = "n2"\n'
        event = f'[[emulate.event]]\nat = "{OFF_S}s"\nnode = "n1"\nradios = "off"\n'
        routing = f"[routing]\n{PROTOCOLS[cell.routes]}\n" if cell.routes in PROTOCOLS else ""
        return measured(OUTAGE_S, OFF_S - 2) + ring() + ends + event + routing
    if cell.part == "many":
        return measured(LOAD_S) + field() + "".join(transfer(*ends) for ends in FIELD_ENDS)
    here, there = MESHES[cell.mesh].ends
    # What it tells of each second goes into a file besides.
    return measured(LOAD_S) + MESHES[cell.mesh].tables + transfer(here, there, f" | tee {intervals}")


def transfer(here: str, there: str, more: str = "") -> str:
    client = f"iperf3 -J -c {there} -C cubic -t {TRANSFER_S} -O {LEAVES_OUT_S}{more}"
    return (
        f'[[emulate.node]]\nnode = "{there}"\nrun = "iperf3 -s"\n'
        f'[[emulate.node]]\nnode = "{here}"\nrun = "{client}"\nstart = "{BEFORE_S}s"\ncollect = "iperf3"\n'
    )


def emulated(cell: Cell, seed: int) -> Result | str:
    """The result, or why there is none; of a transfer with its seconds, in kbit/s."""
    with tempfile.TemporaryDirectory(prefix="mp-") as name:
        folder = Path(name)
        file, intervals = folder / f"{cell.mesh}.toml", folder / "intervals"
        file.write_text(scenario(cell, intervals))
        words = [] if cell.routes in PROTOCOLS else ["--daemon", cell.routes]
        result = emulate(file, seed, folder.name, *words)
        if cell.part == "load" and not isinstance(result, str):
            told = json.loads(intervals.read_text())["intervals"]
            result["seconds"] = [row["sum"]["bits_per_second"] / 1e3 for row in told if not row["sum"]["omitted"]]
            result["begins_s"] = BEFORE_S + LEAVES_OUT_S
        return result


SIMULATED = """\
[defaults]
segment = 1460
window = 4000
start_jitter = 0
[[flow]]
from = "{here}"
to = "{there}"
app = "ftp"
scheme = "linux-cubic"
start = "{begin}s"
[scheme.linux-cubic]
small_queue = false
"""


def under_protocol(mesh: str, protocol: str, seeds: range) -> list[float]:
    """What the same transfer carries where a simulated protocol makes the routes, in kbit/s."""
    here, there = MESHES[mesh].ends
    length = measured(BEFORE_S + LEAVES_OUT_S + TRANSFER_S, BEFORE_S + LEAVES_OUT_S)
    asks = SIMULATED.format(here=here, there=there, begin=BEFORE_S)
    text = f"{length}{MESHES[mesh].tables}[routing]\n{PROTOCOLS[protocol]}\n{asks}"
    runs = engine.run_many([Job(mesh, text.encode(), seed=seed) for seed in seeds])
    return [run["flows"][0]["goodput_bps"] / 1e3 for run in runs]


class Rest(NamedTuple):
    """What a simulated protocol does where nothing else is sent."""

    first_s: float | None
    """When the first packet came from one end to the other; None: none did."""
    frames: float
    """A second and node, of what routing and address resolution send."""
    airtime: float
    """The share of time that a node's radio is on the air."""


def at_rest(mesh: str, protocol: str, seed: int) -> Rest:
    found = MESHES[mesh]
    text = f"{measured(REST_S)}{found.tables}[routing]\n{PROTOCOLS[protocol]}\n"
    result, film = engine.film(Job(mesh, text.encode(), seed=seed), begin_s=0, length_s=REST_S, frames=1_000_000)
    nodes, frames = len(film["nodes"]), film["frames"]
    count = sum(kind in ("routing", "arp") for kind in frames["kind"])
    airtime = sum(frames["airtime_ns"]) / 1e9
    here, there = found.ends
    asks = f'[[flow]]\nfrom = "{here}"\nto = "{there}"\napp = "cbr"\nrate = "5kbps"\npacket = 64\nstart_jitter = 0\n'
    _, film = engine.film(Job(mesh, (text + asks).encode(), seed=seed), begin_s=0, length_s=REST_S, frames=1_000_000)
    assert result["flows"] == [], "nothing else is sent"
    return Rest(first_arrival(film, there), count / nodes / REST_S, airtime / nodes / REST_S)


def first_arrival(film: engine.RunResult, node: str) -> float | None:
    """When the flow's first data frame for a node was over that was not lost there."""
    frames, lost = film["frames"], set(film["losses"]["frame"])
    to = [one["id"] for one in film["nodes"]].index(node)
    columns = zip(frames["flow"], frames["to"], frames["kind"], frames["start_ns"], frames["airtime_ns"], strict=True)
    for number, (flow, goal, kind, start, airtime) in enumerate(columns):
        if flow is not None and goal == to and kind == "data" and number not in lost:
            return float(start + airtime) / 1e9
    return None
