"""Network namespaces for the live tests: a server in the Internet, a gateway, hosts in the mesh, delays between them.

    srv  s0 ──── wired link ──── up0  gw  mesh0 ──── mesh link ──── c0  cli
    10.1.0.2, fd01::2            10.1.0.1       10.77.0.1           10.77.0.2, fd77::2 (and .3, ... if asked for)

Both links are TUN devices joined by the relay of crates/linux/src/bin/relay.rs. It holds packets for a set time each
way and logs every packet with the time at which it left its device: the truth for the daemon's figures.
`Net(delays=None)` joins the namespaces by veth pairs instead: no delays, no log, full speed.

Everything is made and removed by the test that uses it; names carry the process's number.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clock import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]


def _built() -> Path:
    """The folder of the daemon under test: of the profile that MESHPACE_PROFILE names, else of the one built last."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    if profile := os.environ.get("MESHPACE_PROFILE"):
        return target / profile
    found = [path for name in ("release", "checked") if (path := target / name / "meshpaced").exists()]
    return max(found, key=lambda path: path.stat().st_mtime).parent if found else target / "release"


TARGET = _built()
MESHPACED = TARGET / "meshpaced"
RELAY = TARGET / "relay"

CLONE_NEWNET = 0x40000000  # linux/sched.h
SERVER = {4: "10.1.0.2", 6: "fd01::2"}
CLIENT = {4: "10.77.0.2", 6: "fd77::2"}
FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}

_numbers = itertools.count()
_libc = ctypes.CDLL(None, use_errno=True)


def client(version: int, number: int = 0) -> str:
    """The address of the mesh host with that number."""
    return f"10.77.0.{2 + number}" if version == 4 else f"fd77::{2 + number:x}"


def run(*words: object, check: bool = True) -> str:
    """Runs a command; its output."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr or done.stdout}"
    return done.stdout


def ip(namespace: str, *commands: str) -> None:
    """Runs commands of ip(8) in a namespace, one process for all."""
    batch = subprocess.run(
        ["ip", "-n", namespace, "-batch", "-"], input="\n".join(commands), capture_output=True, text=True, check=False
    )
    assert batch.returncode == 0, f"{namespace}: {commands}: {batch.stderr}"


def wait_for(what: Any, seconds: float = PATIENCE_S, step: float = 0.02) -> Any:
    """Waits until `what()` is true and returns it."""
    end = time.monotonic() + seconds
    while True:
        if found := what():
            return found
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(step)


@dataclass(frozen=True)
class Delays:
    """One-way delays in seconds, and what else the relay is told about the mesh link."""

    wired: float = 0.010
    mesh: float = 0.020
    mesh_model: str = ""  # for example "airtime=900us,rate=11Mbps,hops=4,queue=50"
    logged: bool = True


class Net:
    """Three namespaces, with IPv4 and IPv6 through the gateway."""

    def __init__(self, folder: Path, delays: Delays | None = Delays(), clients: int = 1, room: str = "g") -> None:
        self.folder = folder
        self.delays = delays
        self.clients = clients
        stem = f"mp-{room}-{os.getpid()}-{next(_numbers)}"
        self.srv, self.gw, self.cli = f"{stem}-srv", f"{stem}-gw", f"{stem}-cli"
        self.relay: subprocess.Popen[str] | None = None
        self.relayed: list[dict[str, Any]] = []

    def __enter__(self) -> Net:
        try:
            self._make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _make(self) -> None:
        for name in (self.srv, self.gw, self.cli):
            run("ip", "netns", "add", name)
            # Before any device: router advertisements and duplicate detection are not what is tested.
            settings = ["net.ipv6.conf.default.accept_dad=0", "net.ipv6.conf.default.accept_ra=0"]
            if name == self.gw:
                settings += ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"]
            run("ip", "netns", "exec", name, "sysctl", "-qw", *settings)
            ip(name, "link set lo up")
        if self.delays is None:
            run("ip", "link", "add", "s0", "netns", self.srv, "type", "veth", "peer", "up0", "netns", self.gw)
            run("ip", "link", "add", "c0", "netns", self.cli, "type", "veth", "peer", "mesh0", "netns", self.gw)
        else:
            self._start_relay(self.delays)
        hosts = [client(4, n) + "/16" for n in range(self.clients)] + [
            client(6, n) + "/64" for n in range(self.clients)
        ]
        srv, cli = _addressed("s0", ["10.1.0.2/24", "fd01::2/64"]), _addressed("c0", hosts)
        ip(
            self.gw,
            *_addressed("up0", ["10.1.0.1/24", "fd01::1/64"]),
            *_addressed("mesh0", ["10.77.0.1/16", "fd77::1/64"]),
        )
        ip(self.srv, *srv, "route add default via 10.1.0.1", "route add ::/0 via fd01::1")
        ip(self.cli, *cli, "route add default via 10.77.0.1", "route add ::/0 via fd77::1")

    def _start_relay(self, delays: Delays) -> None:
        assert RELAY.exists(), f"{RELAY} is missing: make setup builds it"
        wired, mesh = (self.folder / f"{self.gw}-{link}.pcap" for link in ("wired", "mesh"))
        model = f",{delays.mesh_model}" if delays.mesh_model else ""
        wired_log, mesh_log = (f",log={path}" if delays.logged else "" for path in (wired, mesh))
        links = [
            f"{self.srv}/s0,{self.gw}/up0,delay={delays.wired * 1e6:.0f}us{wired_log}",
            f"{self.gw}/mesh0,{self.cli}/c0,delay={delays.mesh * 1e6:.0f}us{mesh_log}{model}",
        ]
        self.relay = subprocess.Popen([RELAY, *links], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.relay.stdout is not None
        assert self.relay.stdout.readline() == "ready\n", "the relay did not start"

    def stop_relay(self) -> None:
        """Ends the relay, after which the logs are complete."""
        if self.relay is not None:
            self.relay.terminate()
            out, _ = self.relay.communicate(timeout=PATIENCE_S)
            self.relayed = [json.loads(line) for line in out.splitlines()]
            self.relay = None

    def log(self, link: str) -> list[Seen]:
        """What passed over the "wired" or the "mesh" link, TCP only; ends the relay."""
        self.stop_relay()
        return list(read_pcap(self.folder / f"{self.gw}-{link}.pcap"))

    def remove(self) -> None:
        """Ends the relay and removes the namespaces with everything in them."""
        with suppress(subprocess.TimeoutExpired):
            self.stop_relay()
        for name in (self.srv, self.gw, self.cli):
            for pid in run("ip", "netns", "pids", name, check=False).split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            run("ip", "netns", "del", name, check=False)

    def within(self, namespace: str) -> AbstractContextManager[None]:
        """The calling thread is in the namespace; sockets made meanwhile stay there."""
        return inside(namespace)

    def socket(self, namespace: str, version: int = 4, congestion: str = "reno") -> socket.socket:
        """A TCP socket in the namespace; the machine's default congestion control may be anything."""
        with self.within(namespace):
            made = socket.socket(FAMILY[version], socket.SOCK_STREAM)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        made.settimeout(60)
        return made

    def listen(self, namespace: str, version: int = 4, port: int = 0, backlog: int = 4096) -> socket.socket:
        """A listening socket on all addresses of the namespace."""
        listener = self.socket(namespace, version)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        listener.listen(backlog)
        return listener


