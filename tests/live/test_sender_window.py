"""What wired senders are told they may have on their way (`gap_window = "pipe"`), with kernels' TCP at both ends."""

from __future__ import annotations

import socket
import time
from itertools import pairwise
from pathlib import Path

import pytest
from clock import PATIENCE_S
from daemon import Daemon
from net import SERVER, Delays, Net, Seen, wait_for
from traffic import Bulk

SYN, RST = 0x02, 0x04
# 60 ms each way in the wired part and 10 in the mesh; at this rate a download's pace is some 25 ms.
DELAYS = Delays(wired=0.060, mesh=0.010)
RATE = "11Mbps"
SEGMENT = 1460


def scale_of(syn: Seen) -> int:
    """The window scale that a SYN offers (RFC 7323, section 2.2)."""
    at = 0
    while syn.options[at] != 3:
        at += 1 if syn.options[at] == 1 else syn.options[at + 1]
    return syn.options[at + 2]


def take(end: socket.socket, size: int) -> None:
    """Reads so much."""
    while size > 0:
        part = end.recv(size)
        assert part, "it closed"
        size -= len(part)


@pytest.mark.parametrize("version", [4, 6])
def test_a_download_is_told_what_its_pace_can_use_and_hardly_waits(tmp_path: Path, version: int) -> None:
    with Net(tmp_path, DELAYS, room="v") as net:
        with Daemon(net, "pace", rate=RATE) as daemon, Bulk(net, version) as bulk:
            server, client = bulk.ends.ports

            def pipe() -> float:
                flow = daemon.flow(client)
                trip = 2 * DELAYS.wired + (flow["wireless_rtt_s"] or 0.0)
                return float(trip / flow["interval_s"]) if flow["interval_s"] else 0.0

            def limited() -> bool:
                window = daemon.flow(client)["window_bytes"]
                return window is not None and window <= SEGMENT * (1.5 * pipe() + 3)

            wait_for(limited)
            before = bulk.received
            time.sleep(5.0)
            assert bulk.received - before > 20 * SEGMENT, "it goes on"
            wait_for(limited)
            status = daemon.status()
            assert status["traffic"]["failed"] == 0
            assert status["wait"]["windows_lowered"] > 20
        log = [seen for seen in net.log("wired") if (seen.sport, seen.dport) == (client, server)]
    scale = scale_of(next(seen for seen in log if seen.flags & SYN))
    passed = [seen for seen in log if not seen.flags & (SYN | RST)]
    # From the first on, modulo 2**32.
    edges = [(seen.ack - passed[0].ack + (seen.window << scale)) % 2**32 for seen in passed]
    # But by less than a unit, where an acknowledgement is of less than that (RFC 7323, section 2.4).
    unit = 1 << scale
    assert all(earlier < later + unit for earlier, later in pairwise(edges)), "what was told is taken back"
    # The last ones may have passed after the daemon's end.
    assert min(seen.window << scale for seen in passed) <= SEGMENT * 16, "two round trips' worth of pace are less"


def test_who_has_said_little_is_told_a_window_for_full_segments(tmp_path: Path) -> None:
    """Else the first full one after a talk waits for the sender's persist timer, of 200 ms and more, several times."""
    with Net(tmp_path, Delays(wired=0.010, mesh=0.005), room="v") as net, Daemon(net, "pace", rate="2Mbps") as daemon:
        with net.listen(net.srv) as door:
            cli = net.socket(net.cli)
            cli.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)  # what it tells at first is soon used up
            cli.connect((SERVER[4], door.getsockname()[1]))
            srv, _ = door.accept()
        with cli, srv:
            srv.settimeout(PATIENCE_S)
            for end in (cli, srv):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(160):
                cli.sendall(bytes(20))
                take(srv, 20)
                srv.sendall(bytes(200))
                take(cli, 200)
            told = daemon.flow(cli.getsockname()[1])["window_bytes"]
            assert told is not None, "it is told less than its receiver's window"
            assert told >= 2 * 1448
            srv.sendall(bytes(2 * 1448))
            take(cli, 2 * 1448)


def test_receivers_windows_pass_where_that_is_asked_for(tmp_path: Path) -> None:
    more = '[gateway]\ngap_window = "receiver"\n'
    with Net(tmp_path, DELAYS, room="v") as net, Daemon(net, "pace", rate=RATE, more=more) as daemon, Bulk(net):
        wait_for(lambda: daemon.status()["wait"]["packets"] > 100)
        assert daemon.status()["wait"]["windows_lowered"] == 0
        assert [flow["window_bytes"] for flow in daemon.flows()] == [None]
