"""`datapath = "ebpf"` in the running kernel: what it measures, what it refuses, what it leaves behind.

Pacing takes sch_fq, which this kernel may lack: the programs' departure times are tested in crates/daemon (packets in,
departure times out), the pace that sch_fq makes of them in a virtual machine (`make test-vm`).
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from clock import bound
from daemon import Daemon
from edge import Edge
from net import MESHPACED, Delays, Net, run, wait_for
from traffic import Bulk, Transfers

BOTH = [(version, down) for version in (4, 6) for down in (True, False)]
EBPF = 'datapath = "ebpf"'


def filters(net: Net) -> str:
    """The programs that would outlive the daemon: filters. (TCX links, from Linux 6.6 on, go with it.)"""
    sides = (
        run("ip", "netns", "exec", net.gw, "tc", "filter", "show", "dev", "mesh0", side, check=False)
        for side in ("ingress", "egress")
    )
    return "".join(sides)


def has_fq(net: Net) -> bool:
    """Whether the kernel has sch_fq: tried where it does no harm."""
    command = ["ip", "netns", "exec", net.gw, "tc", "qdisc", "add", "dev", "lo", "root", "fq"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_transfers_arrive_unharmed_and_are_measured(tmp_path: Path) -> None:
    with Net(tmp_path, Delays(wired=0.010, mesh=0.020), room="t") as net:
        with Daemon(net, "observe", top=EBPF) as daemon:
            with Bulk(net, down=True) as down, Bulk(net, down=False) as up:
                wait_for(lambda: down.received > 400_000 and up.received > 400_000)
                flow_down, flow_up = (daemon.flow(*bulk.ends.ports) for bulk in (down, up))
            assert len(Transfers(net, BOTH, 200_000).finish()) == 4
            status = daemon.status()
        assert "meshpace_" not in filters(net), "a clean end leaves no program"
    # The relay's delays, and what a busy machine adds to them.
    assert 0.039 < flow_down["wireless_rtt_s"] < 0.040 + bound(0.010, busy=0.020)
    assert flow_down["interval_s"] is not None, "what pacing would do is told"
    assert 0.019 < flow_up["wired_rtt_s"] < 0.020 + bound(0.010, busy=0.040)
    assert status["flows"]["opened"] >= 6  # data in flight behind a RST count as another one
    assert status["traffic"]["held_total"] == 0


def test_where_nothing_keeps_departure_times_packets_go_through_nfqueue(tmp_path: Path) -> None:
    with Net(tmp_path, Delays(mesh=0.020), room="t") as net:
        chosen = has_fq(net)
        if chosen:
            run("ip", "netns", "exec", net.gw, "tc", "qdisc", "replace", "dev", "mesh0", "root", "pfifo")
        with Daemon(net, "pace", top=EBPF) as daemon, Bulk(net) as bulk:
            said = daemon.said()
            assert said.count('datapath = "nfqueue" in place of "ebpf"') == 1
            assert ("pfifo" if chosen else "sch_fq") in said
            assert "mesh0" in said
            assert "meshpace_" not in filters(net)
            wait_for(lambda: daemon.flow(*bulk.ends.ports)["interval_s"] is not None)
            # The file goes on to ask for eBPF: that is no change.
            assert "restart" not in str(daemon.ask("reload"))
            status = daemon.status()
            assert (status["datapath"], status["mode"]) == ("nfqueue", "pace")
            wait_for(lambda: daemon.status()["traffic"]["held_total"] > 0)


def test_a_reload_that_cannot_be_leaves_the_daemon_observing(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="t") as net:
        if has_fq(net):
            pytest.skip("this kernel has sch_fq")
        with Daemon(net, "observe", top=EBPF) as daemon, Bulk(net) as bulk:
            daemon.write("pace")
            assert "sch_fq" in str(daemon.ask("reload"))
            assert daemon.status()["mode"] == "observe"
            assert bulk.goes_on()


def test_a_killed_daemon_harms_no_connection(tmp_path: Path) -> None:
    with Net(tmp_path, room="t") as net, Bulk(net, down=True) as down, Bulk(net, down=False) as up:
        with Daemon(net, "observe", top=EBPF) as daemon:
            wait_for(lambda: len(daemon.flows()) == 2)
            daemon.kill()
        assert down.goes_on()
        assert up.goes_on()
        with Daemon(net, "observe", top=EBPF) as daemon:
            # Soft state: what goes on is known again at its next data.
            wait_for(lambda: len(daemon.flows()) == 2)
        run("ip", "netns", "exec", net.gw, MESHPACED, "undo", "--config", daemon.file)
        assert "meshpace_" not in filters(net)


def listed(net: Net) -> tuple[int, int, bool]:
    """Programs of the gateway and of the edge among the filters of mesh0, and whether it has a clsact."""
    ours = [line for line in filters(net).splitlines() if "meshpace_" in line]
    qdiscs = run("ip", "netns", "exec", net.gw, "tc", "qdisc", "show", "dev", "mesh0")
    edges = sum("meshpace_edge" in line for line in ours)
    return len(ours) - edges, edges, "clsact" in qdiscs


@pytest.fixture
def before_tcx(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on kernels before 6.6: programs are filters of clsact."""
    monkeypatch.setenv("MESHPACED_WITHOUT_TCX", "1")


@pytest.mark.usefixtures("before_tcx")
def test_before_tcx_gateway_and_edge_are_filters_that_go_with_the_last_of_them(tmp_path: Path) -> None:
    with Net(tmp_path, Delays(wired=0.005, mesh=0.005), room="t") as net:
        edge = Edge(net, net.gw, "mesh0", EBPF + "\n")
        with Daemon(net, "observe", top=EBPF) as daemon:
            assert listed(net) == (2, 0, True)
            with edge, Bulk(net, down=False) as up, Bulk(net, down=True):
                assert listed(net) == (2, 1, True)
                wait_for(lambda: edge.status()["thinned"] > 50)
                wait_for(lambda: [flow for flow in daemon.flows() if flow["samples"] > 5])
                edge.stop()
                assert listed(net) == (2, 0, True), "the gateway's stay"
                assert up.goes_on()
                edge.start()
            assert listed(net) == (2, 0, True)
        assert listed(net) == (0, 0, False)


@pytest.mark.usefixtures("before_tcx")
def test_before_tcx_a_killed_edges_program_lets_everything_pass_until_it_is_removed(tmp_path: Path) -> None:
    with Net(tmp_path, Delays(wired=0.005, mesh=0.005), room="t") as net, Bulk(net, down=False) as up:
        edge = Edge(net, net.gw, "mesh0", EBPF + "\n").start()
        wait_for(lambda: edge.status()["thinned"] > 50)
        edge.kill()
        assert listed(net) == (0, 1, True), "it outlives its daemon"
        # Its lease is five seconds; then nobody's acknowledgements are kept.
        time.sleep(5.5)
        assert up.goes_on()
        with edge:
            assert listed(net) == (0, 1, True), "the next one takes its place"
            wait_for(lambda: edge.status()["thinned"] > 50)
            edge.kill()
        assert "eBPF program of the edge on mesh0" in edge.undo()
        assert listed(net) == (0, 0, False)
        assert up.goes_on()
        assert edge.leftovers() == ""
