"""The load: bulk transfers by iperf3, and thousands of connections by connections.py."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from process import ToolError

from .daemon import Daemon
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
    def cpu_share(self) -> float | None:
        """Of the daemon's processor, how much it used."""
        return None if self.cpu_s is None else self.cpu_s / self.seconds


def count(network: Network) -> int:
    """Packets that passed the gateway so far: as the queue got them, else as the devices did."""
    queued = network.queued()
    return network.forwarded() if queued is None else queued


def bulk(network: Network, daemon: Daemon | None, seconds: int, flows: int) -> Measured:
    """Bulk flows from the server to the mesh host."""
    receiver = network.within("cli", *on(GENERATORS, ["iperf3", "-s", "-1"]))
    with subprocess.Popen(receiver, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            time.sleep(0.3)
            sender = ["iperf3", "-c", HOST, "-C", "reno", "-P", str(flows), "-J"]
            # A first second is left out: slow start, and the daemon's first look at the flows.
            command = network.within("srv", *on(GENERATORS, [*sender, "-O", "1", "-t", str(seconds)]))
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as client:
                try:
                    time.sleep(1.2)
                    packets, cpu, start = count(network), cost(daemon), time.monotonic()
                    time.sleep(seconds - 0.5)
                    packets = count(network) - packets
                    used = None if daemon is None or cpu is None else daemon.cpu_s() - cpu
                    window = time.monotonic() - start
                    out, err = client.communicate(timeout=seconds + 30)
                finally:
                    client.kill()
        finally:
            server.kill()
    report = json.loads(out) if out else {}
    if client.returncode != 0 or "error" in report:
        raise ToolError(f"iperf3: {report.get('error', err.decode(errors='replace'))}")
    end = report["end"]
    rate = end["sum_received"]["bits_per_second"]
    return Measured(window, int(rate / 8 * window), packets, used, end["sum_sent"]["retransmits"])


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
