"""`meshpaced edge` in the running kernel: what it thins, when the newest acknowledgement arrives, what it leaves."""

from __future__ import annotations

import random
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clock import bound
from edge import Edge
from net import CLIENT, SERVER, Delays, Net, Seen, inside, run, wait_for
from test_gateway_hostile import ACK, Raw, silence, tcp
from traffic import Bulk, Open, Transfer, transfer

WAYS = ["ebpf", "nfqueue"]
CHAIN = Delays(wired=0.005, mesh=0.005, mesh_model="airtime=900us,rate=11Mbps,hops=4,queue=600")
"""Four hops of 802.11b whose channel acknowledgements and data share. Nothing is lost: what losses make receivers say
passes."""
SIZE = 1_500_000
TAIL = 0.1
TCP_INFO = 11  # linux/tcp.h


def way(datapath: str) -> str:
    """The line of the configuration."""
    return f'datapath = "{datapath}"\n'


def acknowledgements(seen: list[Seen], source: str) -> list[Seen]:
    """Pure acknowledgements from an address."""
    return [one for one in seen if one.source == source and one.payload == 0 and one.flags == ACK]


def measured(folder: Path, *, down: bool, version: int, datapath: str | None) -> tuple[Transfer, int, float | None]:
    """A transfer over the chain: itself, acknowledgements that went into the mesh, and the share that the edge thinned.

    What goes up is acknowledged by the server, through the gateway; what goes down by the mesh host itself.
    """
    folder.mkdir()
    with Net(folder, CHAIN, room="q") as net:
        where = (net.cli, "c0") if down else (net.gw, "mesh0")
        share = None
        if datapath is None:
            done = transfer(net, version, down, 7, SIZE, congestion="cubic")
        else:
            with Edge(net, *where, way(datapath)) as edge:
                done = transfer(net, version, down, 7, SIZE, congestion="cubic")
                status = edge.status()
                assert status["datapath"] == datapath
                share = status["thinned_share"]
            assert edge.leftovers() == ""
        assert done.intact
        return done, len(acknowledgements(net.log("mesh"), (CLIENT if down else SERVER)[version])), share


@pytest.mark.parametrize("datapath", WAYS)
@pytest.mark.parametrize(("down", "version"), [(False, 4), (True, 6)])
def test_a_transfer_is_no_slower_with_a_fraction_of_its_acknowledgements(
    tmp_path: Path, datapath: str, down: bool, version: int
) -> None:
    plain, all_of_them, _ = measured(tmp_path / "plain", down=down, version=version, datapath=None)
    thin, some, share = measured(tmp_path / "thin", down=down, version=version, datapath=datapath)
    print(f"{plain.seconds:.2f} s, {all_of_them} ACKs; thin {thin.seconds:.2f} s, {some} ACKs, thinned {share:.3f}")
    # A megabyte and a half are 1,036 segments, every second of which Linux acknowledges.
    assert all_of_them > 400
    assert some < all_of_them / 2
    assert share is not None
    assert share > 0.5
    assert thin.seconds < plain.seconds * bound(1.0, busy=1.5)


def idle_acknowledgement(ends: Open, *, down: bool) -> float:
    """Seconds from when everything has arrived until its sender knows that, when nothing comes after it."""
    source, sink = (ends.srv, ends.cli) if down else (ends.cli, ends.srv)
    # Out of slow start: an eighth of what was acknowledged is more than sixteen segments.
    left = 600_000
    sender = threading.Thread(target=source.sendall, args=(bytes(left),))
    sender.start()
    while left:
        left -= len(sink.recv(min(left, 65_536)))
    begun = time.monotonic()
    wait_for(lambda: unacknowledged(source) == 0, step=0.001)
    sender.join()
    return time.monotonic() - begun


def info(end: socket.socket) -> bytes:
    """struct tcp_info."""
    return end.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 104)


def unacknowledged(end: socket.socket) -> int:
    """tcpi_unacked: segments."""
    return int.from_bytes(info(end)[24:28], "little")


def retransmitted(end: socket.socket) -> int:
    """tcpi_total_retrans: segments."""
    return int.from_bytes(info(end)[100:104], "little")


@pytest.mark.parametrize("datapath", WAYS)
@pytest.mark.parametrize("down", [False, True])
def test_the_newest_acknowledgement_arrives_at_its_deadline(tmp_path: Path, datapath: str, down: bool) -> None:
    # A probe for a lost tail (RFC 8985, section 7.2) comes after two round trips, here long after the deadline.
    with Net(tmp_path, Delays(wired=0.040, mesh=0.040), room="q") as net:
        where = (net.cli, "c0") if down else (net.gw, "mesh0")
        # Of a transfer's last ones few pass by what they bring.
        with Edge(net, *where, way(datapath) + "bytes = 1000000\n") as edge:
            for version in (4, 6):
                for _ in range(60):
                    before = edge.counter("sent_later")
                    with Open(net, version) as ends:
                        took = idle_acknowledgement(ends, down=down)
                        again = retransmitted(ends.srv if down else ends.cli)
                    sent = edge.counter("sent_later") - before
                    print(f"IPv{version}: {1000 * took:.1f} ms, {sent} sent later, {again} sent again")
                    # One that brought enough, or that a window update followed, needs no deadline.
                    if took > 0.080 + TAIL / 2:
                        break
                assert sent >= 1
                assert 0.080 + TAIL * 0.9 < took < 0.080 + TAIL + bound(0.020, busy=0.5)
            assert edge.counter("failed") == 0


