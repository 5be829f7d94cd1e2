"""Gateway and edge together on a router with little memory: what both have resident under eight flows."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from background import Background
from daemon import Daemon
from edge import Edge
from net import MESHPACED, ROOT, Delays, Net, wait_for
from traffic import Bulk

STATIC = ROOT / "target" / "static" / "meshpaced"
MOST = 16_000_000
# Of any build: what it has beside its own program and libraries.
OWN = 6_000_000
# As on OpenWrt: a kernel that describes its types has them read while a program is loaded.
WITHOUT_TYPES = ["sh", "-c", 'test ! -e /sys/kernel/btf || mount -t tmpfs none /sys/kernel/btf; exec "$@"', "sh"]


def memory(daemon: Background) -> dict[str, int]:
    """Bytes of a process: resident, the most that was, and what is of no file (proc_pid_status(5))."""
    assert daemon.process is not None
    lines = Path(f"/proc/{daemon.process.pid}/status").read_text(encoding="utf-8").splitlines()
    told = dict(line.split(":", 1) for line in lines)
    return {name: int(told[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM", "RssAnon")}


@pytest.mark.parametrize("datapath", ["ebpf", "nfqueue"])
@pytest.mark.parametrize("program", [MESHPACED, STATIC], ids=["built", "static"])
def test_gateway_and_edge_take_16_mb_under_eight_flows(tmp_path: Path, program: Path, datapath: str) -> None:
    if not program.exists():
        pytest.skip("needs make static")
    with Net(tmp_path, Delays(wired=0.010, mesh=0.020), room="v") as net:
        gateway = Daemon(net, "pace", program=program)
        edge = Edge(net, net.gw, "mesh0", f'datapath = "{datapath}"\n')
        edge.program = program
        gateway.under = edge.under = WITHOUT_TYPES
        with gateway, edge, ExitStack() as stack:
            ways = [(version, down) for version in (4, 6) for down in (True, False)] * 2
            flows = [stack.enter_context(Bulk(net, version, down=down)) for version, down in ways]
            wait_for(lambda: all(flow.received > 500_000 for flow in flows))
            assert edge.status()["thinned"] > 100
            assert len(gateway.flows()) == len(flows)
            of = {"gateway": memory(gateway), "edge": memory(edge)}
            print(f"{program.parent.name}, edge by {datapath}, bytes: {of}")
            assert sum(one["RssAnon"] for one in of.values()) < OWN
            if program == STATIC:
                assert sum(one["VmHWM"] for one in of.values()) < MOST
