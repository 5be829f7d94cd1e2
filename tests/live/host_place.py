"""What the tests of `meshpaced host` are made of: a place with applications in it, the daemon, the law once more."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from clock import PATIENCE_S
from net import MESHPACED
from option_relay import SERVER4, Mesh

UNLIMITED = 0xFFFFFFFF
HOPS, RATE = 4, 2_000_000
OVERHEAD = 68  # ap_overhead_bytes, schemes.md 1.1
PORT = 5201


def binary() -> str:
    assert MESHPACED.exists(), f"{MESHPACED} is missing: make setup builds it"
    return str(MESHPACED)


def hierarchy() -> Path:
    for line in Path("/proc/mounts").read_text().splitlines():
        _, directory, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(directory)
    pytest.skip("no control groups of version 2")


def poll(condition: Callable[[], Any], what: str, seconds: float = PATIENCE_S) -> Any:
    """Waits until something is true and gives it; what is asked about the first flow may come before there is one.

    Most questions start a process: ten a second keep no processor busy.
    """
    end = time.monotonic() + seconds
    while True:
        with suppress(IndexError):
            if found := condition():
                return found
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.1)


@dataclass(frozen=True)
class Namespaces:
    """Where the wireless host and the server are."""

    host: str
    server: str


class Place:
    """A mesh, a control group, a BPF file system, and what runs in them."""

    def __init__(self, mesh: Any, folder: Path, stack: ExitStack) -> None:
        self.mesh, self.folder, self.stack = mesh, folder, stack
        self.cgroup = hierarchy() / f"mp-host-{os.getpid()}"
        self.cgroup.mkdir()
        stack.callback(lambda: poll(self.remove_cgroup, "an empty control group"))
        self.bpffs = folder / "bpf"
        self.bpffs.mkdir()
        subprocess.run(["mount", "-t", "bpf", "bpf", str(self.bpffs)], check=True)
        stack.callback(lambda: subprocess.run(["umount", str(self.bpffs)], check=True))
        self.socket = folder / "host.sock"

    def remove_cgroup(self) -> bool:
        try:
            self.cgroup.rmdir()
        except OSError:
            return False
        return True

    def inside(self, namespace: str, *command: str, cgroup: bool = False, **options: Any) -> subprocess.Popen[str]:
        """A process in a namespace; nsenter and not `ip netns exec`, which hides the control groups."""

        def join() -> None:
            if cgroup:
                (self.cgroup / "cgroup.procs").write_text("0")

        words = ["nsenter", f"--net=/run/netns/{namespace}", *command]
        # No thread runs in the tests' process; nothing but a file is written.
        process = subprocess.Popen(words, preexec_fn=join, text=True, **options)  # noqa: PLW1509
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    def daemon(self, *arguments: str, prefix: tuple[str, ...] = (), watchdog: int = 2) -> Daemon:
        return Daemon(self, prefix, *arguments, "--watchdog", str(watchdog))

    def attached(self) -> list[str]:
        """Names of the programs on the control group."""
        shown = subprocess.run(["bpftool", "-j", "cgroup", "show", str(self.cgroup)], capture_output=True, check=True)
        return [program["name"] for program in json.loads(shown.stdout.strip() or "[]")]

    def pins(self) -> list[Path]:
        return list(self.bpffs.glob("meshpaced-*"))


class Daemon:
    def __init__(self, place: Place, prefix: tuple[str, ...], *arguments: str) -> None:
        self.place = place
        where = ["--cgroup", str(place.cgroup), "--bpffs", str(place.bpffs), "--socket", str(place.socket)]
        way = [] if "--hops" in arguments else ["--hops", str(HOPS), "--rate", f"{RATE}bps"]
        command = [*prefix, binary(), "host", *where, *way, *arguments]
        self.process = place.inside(place.mesh.host, *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert first.startswith("pacing "), (first, self.process.stderr and self.process.stderr.read())

    def status(self) -> dict[str, Any]:
        command = [binary(), "host", "--status", "--json", "--socket", str(self.place.socket)]
        shown = subprocess.run(command, capture_output=True, text=True, check=True)
        status: dict[str, Any] = json.loads(shown.stdout)
        assert status["schema"] == 1
        return status

    def flows(self, remote: str = "") -> list[dict[str, Any]]:
        return [flow for flow in self.status()["flows"] if remote in flow["remote"]]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> str:
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == (0 if how == signal.SIGTERM else -how), (out, err)
        return out + err


SINK = """
import os, socket, sys, threading
def take(peer):
    total = 0
    while data := peer.recv(1 << 20):
        total += len(data)
    peer.sendall(b'%d' % total)
    peer.close()
