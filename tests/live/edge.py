"""A `meshpaced edge` in a test's namespace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

from background import Background
from net import MESHPACED, Net, run, wait_for


class Edge(Background):
    """One run of the daemon; `stop` or `kill` ends it."""

    def __init__(self, net: Net, namespace: str, interface: str, more: str = "", *, socket: Path | None = None) -> None:
        super().__init__(net.folder / f"{namespace}-edge.err")
        self.net, self.namespace, self.interface = net, namespace, interface
        self.program = MESHPACED
        self.under: list[str] = []  # a command that runs it, with its arguments
        self.socket = socket or Path(f"/run/{namespace}-edge.sock")  # a socket's path has at most 107 bytes
        self.file = net.folder / f"{namespace}-edge.toml"
        self.file.write_text(f'[edge]\nsocket = "{self.socket}"\nlisten = "off"\n{more}', encoding="utf-8")

    def words(self, command: str, *arguments: object) -> list[str]:
        """The command with its configuration file, in the namespace."""
        inside = ["ip", "netns", "exec", self.namespace]
        return [*inside, str(self.program), command, "--config", str(self.file), *map(str, arguments)]

    def start(self) -> Self:
        """Starts it and waits until it acts."""
        assert self.program.exists(), f"{self.program} is missing: make setup builds it"
        inside, words = ["ip", "netns", "exec", self.namespace], self.words("edge", "--interface", self.interface)
        before = self.launch([*inside, *self.under, *words[len(inside) :]])
        wait_for(lambda: self.lives() and "meshpaced: edge by " in self.said()[before:])
        return self

    def status(self) -> dict[str, Any]:
        """As `meshpaced edge --status --json` tells it."""
        return dict(json.loads(run(*self.words("edge", "--status", "--json"))))

    def counter(self, name: str) -> int:
        """One of its counters."""
        return int(self.status()["counters"][name])

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
