"""A hostile network on either side: bounded memory, no crash, and no harm to the flow beside it."""

from __future__ import annotations

import random
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from clock import bound
from daemon import Daemon
from net import CLIENT, SERVER, Net, run, wait_for
from traffic import Bulk, Open, Transfers

LIMITS = "[gateway]\ngap_flows_max = 1000\ngap_segments_total = 20000\n"
SYN, ACK, RST = 2, 16, 4
RTT_OPTION = b"\xfd\x06\x4d\x50\x00\x01\x01\x01"


@pytest.fixture
def daemon(net: Net) -> Iterator[Daemon]:
    with Daemon(net, "pace", rate="54Mbps", more=LIMITS) as made:
        yield made


class Raw:
    """Sends whole IPv4 packets out of a namespace."""

    def __init__(self, net: Net, namespace: str) -> None:
        with net.within(namespace):
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self._socket.setblocking(True)

    def send(self, packet: bytes) -> None:
        """The packet to its destination; a full device loses it."""
        destination = socket.inet_ntoa(packet[16:20])
        with suppress(OSError):
            self._socket.sendto(packet, (destination, 0))


def checksum(data: bytes) -> int:
    """RFC 1071."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tcp(
    source: tuple[str, int],
    destination: tuple[str, int],
    seq: int,
    ack: int,
    flags: int = ACK,
    options: bytes = b"",
    payload: bytes = b"",
    window: int = 500,
) -> bytes:
    """A whole IPv4 packet with right checksums."""
    ends = socket.inet_aton(source[0]) + socket.inet_aton(destination[0])
    offset = (20 + len(options)) // 4 << 4
    head = struct.pack("!HHIIBBHHH", source[1], destination[1], seq % 2**32, ack % 2**32, offset, flags, window, 0, 0)
    segment = head + options + payload
    total = checksum(ends + struct.pack("!HH", 6, len(segment)) + segment)
    segment = segment[:16] + struct.pack("!H", total) + segment[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, 6, 0) + ends
    return ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + segment


def memory(daemon: Daemon) -> int:
    """The daemon's resident bytes."""
    pid = daemon.status()["pid"]
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def silence(namespace: str) -> None:
    """The kernel there refuses no segment of a connection that it does not know."""
    rule = "table inet silent { chain out { type filter hook output priority 0; tcp flags rst drop; }; }"
    run("ip", "netns", "exec", namespace, "nft", rule)


def beside(net: Net, daemon: Daemon, attack: Callable[[], None]) -> None:
    """Attacks while transfers go on: they arrive unharmed, the daemon lives, and its memory is bounded."""
    before = memory(daemon)
    good = Transfers(net, [(4, True), (4, False), (6, True)], 150_000)
    attack()
    good.finish()
    status = daemon.status()
    assert status["traffic"]["failed"] == 0, daemon.said()
    assert status["flows"]["known"] <= 1000
    assert memory(daemon) < before + (100 << 20)


def test_headers_and_options_from_nowhere(net: Net, daemon: Daemon) -> None:
    draw = random.Random(5)
    attackers = [(Raw(net, net.cli), CLIENT[4], SERVER[4]), (Raw(net, net.srv), SERVER[4], CLIENT[4])]

    def attack() -> None:
        for number in range(3_000):
            raw, source, destination = attackers[number % 2]
            options = draw.randbytes(4 * draw.randrange(11))
            ports = (source, draw.randrange(1, 65536)), (destination, draw.randrange(1, 65536))
            payload = draw.randbytes(draw.choice([0, 0, 1, 100, 1000]))
            packet = bytearray(
                tcp(*ports, draw.getrandbits(32), draw.getrandbits(32), draw.getrandbits(8), options, payload)
            )
            for _ in range(draw.randrange(4)):  # anywhere but version and addresses, or it would not be forwarded
                at = draw.choice([1, *range(20, len(packet))])
                packet[at] = draw.getrandbits(8)
            raw.send(bytes(packet))

    beside(net, daemon, attack)


def test_forged_options_from_either_side_go_no_farther(net: Net, daemon: Daemon) -> None:
    with Open(net) as victim:
        server_port, client_port = victim.ports
        up, down = Raw(net, net.cli), Raw(net, net.srv)

        def attack() -> None:
            for number in range(300):
                # Far from the victim's numbers the tracker calls them invalid: they go on unread, and the host's
                # TCP refuses them. Those of connections that the tracker takes up are read.
                for mesh, internet in (
                    ((CLIENT[4], client_port), (SERVER[4], server_port)),
                    ((CLIENT[4], 30_000 + number), (SERVER[4], 7_200)),
                ):
                    up.send(tcp(mesh, internet, number, number, options=RTT_OPTION))
                    down.send(tcp(internet, mesh, number, number, options=RTT_OPTION))
                    # As many as fit, and one that is hidden behind NOPs.
                    down.send(tcp(internet, mesh, number, number, options=RTT_OPTION * 5))
                hidden = b"\1" * 3 + RTT_OPTION[:6] + b"\1" * 3
                down.send(tcp((SERVER[4], 7_200), (CLIENT[4], 50_000 + number), 1, 1, options=hidden))
                time.sleep(0.001)

        silence(net.cli)
        silence(net.srv)
        beside(net, daemon, attack)
    others = [seen for seen in net.log("mesh") if seen.source == SERVER[4] and seen.dport != client_port]
    assert sum(seen.sport == 7_200 for seen in others) > 300, "they did come through"
    forged = [seen for seen in others if seen.rtt_option == 1]
    assert not forged, f"{len(forged)} forged options reached the mesh"
    wired = [seen for seen in net.log("wired") if seen.source == CLIENT[4] and seen.sport != client_port]
    assert not [seen for seen in wired if seen.rtt_option is not None]


