"""Three namespaces: a server, the gateway, a mesh host; veth pairs between them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from process import ToolError

QUEUE = 19792
SERVER, HOST = "10.78.1.2", "10.78.2.2"
ENDS = (("srv", "eth0"), ("gw", "wan0"), ("gw", "mesh0"), ("cli", "eth0"))


def run(*words: str | Path) -> str:
    """Runs a command to its end and gives what it printed.

    Raises ToolError with what it said if it fails.
    """
    command = [str(word) for word in words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as problem:
        raise ToolError(f"cannot run {command[0]}: {problem.strerror}") from problem
    if done.returncode != 0:
        raise ToolError(f"{' '.join(command)}: status {done.returncode}\n  {done.stderr.strip()}")
    return done.stdout


class Network:
    """server - gateway - mesh host. Made on entering, removed on leaving."""

    def __init__(self, offloads: bool = True) -> None:
        """With `offloads` the ends send segments of up to 64 kB, as veth devices do by default."""
        self.prefix = f"mp-bench-{os.getpid()}"
        self.offloads = offloads

    def __enter__(self) -> Self:
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def name(self, node: str) -> str:
        """The namespace of srv, gw or cli."""
        return f"{self.prefix}-{node}"

    def within(self, node: str, *words: str | Path) -> list[str]:
        """The command line that runs `words` in a namespace."""
        return ["ip", "netns", "exec", self.name(node), *(str(word) for word in words)]

    def run(self, node: str, *words: str | Path) -> str:
        """Runs a command in a namespace to its end."""
        return run(*self.within(node, *words))

    def _make(self) -> None:
        for node in ("srv", "gw", "cli"):
            run("ip", "netns", "add", self.name(node))
            run("ip", "-n", self.name(node), "link", "set", "lo", "up")
        gateway = self.name("gw")
        for device, peer in (("wan0", "srv"), ("mesh0", "cli")):
            pair = ("type", "veth", "peer", "name", "eth0", "netns", self.name(peer))
            run("ip", "link", "add", device, "netns", gateway, *pair)
        addresses = {
            ("srv", "eth0"): SERVER,
            ("gw", "wan0"): "10.78.1.1",
            ("gw", "mesh0"): "10.78.2.1",
            ("cli", "eth0"): HOST,
        }
        for node, device in ENDS:
            run("ip", "-n", self.name(node), "addr", "add", f"{addresses[node, device]}/24", "dev", device)
            run("ip", "-n", self.name(node), "link", "set", device, "up")
            if not self.offloads:
                self.run(node, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off")
        run("ip", "-n", self.name("srv"), "route", "add", "default", "via", "10.78.1.1")
        run("ip", "-n", self.name("cli"), "route", "add", "default", "via", "10.78.2.1")
        self.run("gw", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        # What arrives at the ends is handled on the generators' processor, as if on other machines.
        for node in ("srv", "cli"):
            self.run(node, "sh", "-c", f"echo {1 << GENERATORS:x} > /sys/class/net/eth0/queues/rx-0/rps_cpus")

    def _remove(self) -> None:
        for node in ("srv", "gw", "cli"):
            subprocess.run(["ip", "netns", "del", self.name(node)], capture_output=True, check=False)

    def queue_rule(self) -> None:
        """Sends forwarded TCP packets to the queue, by the first rule maker that works."""
        table = (
            f"add table ip bench; add chain ip bench c {{ type filter hook forward priority -150; }}; "
            f"add rule ip bench c meta l4proto tcp queue num {QUEUE} bypass"
        )
        rule: tuple[str, ...] = ("-t", "mangle", "-A", "FORWARD", "-p", "tcp", "-j", "NFQUEUE")
        rule += ("--queue-num", str(QUEUE), "--queue-bypass")
        problems = []
        for command in (("nft", table), ("iptables-nft", *rule), ("iptables-legacy", *rule)):
            try:
                self.run("gw", *command)
            except ToolError as problem:
                problems.append(str(problem))
            else:
                return
        raise ToolError("no NFQUEUE rule can be made:\n  " + "\n  ".join(problems))

    def queued(self) -> int | None:
        """Packets that the gateway's queue was given since it was bound; None without a queue."""
        counters = self.run("gw", "cat", "/proc/net/netfilter/nfnetlink_queue").split()
        return int(counters[7]) if counters else None

    def forwarded(self) -> int:
        """Packets that arrived at the gateway from both sides; with offloads one may carry 64 kB."""
        counters = self.run("gw", "cat", "/proc/net/dev").splitlines()
        fields = [line.split() for line in counters if line.split()[0] in ("wan0:", "mesh0:")]
        return sum(int(field[2]) for field in fields)


# One processor for the daemon, the other for everything that makes and takes traffic.
GENERATORS, GATEWAY = 0, 1


def on(processor: int, words: Sequence[str]) -> list[str]:
    """The command line that runs `words` on one processor."""
    return ["taskset", "-c", str(processor), *words]
