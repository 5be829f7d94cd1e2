"""A `meshpaced edge` in a test's namespace."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from clock import PATIENCE_S
from net import MESHPACED, Net, run, wait_for


class Edge:
    """One run of the daemon; `stop` or `kill` ends it."""

    def __init__(self, net: Net, namespace: str, interface: str, more: str = "") -> None:
        self.net, self.namespace, self.interface = net, namespace, interface
        self.socket = Path(f"/run/{namespace}-edge.sock")  # a socket's path has at most 107 bytes
        self.file = net.folder / f"{namespace}-edge.toml"
        self.file.write_text(f'[edge]\nsocket = "{self.socket}"\nlisten = "off"\n{more}', encoding="utf-8")
        self.errors = net.folder / f"{namespace}-edge.err"
        self.process: subprocess.Popen[bytes] | None = None

    def words(self, command: str, *arguments: object) -> list[str]:
        """The command with its configuration file, in the namespace."""
        inside = ["ip", "netns", "exec", self.namespace]
        return [*inside, str(MESHPACED), command, "--config", str(self.file), *map(str, arguments)]

    def start(self) -> Edge:
        """Starts it and waits until it acts."""
        assert MESHPACED.exists(), f"{MESHPACED} is missing: make setup builds it"
        with self.errors.open("ab") as errors:
            words = self.words("edge", "--interface", self.interface)
            self.process = subprocess.Popen(words, stderr=errors, stdout=errors)
            before = errors.tell()
        wait_for(lambda: self.lives() and "meshpaced: edge by " in self.said()[before:])
        return self

    def lives(self) -> bool:
        """True; fails the test if it has ended."""
        assert self.process is not None
        assert self.process.poll() is None, f"it ended: {self.said()}"
        return True

    def said(self) -> str:
        """What it printed."""
        return self.errors.read_text(encoding="utf-8", errors="replace")

    def status(self) -> dict[str, Any]:
        """As `meshpaced edge --status --json` tells it."""
        return dict(json.loads(run(*self.words("edge", "--status", "--json"))))

    def counter(self, name: str) -> int:
        """One of its counters."""
        return int(self.status()["counters"][name])

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def stop(self) -> None:
        """SIGTERM; it must end in good order."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=PATIENCE_S) == 0, self.said()
        self.process = None

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=PATIENCE_S)
        self.process = None

    def undo(self) -> str:
        """What `meshpaced undo` removes, in words."""
        return run(*self.words("undo"))

    def leftovers(self) -> str:
        """What of it is on the machine: filters of tc, links, firewall rules, its socket."""
        inside = ("ip", "netns", "exec", self.namespace)
        found = run(*inside, "tc", "filter", "show", "dev", self.interface, "egress", check=False)
        found += run(*inside, "bpftool", "net", "show", "dev", self.interface, check=False)
        for program in ("iptables-nft", "iptables-legacy", "ip6tables-nft", "ip6tables-legacy"):
            for table in ("security", "mangle"):
                found += run(*inside, f"{program}-save", "-t", table, check=False)
        found += run(*inside, "nft", "list", "tables", check=False)
        ours = [line for line in found.splitlines() if "meshpace" in line]
        return "\n".join([*ours, str(self.socket) if self.socket.exists() else ""]).strip()

    def __enter__(self) -> Edge:
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        if self.process is None:
            return
        if kind is None:
            self.stop()
        else:
            self.kill()
