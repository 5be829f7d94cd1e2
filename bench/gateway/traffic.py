"""The load: bulk transfers by iperf3, and thousands of connections by connections.py."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from process import ToolError

from .daemon import TICK, Daemon
from .network import GENERATORS, HOST, SERVER, Network, on

CONNECTIONS = Path(__file__).with_name("connections.py")
PORT = 7000


@dataclass(frozen=True)
class Measured:
    """A window of forwarding."""

    seconds: float
    bytes: int
    """Goodput: payload that arrived at the mesh host."""
    packets: int
    """Packets in both directions at the gateway."""
    cpu_s: float | None
    """The daemon's; None without one."""
    retransmits: int | None
    """The server's; None where the load does not tell."""
    work_s: float | None = None
    """Processor time of all that made, took and forwarded the traffic."""

    @property
    def megabits(self) -> float:
        """Mbit/s."""
        return self.bytes * 8 / self.seconds / 1e6

    @property
    def packet_rate(self) -> float:
        """Packets a second."""
        return self.packets / self.seconds

    @property
    def cpu_us_per_packet(self) -> float | None:
        """Daemon's processor time a packet."""
        return None if self.cpu_s is None else self.cpu_s / self.packets * 1e6

    @property
    def work_share(self) -> float | None:
        """Processors that all of it kept busy."""
        return None if self.work_s is None else self.work_s / self.seconds

    @property
    def cpu_share(self) -> float | None:
        """Of the daemon's processor, how much it used."""
        return None if self.cpu_s is None else self.cpu_s / self.seconds


def count(network: Network) -> int:
    """Packets that passed the gateway so far: as the queue got them, else as the devices did."""
    queued = network.queued()
    return network.forwarded() if queued is None else queued


# Flows of one iperf3, which takes 128 at the most.
STREAMS = 100


def bulk(network: Network, daemon: Daemon | None, seconds: int, flows: int) -> Measured:
    """Bulk flows from the server to the mesh host."""
    parts = [min(STREAMS, flows - begun) for begun in range(0, flows, STREAMS)]
    ports = [str(5201 + number) for number in range(len(parts))]
    with ExitStack() as stack:
        taken = []
        for port in ports:
            words = network.within("cli", *on(GENERATORS, ["iperf3", "-s", "-1", "-p", port]))
            taken.append(started(stack, words, subprocess.DEVNULL))
        time.sleep(0.3)
        made = []
        for port, part in zip(ports, parts, strict=True):
            sender = ["iperf3", "-c", HOST, "-p", port, "-C", "reno", "-P", str(part), "-J"]
            # A first second is left out: slow start, and the daemon's first look at the flows.
            words = network.within("srv", *on(GENERATORS, [*sender, "-O", "1", "-t", str(seconds)]))
            made.append(started(stack, words, subprocess.PIPE))
        time.sleep(1.2)
        everybody = [process.pid for process in (*taken, *made)] + interrupts()
        packets, cpu, work, start = count(network), cost(daemon), spent(everybody), time.monotonic()
        time.sleep(seconds - 0.5)
        packets = count(network) - packets
        used = None if daemon is None or cpu is None else daemon.cpu_s() - cpu
        work = spent(everybody) - work + (used or 0.0)
        window = time.monotonic() - start
        reports = [said(process, seconds) for process in made]
    rate = sum(report["sum_received"]["bits_per_second"] for report in reports)
    retransmits = sum(report["sum_sent"]["retransmits"] for report in reports)
    return Measured(window, int(rate / 8 * window), packets, used, retransmits, work)


def started(stack: ExitStack, words: list[str], out: int) -> subprocess.Popen[bytes]:
    """A process that ends with the stack."""
    process = stack.enter_context(subprocess.Popen(words, stdout=out, stderr=out))
    stack.callback(process.kill)
    return process


def said(process: subprocess.Popen[bytes], seconds: int) -> dict[str, Any]:
    """The end of iperf3's report."""
    out, err = process.communicate(timeout=seconds + 30)
    report = json.loads(out) if out else {}
    if process.returncode != 0 or "error" in report:
        raise ToolError(f"iperf3: {report.get('error', err.decode(errors='replace'))}")
    end: dict[str, Any] = report["end"]
    return end


def interrupts() -> list[int]:
    """The kernel's threads that do what interrupts leave (ksoftirqd), one a processor."""
    names = {int(path.parent.name): path for path in Path("/proc").glob("[0-9]*/comm")}
    return [pid for pid, path in names.items() if text(path).startswith("ksoftirqd/")]


def spent(processes: list[int]) -> float:
    """Processor time that they have used, user and kernel (proc_pid_stat(5), fields 14 and 15)."""
    fields = [text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split() for pid in processes]
    return sum(int(of[11]) + int(of[12]) for of in fields if of) / TICK


def text(path: Path) -> str:
    """What it says, nothing if it has gone."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def cost(daemon: Daemon | None) -> float | None:
    """The daemon's processor time so far."""
    return None if daemon is None else daemon.cpu_s()


class Connections:
    """`count` connections from the mesh host to the server, which sends each a message a period; closed on leaving."""

    def __init__(self, network: Network, number: int, message_bytes: int, period_s: float) -> None:
        self.network, self.number = network, number
        self.message_bytes, self.period_s = message_bytes, period_s

    def __enter__(self) -> Self:
        for node in ("srv", "cli"):
            self.network.run(
                node, "sysctl", "-qw", "net.ipv4.ip_local_port_range=1024 65000", "net.core.somaxconn=8192"
            )
        python = [sys.executable, str(CONNECTIONS)]
        serve = [*python, "serve", SERVER, str(PORT), str(self.message_bytes), str(self.period_s)]
        self.server = subprocess.Popen(self.network.within("srv", *on(GENERATORS, serve)))
        time.sleep(0.5)
        opener = self.network.within("cli", *on(GENERATORS, [*python, "open", SERVER, str(PORT), str(self.number)]))
        self.opener = subprocess.Popen(opener, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.opener.stdout is not None
        line = self.opener.stdout.readline()
        if line.split() != ["open", str(self.number)]:
            self.__exit__(None, None, None)
            raise ToolError(f"the connections were not opened: {line!r}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The server first: it would call the resets of a killed opener an error.
        for process in (self.server, self.opener):
            process.kill()
            process.wait()

    def measure(self, daemon: Daemon | None, seconds: float) -> Measured:
        """Watches for a while, then ends the connections' reader."""
        packets, cpu, start = count(self.network), cost(daemon), time.monotonic()
        before = self.delivered()
        time.sleep(seconds)
        window = time.monotonic() - start
        packets = count(self.network) - packets
        used = None if daemon is None or cpu is None else daemon.cpu_s() - cpu
        return Measured(window, self.delivered() - before, packets, used, None)

    def delivered(self) -> int:
        """Bytes on the mesh host's device, headers included."""
        return int(self.network.run("cli", "cat", "/sys/class/net/eth0/statistics/rx_bytes"))
