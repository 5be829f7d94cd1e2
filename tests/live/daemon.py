"""A `meshpaced gateway` in a test's namespace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Self

from background import Background
from control import ask
from net import MESHPACED, Net, wait_for

CONFIG = """\
mode = "{mode}"
{top}
[mesh]
interfaces = ["mesh0"]
rate = "{rate}"

[hops]
sources = []
default = {hops}

[guard]
on = {guard}

[control]
socket = "{socket}"
{more}
"""


class Daemon(Background):
    """One run of the daemon; `stop` or `kill` ends it."""

    def __init__(
        self,
        net: Net,
        mode: str = "pace",
        *,
        hops: int = 4,
        rate: str = "11Mbps",
        top: str = "",
        more: str = "",
        guard: str = "false",
        program: Path = MESHPACED,
    ) -> None:
        stem = net.folder / net.gw
        super().__init__(stem.with_suffix(".err"))
        self.net = net
        self.program = program
        self.file = stem.with_suffix(".toml")
        self.socket = Path(f"/run/{net.gw}.sock")  # a socket's path has at most 107 bytes
        self.keys: dict[str, Any] = {"hops": hops, "rate": rate, "top": top, "more": more, "guard": guard}
        self.under: list[str] = []  # a command that runs it, with its arguments
        self.write(mode)

    def write(self, mode: str, **keys: Any) -> None:
        """Writes the configuration file; what is not given stays as it was."""
        self.keys.update(keys)
        self.file.write_text(CONFIG.format(mode=mode, socket=self.socket, **self.keys), encoding="utf-8")

    def start(self) -> Self:
        """Starts it and waits until it serves."""
        assert self.program.exists(), f"{self.program} is missing: make setup builds it"
        words = ["ip", "netns", "exec", self.net.gw, *self.under, self.program, "gateway", "--config", self.file]
        before = self.launch(words)
        # The socket answers before the rules are there; the line comes after.
        wait_for(lambda: self.serves() and re.search(" (on queue|by eBPF on) ", self.said()[before:]))
        return self

    def serves(self) -> bool:
        """True if it answers; fails the test if it has ended."""
        self.lives()
        try:
            return "status" in self.ask("status")
        except (ConnectionError, FileNotFoundError):
            return False

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """One question over the control socket."""
        return ask(self.socket, command, **arguments)

    def status(self) -> dict[str, Any]:
        """The daemon as a whole. While its data thread is slower than an answer waits, it says so instead."""
        return dict(wait_for(lambda: self.ask("status").get("status")))

    def flows(self) -> list[dict[str, Any]]:
        """All flows."""
        return list(self.ask("flows")["flows"]["list"])

    def flow(self, *ports: int) -> dict[str, Any]:
        """The only flow with that port at either end, or with both: of many flows another may have one of them, too."""

        def ends(flow: dict[str, Any]) -> set[int]:
            return {int(flow[side].rpartition(":")[2]) for side in ("wired", "wireless")}

        # What the daemon lists is a tenth of a second old at most: a connection that is younger may not be in it yet.
        found = wait_for(lambda: [flow for flow in self.flows() if ends(flow).issuperset(ports)])
        assert len(found) == 1, found
        return dict(found[0])

    def reload(self) -> str:
        """Makes it read its file again."""
        answer = self.ask("reload")
        assert "done" in answer, answer
        return str(answer["done"])