server = socket.create_server(('::', int(sys.argv[1])), family=socket.AF_INET6, dualstack_ipv6=True)
print('ready', flush=True)
while True:
    threading.Thread(target=take, args=(server.accept()[0],), daemon=True).start()
"""

# Commands on standard input: a number sends so many bytes (-1: until told otherwise), `limit` prints the socket's own
# limit, `sleep` lets it idle, `end` closes and prints what arrived.
SOURCE = """
import socket, sys, threading
host, port, congestion, own = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
if own:
    s.setsockopt(socket.SOL_SOCKET, 47, own)
s.connect((host, port))
print('port', s.getsockname()[1], flush=True)
going, total = True, 0
def send():
    global total
    while going:
        total += s.send(bytes(65536))
sender = None
for line in sys.stdin:
    word = line.strip()
    if word == 'limit':
        print('limit', s.getsockopt(socket.SOL_SOCKET, 47) & 0xffffffff, flush=True)
    elif word == 'go':
        going, sender = True, threading.Thread(target=send)
        sender.start()
    elif word == 'pause':
        going = False
        sender.join()
        print('paused', flush=True)
    elif word == 'end':
        break
    else:
        s.sendall(bytes(int(word)))
        total += int(word)
going = False
if sender:
    sender.join()
s.shutdown(socket.SHUT_WR)
print('sent', total, 'arrived', int(s.recv(100)), flush=True)
"""


class Source:
    """An ordinary program with one connection to the server."""

    def __init__(self, place: Place, host: str = SERVER4, congestion: str = "reno", own: int = 0, cgroup: bool = True):
        words = ("python3", "-c", SOURCE, host, str(PORT), congestion, str(own))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = place.inside(place.mesh.host, *words, cgroup=cgroup, **pipes)
        self.port = int(self.answer("port"))

    def answer(self, word: str) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().split(maxsplit=1)
        assert line[:1] == [word]
        return line[1].strip() if len(line) > 1 else ""

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def limit(self) -> int:
        self.tell("limit")
        return int(self.answer("limit"))

    def end(self) -> None:
        """Every byte arrived."""
        self.tell("end")
        sent, arrived = self.answer("sent").split(" arrived ")
        assert sent == arrived
        assert self.process.wait(PATIENCE_S) == 0


def law(samples: list[float], mss: int, hops: int = HOPS, rate: int = RATE, history: int = 50) -> float:
    """Bit/s of payload after these round trips, by (2.1) to (2.4) of schemes.md written down once more."""
    smoothed = None
    for rtt in samples:
        queueing = max(0.0, 0.5 * (rtt / hops - 8 * (mss + 2 * OVERHEAD) / rate))
        delay = min(4, hops) * (queueing + 8 * (mss + OVERHEAD) / rate)
        smoothed = delay if smoothed is None else 0.7 * smoothed + 0.3 * delay
    held = samples[-history:]
    cov = statistics.stdev(held) / statistics.mean(held) if len(held) > 1 else 0.0
    assert smoothed is not None
    return 8 * mss / (smoothed * (1 + 2 * cov))


def goodput(mesh: Mesh, seconds: float) -> float:
    """Payload that leaves the host, bit/s."""
    mesh.log()
    start = time.monotonic()
    time.sleep(seconds)
    log = mesh.log()
    return 8 * sum(payload for _, _, payload in log.departures) / (time.monotonic() - start)