def test_optimistic_and_split_acks_set_no_pace(net: Net, daemon: Daemon) -> None:
    with Bulk(net) as bulk:
        time.sleep(1.5)
        name = daemon.flow(*bulk.ends.ports)["flow"]
        before = daemon.ask("flow", flow=name)["flow"]["flow"]
        server_port, client_port = bulk.ends.ports
        raw = Raw(net, net.cli)
        mesh, internet = (CLIENT[4], client_port), (SERVER[4], server_port)
        # Numbers far from the connection's: acknowledgements of what was never sent.
        for number in range(2_000):
            raw.send(tcp(mesh, internet, number * 1_000_003, number * 2_000_003, window=65535))
        time.sleep(0.5)
        after = daemon.ask("flow", flow=name)["flow"]["flow"]
        # What was never sent and is acknowledged at once would look like a short round trip and a fast pace.
        assert after["interval_s"] > before["interval_s"] / 2
        assert after["wireless_rtt_s"] > before["wireless_rtt_s"] - bound(5e-3, busy=20e-3)
        assert bulk.goes_on()
    assert daemon.status()["traffic"]["failed"] == 0


def test_a_flood_of_syns_takes_no_place_from_flows_with_data(net: Net, daemon: Daemon) -> None:
    with Bulk(net) as bulk:
        time.sleep(1)
        # Half-open connections stay: the host they are for must not refuse them.
        silence(net.cli)
        raw = Raw(net, net.srv)
        draw = random.Random(6)

        def attack(count: int = 20_000) -> None:
            for number in range(count):
                source = (f"10.1.0.{3 + draw.randrange(250)}", draw.randrange(1, 65536))
                raw.send(tcp(source, (CLIENT[4], 1 + number % 60_000), draw.getrandbits(32), 0, SYN))

        beside(net, daemon, attack)
        flow = daemon.flow(*bulk.ends.ports)
        assert flow["age_s"] > 1, "the flow is still the one that was known before"
        # A queue that overflows lets SYNs by unseen: as many as it takes for the table to be full.
        wait_for(lambda: daemon.status()["flows"]["evicted"] > 0 or attack(1_000))
        assert bulk.goes_on()


def test_blind_resets_end_no_connection_here(net: Net, daemon: Daemon) -> None:
    with Bulk(net) as bulk:
        time.sleep(1)
        server_port, client_port = bulk.ends.ports
        age = daemon.flow(server_port)["age_s"]
        down = Raw(net, net.srv)
        for number in range(1_000):
            down.send(tcp((SERVER[4], server_port), (CLIENT[4], client_port), number * 4_000_037, 0, RST))
        assert bulk.goes_on()
        # What clients are told is up to a tenth of a second old.
        wait_for(lambda: daemon.flow(server_port)["age_s"] > age)


def test_fragments_pass_unread(net: Net, daemon: Daemon) -> None:
    raw = Raw(net, net.srv)

    def attack() -> None:
        whole = tcp((SERVER[4], 7_000), (CLIENT[4], 7_001), 1, 1, payload=bytes(1_000))
        for number in range(500):
            for offset, more, part in ((0, 0x2000, whole[20:420]), (50, 0x2000, whole[420:820]), (100, 0, whole[820:])):
                head = (
                    struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(part), number + 1, more | offset, 64, 6, 0)
                    + whole[12:20]
                )
                raw.send(head[:10] + struct.pack("!H", checksum(head)) + head[12:] + part)

    beside(net, daemon, attack)


def test_a_connection_whose_numbers_wrap_is_paced_through(net: Net, daemon: Daemon) -> None:
    # A kernel draws its first numbers, so that they wrap by luck only: here both ends are this test's, and the kernels,
    # which know no such connection, must not answer.
    for name in (net.srv, net.cli):
        silence(name)
    down, up = Raw(net, net.srv), Raw(net, net.cli)
    server, host = (SERVER[4], 7_100), (CLIENT[4], 7_101)
    start = 2**32 - 30_000
    for number in range(60):
        down.send(tcp(server, host, start + 1000 * number, 1, payload=bytes(1000)))
        time.sleep(0.03)
        up.send(tcp(host, server, 1, start + 1000 * (number + 1), window=65535))
        time.sleep(0.03)
    flow = daemon.flow(7_100)
    assert flow["samples"] > bound(40, busy=10), flow
    assert flow["goodput_down_bps"] > 0
    seqs = [seen.seq for seen in net.log("mesh") if seen.sport == 7_100 and seen.payload]
    assert min(seqs) < 40_000
    assert max(seqs) > 2**31


def test_super_packets_are_seen_in_wire_size(tmp_path: Path) -> None:
    # Over veth the sender's kernel hands on segments of up to 64 KB: the queue gives them in packets of the MTU.
    with Net(tmp_path, delays=None) as net, Daemon(net, "pace", rate="54Mbps") as daemon:
        Transfers(net, [(4, True), (6, True), (4, False)], 1_000_000).finish()
        traffic = daemon.status()["traffic"]
        assert traffic["unread"]["oversized"] == 0
        assert traffic["bytes"] / traffic["packets"] < 1501
        assert traffic["packets"] > 3 * 1_000_000 / 1500
