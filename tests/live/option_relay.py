"""A mesh and a gateway in one process, for the tests of `meshpaced host`: two TUN devices in two network namespaces.

What the host sends reaches the "gateway" after the wireless delay and the server after the wired one. ACKs come
back the same way and get TCP-GAP's option (schemes.md 3.2) at the gateway. The delays are made by holding packets,
so that the wireless part of a round trip is a real delay and not the scheduler's noise.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import heapq
import multiprocessing
import os
import random
import select
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TUNSETIFF = 0x400454CA  # linux/if_tun.h
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
CLONE_NEWNET = 0x40000000  # linux/sched.h
OPTION_ROOM = 52  # of the 60 bytes that a TCP header may have, less the 8 of the option
HOST4, SERVER4, HOST6, SERVER6 = "10.77.0.2", "10.88.0.2", "fd77::2", "fd88::2"
MESH, WAN = "mesh0", "wan0"


@dataclass
class Plan:
    """How the relay treats packets from now on; times in seconds, one way."""

    wireless: float = 0.020
    wired: float = 0.010
    option: str = "honest"  # or "absent", "nonsense"
    seed: int = 1


@dataclass
class Log:
    """What passed: times of CLOCK_MONOTONIC."""

    departures: list[tuple[float, int, int]] = field(default_factory=list)  # time, source port, payload
    samples: list[tuple[float, int, float, float, int]] = field(default_factory=list)
    # time, source port, round trip at the host, its true wireless part, the option's milliseconds
    delivered: int = 0  # payload to the server, repeated bytes included


def enter(namespace: str) -> None:
    with Path("/run/netns", namespace).open() as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"entering {namespace}")


def open_tun(namespace: str, name: str) -> int:
    enter(namespace)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return tun


def checksum(data: bytes) -> int:
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass
class Tcp:
    packet: bytes
    ip: int  # length of the IP header
    port_from: int
    port_to: int
    seq: int
    ack: int
    header: int
    flags: int
    payload: int

    @classmethod
    def parse(cls, packet: bytes) -> Tcp | None:
        version = packet[0] >> 4
        if version == 4 and packet[9] == 6:
            ip = 4 * (packet[0] & 15)
        elif version == 6 and packet[6] == 6:
            ip = 40
        else:
            return None
        source, destination, seq, ack, offset, flags = struct.unpack_from("!HHIIBB", packet, ip)
        header = 4 * (offset >> 4)
        return cls(packet, ip, source, destination, seq, ack, header, flags, len(packet) - ip - header)

    def with_options(self, options: bytes) -> bytes:
        """The packet with these behind its own options; checksums computed anew."""
        packet = bytearray(self.packet[: self.ip + self.header] + options)
        packet[self.ip + 12] = (self.header + len(options)) // 4 << 4
        length = len(packet) - self.ip
        if self.ip == 40:
            struct.pack_into("!H", packet, 4, length)
            addresses = bytes(packet[8:40])
        else:
            struct.pack_into("!H", packet, 2, len(packet))
            struct.pack_into("!H", packet, 10, 0)
            struct.pack_into("!H", packet, 10, checksum(bytes(packet[: self.ip])))
            addresses = bytes(packet[12:20])
        struct.pack_into("!H", packet, self.ip + 16, 0)
        pseudo = addresses + struct.pack("!II", length, 6)
        struct.pack_into("!H", packet, self.ip + 16, checksum(pseudo + bytes(packet[self.ip :])))
        return bytes(packet)


def option(milliseconds: int) -> bytes:
    return struct.pack("!BBHHBB", 253, 6, 0x4D50, milliseconds, 1, 1)


def nonsense(rng: random.Random) -> bytes:
    """Options that lie, or are of no known form; whole words."""
    return rng.choice(
        [
            option(rng.randrange(65_536)),
            option(0),
            option(65_535),
            struct.pack("!BBHI", 253, 8, 0x4D50, rng.getrandbits(32)),  # too long
            struct.pack("!BBH", 253, 4, 0x4D50),  # no value
            struct.pack("!BBHHBB", 253, 6, 0x1234, 9, 1, 1),  # somebody else's experiment
            struct.pack("!BBHHBB", 254, 6, 0x4D50, 9, 1, 1),
        ]
    )


class Relay:
    """The process's own side."""

    def __init__(self, host: str, server: str) -> None:
        self.host = open_tun(host, MESH)
        self.server = open_tun(server, WAN)
        self.plan, self.log = Plan(), Log()
        self.rng = random.Random(1)
        self.heap: list[tuple[float, int, Any, tuple[Any, ...]]] = []
        self.count = 0
        # Per source port of the host: oldest unacknowledged; start -> (end, sent, T1, repeated).
        self.una: dict[int, int] = {}
        self.sent: dict[tuple[int, int], list[Any]] = {}

    def at(self, due: float, action: Any, *arguments: Any) -> None:
        self.count += 1
        heapq.heappush(self.heap, (due, self.count, action, arguments))

    def from_host(self, now: float, packet: bytes) -> None:
        tcp = Tcp.parse(packet)
        if tcp is None:
            return
        if tcp.flags & 2:
            self.una[tcp.port_from] = tcp.seq + 1 & 0xFFFFFFFF
        if tcp.payload:
            self.log.departures.append((now, tcp.port_from, tcp.payload))
            known = self.sent.get((tcp.port_from, tcp.seq))
            if known:
                known[3] = True
            else:
                self.sent[tcp.port_from, tcp.seq] = [tcp.seq + tcp.payload & 0xFFFFFFFF, now, None, False]
        due = now + self.plan.wireless
        self.at(due, self.up_at_gateway, due, tcp)

    def up_at_gateway(self, due: float, tcp: Tcp) -> None:
        known = self.sent.get((tcp.port_from, tcp.seq))
        if known and known[2] is None:
            known[2] = due
        self.at(due + self.plan.wired, self.to_server, tcp)

    def to_server(self, tcp: Tcp) -> None:
        self.log.delivered += tcp.payload
        os.write(self.server, tcp.packet)

    def from_server(self, now: float, packet: bytes) -> None:
        tcp = Tcp.parse(packet)
        if tcp is not None:
            due = now + self.plan.wired
            self.at(due, self.down_at_gateway, due, tcp)

    def down_at_gateway(self, due: float, tcp: Tcp) -> None:
        port, packet, told = tcp.port_to, tcp.packet, None
        una = self.una.get(port, tcp.ack)
        oldest = self.sent.get((port, una)) if tcp.flags & 16 and tcp.ack != una else None
        at = una
        while at != tcp.ack and (port, at) in self.sent:
            at = self.sent.pop((port, at))[0]
        if (tcp.ack - una) & 0xFFFFFFFF < 1 << 31:
            self.una[port] = tcp.ack
        room = not tcp.payload and not tcp.flags & 7 and tcp.header <= OPTION_ROOM
        if self.plan.option == "nonsense" and room:
            packet = tcp.with_options(nonsense(self.rng))
        elif self.plan.option == "honest" and room and oldest and oldest[2] and not oldest[3]:
            milliseconds = min(65_535, round((due - oldest[2]) * 1000))
            packet = tcp.with_options(option(milliseconds))
            told = (oldest[1], oldest[2], due, milliseconds)
        arrival = due + self.plan.wireless
        self.at(arrival, self.to_host, port, packet, told)

    def to_host(self, port: int, packet: bytes, told: tuple[float, float, float, int] | None) -> None:
        os.write(self.host, packet)
        now = time.monotonic()
        if told:
            sent, t1, t2, milliseconds = told
            self.log.samples.append((now, port, now - sent, (t1 - sent) + (now - t2), milliseconds))

    def run(self, control: Any) -> None:
        while True:
            timeout = max(0.0, self.heap[0][0] - time.monotonic()) if self.heap else 1.0
            ready, _, _ = select.select([self.host, self.server, control], [], [], timeout)
            while self.heap and self.heap[0][0] <= time.monotonic():
                _, _, action, arguments = heapq.heappop(self.heap)
                action(*arguments)
            for tun, take in ((self.host, self.from_host), (self.server, self.from_server)):
                if tun in ready:
                    for _ in range(16):
                        try:
                            packet = os.read(tun, 65_536)
                        except BlockingIOError:
                            break
                        take(time.monotonic(), packet)
            if control in ready:
                message = control.recv()
                if message is None:
                    return
                if message == "log":
                    control.send(self.log)
                    self.log = Log()
                else:
                    self.plan, self.rng = message, random.Random(message.seed)
                    control.send(True)