def _addressed(device: str, addresses: Iterable[str]) -> list[str]:
    """Commands that give a device its addresses and put it to work."""
    given = [f"address add {one} dev {device}{' nodad' if ':' in one else ''}" for one in addresses]
    return [*given, f"link set {device} up"]


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """The calling thread is in the namespace; sockets made meanwhile stay there."""
    with (
        Path("/proc/thread-self/ns/net").open("rb") as before,
        Path("/run/netns", namespace).open("rb") as there,
    ):
        _setns(there.fileno())
        try:
            yield
        finally:
            _setns(before.fileno())


def _setns(descriptor: int) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


@dataclass(frozen=True)
class Seen:
    """A TCP packet in a log of the relay."""

    at: float  # seconds of CLOCK_MONOTONIC
    source: str
    destination: str
    sport: int
    dport: int
    seq: int
    ack: int
    flags: int
    window: int
    payload: int
    options: bytes
    head: bytes  # everything logged of it, from the IP header on

    @property
    def rtt_option(self) -> int | None:
        """The value of TCP-GAP's option (schemes.md 3.2), if it carries one."""
        at = 0
        while at < len(self.options):
            kind = self.options[at]
            if kind == 0:
                return None
            if kind == 1:
                at += 1
                continue
            length = self.options[at + 1] if at + 1 < len(self.options) else 0
            if length < 2:
                return None
            if kind == 253 and length == 6 and self.options[at + 2 : at + 4] == b"\x4d\x50":
                return int.from_bytes(self.options[at + 4 : at + 6], "big")
            at += length
        return None


def read_pcap(path: Path) -> Iterator[Seen]:
    """The TCP packets of a log."""
    data = path.read_bytes()
    at = 24
    while at + 16 <= len(data):
        seconds, nanos, kept, length = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16 : at + 16 + kept]
        at += 16 + kept
        v6 = packet[0] >> 4 == 6
        family, where, protocol = (socket.AF_INET6, 8, 6) if v6 else (socket.AF_INET, 12, 9)
        size = 16 if v6 else 4
        header = 40 if v6 else (packet[0] & 15) * 4
        if packet[protocol] != 6 or len(packet) < header + 20:
            continue
        source, destination = packet[where : where + size], packet[where + size : where + 2 * size]
        sport, dport, seq, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", packet, header)
        tcp_header = (offset >> 4) * 4
        yield Seen(
            at=seconds + nanos / 1e9,
            source=socket.inet_ntop(family, source),
            destination=socket.inet_ntop(family, destination),
            sport=sport,
            dport=dport,
            seq=seq,
            ack=ack,
            flags=flags,
            window=window,
            payload=length - header - tcp_header,
            options=packet[header + 20 : header + tcp_header],
            head=packet,
        )
