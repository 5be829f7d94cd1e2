"""A shaper of hosts (`[hosts]`) between kernels that know nothing of it: who gets what of a mesh of four hops."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from daemon import Daemon
from flood import PAYLOAD, flood
from net import MESHPACED, Delays, Net, client, run, wait_for
from traffic import Bulk

from meshpace.stats import jain_index

MESH = Delays(wired=0.010, mesh=0.002, mesh_model="airtime=900us,rate=11Mbps,hops=4,queue=50", logged=False)
"""A packet of 1,500 bytes takes 8 ms of it, an acknowledgement nearly four: some 1.2 Mbit/s of downloads."""
RATE = 900_000
SECONDS = 10.0


def shaped(flows: str = "paced", more: str = "") -> str:
    """`[hosts]` with hosts that share bytes."""
    return f'[hosts]\nrate = "{RATE}bps"\nby = "bytes"\nflows = "{flows}"\n{more}'


def test_one_download_gets_what_another_host_gets_with_twenty(tmp_path: Path) -> None:
    with Net(tmp_path, MESH, clients=2, room="h") as net, ExitStack() as stack:
        daemon = stack.enter_context(Daemon(net, "pace", more=shaped("free")))
        one = [stack.enter_context(Bulk(net, congestion="cubic"))]
        twenty = [stack.enter_context(Bulk(net, congestion="cubic", host=1)) for _ in range(20)]
        time.sleep(3)  # their windows are found
        before = [[bulk.received for bulk in bulks] for bulks in (one, twenty)]
        time.sleep(SECONDS)
        got = [
            sum(bulk.received for bulk in bulks) - sum(start)
            for bulks, start in zip((one, twenty), before, strict=True)
        ]
        status = daemon.status()
    assert (jain_index(got) or 0.0) >= 0.98, got
    assert sum(got) * 8 / SECONDS > 0.8 * RATE, got
    hosts = {host["host"]: host for host in status["hosts"]["list"]}
    assert set(hosts) == {client(4, 0), client(4, 1)}
    assert hosts[client(4, 1)]["flows"] > 1


def test_a_rate_is_found_by_the_delay_of_the_mesh(tmp_path: Path) -> None:
    more = '[hosts]\nrate = "auto"\nby = "bytes"\nflows = "free"\n'
    with Net(tmp_path, MESH, clients=2, room="h") as net, Daemon(net, "pace", more=more) as daemon:
        with Bulk(net, congestion="cubic") as bulk:
            time.sleep(4)
            before = bulk.received
            time.sleep(4)
            got = (bulk.received - before) * 8 / 4
            status = daemon.status()["hosts"]
            told = run(MESHPACED, "status", "--socket", daemon.socket)
        # Datagrams alone, to another host: neither TCP nor QUIC tells anything.
        with flood(net, 1, 3e6) as flooded:
            time.sleep(4)
            before = flooded[0]
            time.sleep(3)
            datagrams = (flooded[0] - before) * 8 / 3
            by_echoes = daemon.status()["hosts"]
    assert got > 0.8 * RATE, (got, status)
    assert status["found"]["tcp"] > 50, status
    assert not status["found"]["blind"], status
    # The model drops nothing below half a second: without a shaper that is what packets wait.
    assert status["found"]["mesh_wait_s"] < 0.2, status
    assert RATE < status["rate_bps"] < 2 * RATE, status
    assert "found by delay" in told, told
    found = by_echoes["found"]
    assert found["asked"] >= found["probes"] > 15, by_echoes
    assert not found["blind"], by_echoes
    assert found["mesh_wait_s"] < 0.2, by_echoes
    # It was at 200 kbit/s by now if no host had been asked.
    assert datagrams > 0.7 * RATE, (datagrams, by_echoes)


@pytest.mark.parametrize("mode", ["pace", "observe"])
def test_a_download_keeps_its_share_beside_datagrams_that_nobody_holds_back(tmp_path: Path, mode: str) -> None:
    """One of both hosts is paced, its flows by the law `delay-rate`; the other one is only watched."""
    paced = 0 if mode == "pace" else 1
    subnet = f'[[subnet]]\nprefix = "{client(4, paced)}"\nmode = "pace"\n'
    with Net(tmp_path, MESH, clients=2, room="h") as net, ExitStack() as stack:
        more = f'[law]\nflow_law = "delay-rate"\n{shaped(more=subnet)}'
        daemon = stack.enter_context(Daemon(net, "observe", more=more))
        bulk = stack.enter_context(Bulk(net, congestion="cubic"))
        flooded = stack.enter_context(flood(net, 1, 3e6))
        time.sleep(4)
        before = bulk.received, flooded[0]
        time.sleep(SECONDS)
        tcp, udp = (bulk.received - before[0]) * 8 / SECONDS, (flooded[0] - before[1]) * 8 / SECONDS
        status = daemon.status()
    fair = RATE / 2
    # What is told of is payload: 52 of 1,500 bytes are headers, 28 of 1,228.
    assert tcp / (1_448 / 1_500) >= 0.8 * fair, (tcp, udp)
    assert udp / (PAYLOAD / (PAYLOAD + 28)) >= 0.8 * fair, (tcp, udp)
    assert status["hosts"]["dropped"] > 100, "the flood is dropped here"


def test_rules_and_shaper_follow_the_mode(tmp_path: Path) -> None:
    """While nothing is paced, datagrams pass unqueued; from the change on they are shaped, and back again."""
    with Net(tmp_path, MESH, room="h") as net, ExitStack() as stack:
        daemon = stack.enter_context(Daemon(net, "observe", more=shaped("free")))
        flooded = stack.enter_context(flood(net, 0, 300e3))
        wait_for(lambda: flooded[0] > 20_000)
        assert "hosts" not in daemon.status()
        assert daemon.status()["traffic"]["packets"] == 0, "datagrams are not queued"
        assert "done" in daemon.ask("mode", mode="pace")
        wait_for(lambda: daemon.status().get("hosts", {}).get("packets", 0) > 50)
        told = run(MESHPACED, "status", "--socket", daemon.socket)
        assert "hosts      share 900 kbit/s by bytes" in told, told
        assert client(4, 0) in told, told
        assert "done" in daemon.ask("mode", mode="observe")
        wait_for(lambda: "hosts" not in daemon.status())
        moved = flooded[0]
        wait_for(lambda: flooded[0] > moved + 50_000)
        assert daemon.said().count("rules by") == 1, "blocks of a guard would fill the journal"


def test_whatever_waits_goes_on_when_the_daemon_ends(tmp_path: Path) -> None:
    with Net(tmp_path, MESH, room="h") as net, flood(net, 0, 2e6) as flooded:
        daemon = Daemon(net, "pace", more=shaped("free")).start()
        wait_for(lambda: daemon.status()["hosts"]["dropped"] > 20)
        daemon.stop()
        moved = flooded[0]
        wait_for(lambda: flooded[0] > moved + 100_000)
