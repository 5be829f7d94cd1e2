"""Starts what stands in the gateway's data path, and tells what it costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from process import ToolError

from .network import GATEWAY, QUEUE, Network, on

TICK = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 20.0


@dataclass(frozen=True)
class Lateness:
    """How late departures were, as the daemon counts them in classes: upper ends of the classes."""

    departures: int
    p50_s: float | None
    p99_s: float | None
    max_s: float | None


class Daemon:
    """A process in the gateway's namespace, on its processor; stopped on leaving."""

    def __init__(self, network: Network, words: list[str | Path], directory: Path) -> None:
        self.network, self.words, self.directory = network, words, directory
        self.log = directory / "daemon.log"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self.log.open("wb") as log:
            command = self.network.within("gw", *on(GATEWAY, ["chrt", "-o", "0", *(str(word) for word in self.words)]))
            # These commands replace themselves: the child is the daemon. It asks for real-time scheduling by itself.
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE_S
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > end:
                self.__exit__(None, None, None)
                said = self.log.read_text(errors="replace")[-2000:]
                raise ToolError(f"{' '.join(map(str, self.words))} did not start\n{said}")
            time.sleep(0.05)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ready(self) -> bool:
        """True when it has bound its queue."""
        return self.network.queued() is not None

    def check(self) -> None:
        """Raises ToolError unless packets went through it."""
        if not self.network.queued():
            raise ToolError("no packet was queued: nothing was measured")

    def cpu_s(self) -> float:
        """Processor time used so far, user and kernel (proc_pid_stat(5), fields 14 and 15)."""
        fields = self._proc("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def resident_bytes(self) -> int:
        """Memory that it occupies."""
        for line in self._proc("status").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise ToolError("the daemon has no VmRSS")

    def _proc(self, name: str) -> str:
        assert self.process is not None
        try:
            return Path(f"/proc/{self.process.pid}/{name}").read_text(encoding="utf-8", errors="replace")
        except OSError as problem:
            said = self.log.read_text(errors="replace")[-2000:]
            raise ToolError(f"the daemon has ended: {problem}\n{said}") from problem


class Accept(Daemon):
    """A program that accepts every packet: the cost of the queue alone."""

    def __init__(self, network: Network, binary: Path, directory: Path) -> None:
        network.queue_rule()
        super().__init__(network, [binary, str(QUEUE)], directory)


class Meshpaced(Daemon):
    """`meshpaced gateway` with a configuration."""

    def __init__(self, network: Network, binary: Path, directory: Path, config: str, queueing: str = "") -> None:
        self.socket = directory / "control.sock"
        self.binary = binary
        file = directory / "meshpaced.toml"
        tail = f"""
[control]
socket = "{self.socket}"
[metrics]
listen = "off"
[nfqueue]
queue = {QUEUE}
{queueing}"""
        file.write_text(config + tail, encoding="utf-8")
        super().__init__(network, [binary, "gateway", "--config", file], directory)

    def ready(self) -> bool:
        """True when its rules stand; it answers before, by a second where the machine is busy."""
        return any(line in self.log.read_text(errors="replace") for line in (" on queue ", " by eBPF on "))

    def status(self) -> dict[str, Any]:
        """What `meshpaced status --json` says."""
        words = [str(self.binary), "status", "--json", "--socket", str(self.socket)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolError(f"{' '.join(words)}: {done.stderr.strip()}")
        answer: dict[str, Any] = json.loads(done.stdout)["status"]
        return answer

    def check(self) -> None:
        """The packets went through it, and it did not fail on any."""
        traffic = self.status()["traffic"]
        if traffic["packets"] == 0 or traffic["failed"] > 0:
            raise ToolError(f"{traffic['packets']} packets, {traffic['failed']} that failed: nothing was measured")

    def lateness(self) -> Lateness:
        """Of the departures so far."""
        return Lateness(**self.status()["lateness"])