@pytest.mark.parametrize("datapath", WAYS)
def test_what_a_host_leaves_to_its_interface_is_completed(tmp_path: Path, datapath: str) -> None:
    # On veth this host's own TCP does not write the checksum; a peer drops what has a wrong one.
    with Net(tmp_path, None, room="q") as net, Edge(net, net.cli, "c0", way(datapath)) as edge:
        for version in (4, 6):
            before = edge.counter("sent_later")
            while edge.counter("sent_later") == before:
                with Open(net, version) as ends:
                    idle_acknowledgement(ends, down=True)
        counted = dict(
            line.split()[:2] for line in run("ip", "netns", "exec", net.srv, "nstat", "-asz").splitlines()[1:]
        )
        assert counted["TcpInCsumErrors"] == "0"
        assert int(counted["TcpInSegs"]) > 0


@pytest.mark.parametrize("datapath", WAYS)
def test_a_host_that_thins_its_own_keeps_its_window(tmp_path: Path, datapath: str) -> None:
    with (
        Net(tmp_path, Delays(wired=0.002, mesh=0.002), room="q") as net,
        Edge(net, net.cli, "c0", way(datapath)) as edge,
        Bulk(net, down=True) as bulk,
    ):
        wait_for(lambda: edge.status()["thinned"] > 100)
        window = int.from_bytes(info(bulk.ends.cli)[80:84], "little")
        assert (info(bulk.ends.cli)[1], window) == (0, 10), "open, and the first ten segments: nothing was dropped"


@pytest.mark.parametrize("datapath", WAYS)
def test_a_killed_edge_harms_no_connection_and_undo_leaves_nothing(tmp_path: Path, datapath: str) -> None:
    with Net(tmp_path, Delays(wired=0.005, mesh=0.005), room="q") as net:
        edge = Edge(net, net.gw, "mesh0", way(datapath))
        with edge, Bulk(net, down=False) as up, Bulk(net, version=6, down=False) as other:
            wait_for(lambda: edge.status()["thinned"] > 50)
            edge.kill()
            assert up.goes_on()
            assert other.goes_on()
            assert "socket" in edge.undo()
            assert edge.leftovers() == ""
            assert edge.undo() == "nothing to remove\n"
            # And another one takes over.
            edge.start()
            wait_for(lambda: edge.status()["thinned"] > 50)
        assert edge.leftovers() == ""


@pytest.mark.parametrize("datapath", WAYS)
def test_a_stopped_edge_lets_everything_pass_until_it_goes_on(tmp_path: Path, datapath: str) -> None:
    with (
        Net(tmp_path, Delays(wired=0.005, mesh=0.005), room="q") as net,
        Edge(net, net.gw, "mesh0", way(datapath)) as edge,
        Bulk(net, down=False) as up,
    ):
        wait_for(lambda: edge.status()["thinned"] > 50)
        edge.signal(signal.SIGSTOP)
        begun = time.monotonic()
        time.sleep(5.5)
        assert up.moves(1.0) > 0, "the program's lease is over, or the rules'"
        print(f"after {time.monotonic() - begun:.1f} s")
        edge.signal(signal.SIGCONT)
        before = edge.status()["thinned"]
        wait_for(lambda: edge.status()["thinned"] > before + 50)


def forged(count: int) -> Iterator[bytes]:
    """Acknowledgements of as many connections that nobody has, three of each: the first is noted, the last may wait."""
    draw = random.Random(35)
    for n in range(count):
        source = (f"10.1.{1 + n % 200}.{1 + n // 200 % 200}", 1_024 + n // 40_000)
        number = draw.getrandbits(31)
        for more in (0, 100_000, 100_100):
            yield tcp(source, (CLIENT[4], 5_000), 1, number + more)


def test_a_flood_of_forged_acknowledgements_stalls_nobody(tmp_path: Path) -> None:
    # So few places that a busy machine fills them, too.
    with Net(tmp_path, None, room="q") as net, Edge(net, net.gw, "mesh0", way("ebpf") + "held = 512\n") as edge:
        silence(net.cli)
        with inside(net.gw):
            for switch in ("all", "up0"):
                Path(f"/proc/sys/net/ipv4/conf/{switch}/rp_filter").write_text("0", encoding="utf-8")
        with Bulk(net, down=False) as up, Bulk(net, down=True) as down:
            raw = Raw(net, net.srv)
            begun = time.monotonic()
            for number, packet in enumerate(forged(100_000)):
                raw.send(packet)
                if number % 30_000 == 0:
                    assert up.goes_on()
                    assert down.goes_on()
            print(f"{time.monotonic() - begun:.1f} s: {edge.status()['counters']}")
            counters = edge.status()["counters"]
            assert counters["acknowledgements"] > 100_000
            assert counters["no_place"] + counters["lost_events"] > 0, "not all of them have a place"
            # What waits is sent at its deadline, and gives its place back.
            wait_for(lambda: edge.counter("waiting") < 100)
            assert edge.lives()


def test_undo_finds_nothing_where_nothing_is(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="q") as net:
        edge = Edge(net, net.gw, "mesh0")
        assert edge.undo() == "nothing to remove\n"
        with edge:
            assert "edge by eBPF on mesh0: the kernel takes the program" in edge.said()
            assert run(*edge.words("edge", "--status")).startswith("meshpaced edge ")
        assert edge.leftovers() == ""
