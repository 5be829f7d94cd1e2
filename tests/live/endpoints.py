"""An endpoint behind a TUN device in a namespace of its own, and ordinary kernel sockets on the other side.

kernel 10.9.0.1, fd09::1  ──── TUN mp0 ────  endpoint 10.9.0.2, fd09::2
   │ (Site(far_mtu=...) only)
   └── veth ── far 10.8.0.2, fd08::2
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clock import PATIENCE_S
from net import FAMILY, MESHPACED, inside, run

KERNEL = {4: "10.9.0.1", 6: "fd09::1"}
ENDPOINT = {4: "10.9.0.2", 6: "fd09::2"}
FAR = {4: "10.8.0.2", 6: "fd08::2"}

_numbers = itertools.count()


class Process:
    """A running `meshpaced endpoint`; what it says on standard error is read as it comes."""

    def __init__(self, namespace: str, *words: object, **pipes: Any) -> None:
        command = ["ip", "netns", "exec", namespace, MESHPACED, "endpoint", *words]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **pipes}
        self.process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, **pipes)
        self.said: list[str] = []
        self._heard = threading.Condition()
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._heard:
                self.said.append(line.decode())
                self._heard.notify_all()

    def wait_for(self, text: str, seconds: float = PATIENCE_S) -> None:
        """Waits until a line on standard error holds `text`."""
        with self._heard:
            found = self._heard.wait_for(lambda: any(text in line for line in self.said), seconds)
        assert found, f"no {text!r} in {self.said}"

    def end(self, status: int = 0, seconds: float = 110) -> str:
        """Waits for the end; what is on standard output."""
        # Not communicate(): it would take the lines on standard error, and close standard input.
        out: list[bytes] = []
        pipe = self.process.stdout
        reader = threading.Thread(target=lambda: out.append(pipe.read() if pipe else b""), daemon=True)
        reader.start()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"not within {seconds} s: {self.said}") from None
        reader.join(10)
        self._reader.join(10)
        assert self.process.returncode == status, (self.process.returncode, self.said)
        return b"".join(out).decode()

    def report(self) -> dict[str, Any]:
        """The statistics of a command with --json."""
        found: dict[str, Any] = json.loads(self.end().splitlines()[-1])
        return found

    def tell(self, number: int) -> None:
        """Sends a signal to the endpoint."""
        self.process.send_signal(number)


class Site:
    """The namespaces of one test."""

    def __init__(self, far_mtu: int | None = None) -> None:
        stem = f"mp-e-{os.getpid()}-{next(_numbers)}"
        self.near, self.far = f"{stem}-near", f"{stem}-far"
        self.far_mtu = far_mtu
        self.started: list[Process] = []

    def __enter__(self) -> Site:
        for name in [self.near, self.far] if self.far_mtu else [self.near]:
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
            quiet = "net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.accept_ra=0"
            run("ip", "netns", "exec", name, "sysctl", "-qw", *quiet.split())
        if self.far_mtu:
            self._join()
        return self

    def _join(self) -> None:
        run("ip", "link", "add", "v0", "netns", self.near, "type", "veth", "peer", "v1", "netns", self.far)
        for name, device, last in ((self.near, "v0", 1), (self.far, "v1", 2)):
            run("ip", "-n", name, "address", "add", f"10.8.0.{last}/24", "dev", device)
            run("ip", "-n", name, "address", "add", f"fd08::{last}/64", "dev", device, "nodad")
            run("ip", "-n", name, "link", "set", device, "up")
        # Only the router's side is narrow: the far host announces segments that do not get through.
        run("ip", "-n", self.near, "link", "set", "v0", "mtu", self.far_mtu)
        self.sysctl("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        run("ip", "-n", self.far, "route", "add", "default", "via", "10.8.0.1")
        run("ip", "-n", self.far, "-6", "route", "add", "default", "via", "fd08::1")

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                process.process.kill()
            status = process.process.wait(PATIENCE_S)
            if error is not None:
                error.add_note(f"status {status} (-9: still ran), said {process.said}")
        for name in [self.near, self.far] if self.far_mtu else [self.near]:
            run("ip", "netns", "del", name, check=False)

    def sysctl(self, *settings: str) -> None:
        """Sets sysctls of the kernel's side."""
        run("ip", "netns", "exec", self.near, "sysctl", "-qw", *settings)

    def endpoint(self, *words: object, **pipes: Any) -> Process:
        """Starts `meshpaced endpoint WORDS` with both addresses."""
        addresses = ["--tun", "mp0", "--address", ENDPOINT[4] + "/24", "--address", ENDPOINT[6] + "/64"]
        process = Process(self.near, *words, *addresses, **pipes)
        self.started.append(process)
        return process

    def socket(self, version: int = 4, namespace: str | None = None) -> socket.socket:
        """A kernel's TCP socket."""
        with inside(namespace or self.near):
            made = socket.socket(FAMILY[version], socket.SOCK_STREAM)
        made.settimeout(100)
        return made

    def connect(self, port: int, version: int = 4) -> socket.socket:
        """A kernel's connection to the endpoint."""
        made = self.socket(version)
        made.connect((ENDPOINT[version], port))
        return made

    @contextmanager
    def listening(self, version: int = 4, namespace: str | None = None, **options: int) -> Iterator[socket.socket]:
        """A kernel's listener on port 5000."""
        with self.socket(version, namespace) as door:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            for name, value in options.items():
                door.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
            door.bind(("", 5000))
            door.listen(64)
            yield door


def accept(door: socket.socket) -> socket.socket:
    """The next connection."""
    connection, _ = door.accept()
    connection.settimeout(100)
    return connection


def digest_of(connection: socket.socket) -> tuple[int, str]:
    """Reads to the end: how much, and its SHA-256."""
    digest, size = hashlib.sha256(), 0
    while piece := connection.recv(1 << 20):
        digest.update(piece)
        size += len(piece)
    return size, digest.hexdigest()


def sha256(path: Path) -> tuple[int, str]:
    """The same of a file."""
    data = path.read_bytes()
    return len(data), hashlib.sha256(data).hexdigest()


def interrupt(process: Process) -> str:
    """Ends a server as an operator does."""
    process.tell(signal.SIGINT)
    return process.end()