def main(host: str, server: str, control: Any) -> None:
    relay = Relay(host, server)
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    control.send(True)
    relay.run(control)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class Mesh:
    """Two namespaces and the relay between them. A context manager: nothing is left behind."""

    def __init__(self, tag: str) -> None:
        self.host, self.server = f"mp-{tag}-h", f"mp-{tag}-s"

    def __enter__(self) -> Mesh:
        for namespace in (self.host, self.server):
            ip("netns", "add", namespace)
        self.control, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("fork")
        self.process = context.Process(target=main, args=(self.host, self.server, theirs), daemon=True)
        self.process.start()
        assert self.control.recv()
        for namespace, device, four, six in ((self.host, MESH, HOST4, HOST6), (self.server, WAN, SERVER4, SERVER6)):
            ip("-n", namespace, "link", "set", "lo", "up")
            ip("-n", namespace, "addr", "add", f"{four}/32", "dev", device)
            ip("-n", namespace, "addr", "add", f"{six}/128", "dev", device, "nodad")
            ip("-n", namespace, "link", "set", device, "up", "mtu", "1500", "txqueuelen", "1000")
            ip("-n", namespace, "route", "add", "default", "dev", device)
            ip("-n", namespace, "-6", "route", "add", "default", "dev", device)
        return self

    def __exit__(self, *_: object) -> None:
        self.control.send(None)
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
        for namespace in (self.host, self.server):
            ip("netns", "del", namespace)

    def plan(self, **changes: Any) -> None:
        self.control.send(Plan(**changes))
        assert self.control.recv()

    def log(self) -> Log:
        """What passed since the last call."""
        self.control.send("log")
        log: Log = self.control.recv()
        return log
