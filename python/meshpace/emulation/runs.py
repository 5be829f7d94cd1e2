"""The commands of the scenario on their hosts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from meshpace.emulation.engine import Engine
from meshpace.emulation.namespaces import within
from meshpace.emulation.record import Host

_PATIENCE_S = 1.0
"""Other commands wait for a server to listen for no longer than this."""
_LISTEN = "0A"
"""A socket's state in /proc/net/tcp (TCP_LISTEN, include/net/tcp_states.h)."""


@dataclass(slots=True)
class Run:
    """A command on a host."""

    host: Host
    command: str
    start_s: float
    collect: str
    """``no``, ``output`` or ``iperf3``."""
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    process_killed: bool = field(default=False, init=False)
    output: Path | None = field(default=None, init=False)

    def begin(self, output: Path, zero: float) -> None:
        """Starts it. Output that is not collected goes to our standard error, as its errors do.

        An iperf3 server's does not: its forty lines a test say what its client says, too.
        """
        words = within(self.host, ["/bin/sh", "-c", self.command])
        environment = {**os.environ, "MESHPACE_NODE": self.host.node, "MESHPACE_ZERO": f"{zero:.9f}"}
        if self.collect == "no":
            target = subprocess.DEVNULL if _is_server(self.command) else sys.stderr.fileno()
            self.process = self._start(words, environment, target)
            return
        self.output = output
        with output.open("wb") as target:
            self.process = self._start(words, environment, target.fileno())

    def _start(self, words: list[str], environment: dict[str, str], output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, env=environment, start_new_session=True)

    @property
    def serves(self) -> bool:
        """Whether it starts an iperf3 server."""
        return _SERVER.search(self.command) is not None

    def wait_until_it_listens(self) -> None:
        """Returns when a server on its host does, or it has ended, or there is none for long."""
        end = time.monotonic() + _PATIENCE_S
        while self.process is not None and self.process.poll() is None and time.monotonic() < end:
            if _listens(self.process.pid, Path("/run/netns", self.host.namespace)):
                return
            time.sleep(0.01)

    def end(self) -> None:
        """Kills what still runs of it."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process_killed = True
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def status(self) -> int | None:
        """Its exit status; None if it was not started, or ran on to the end."""
        return None if self.process is None or self.process_killed else self.process.poll()

    def text(self) -> str | None:
        """What was collected; None if nothing was to be."""
        if self.output is None:
            return None
        return self.output.read_text(encoding="utf-8", errors="replace")

    def row(self) -> dict[str, Any]:
        """The run in the result."""
        return {
            "node": self.host.node,
            "run": self.command,
            "start_s": self.start_s,
            "collect": self.collect,
            "exit_status": self.status,
            "output": self.text() if self.collect == "output" else None,
        }


_SERVER = re.compile(r"(?:^|[\s;&|])(?:\S*/)?iperf3\s(?:[^;&|]*\s)?(?:-[A-Za-z0-9]*s|--server)(?=\s|$|[;&|])")


def _is_server(command: str) -> bool:
    """Whether it starts iperf3's server and says nowhere else what is to become of its output."""
    return ">" not in command and _SERVER.search(command) is not None


def _listens(process: int, namespace: Path) -> bool:
    """Whether a TCP socket listens in the network namespace of a process, once it is in the one that is meant."""
    at = Path("/proc", str(process))
    with suppress(OSError):
        if (at / "ns" / "net").stat().st_ino != namespace.stat().st_ino:
            return False
        rows = [row.split() for table in ("tcp", "tcp6") for row in (at / "net" / table).read_text().splitlines()[1:]]
        return any(row[3] == _LISTEN for row in rows)
    return False


def start_ordinary_from_now_on() -> None:
    """What this thread starts from now on is scheduled as ordinary programs are, even if it is not itself.

    ``chrt -f 50 meshpace emulate`` is how one asks for the engine's priority and for a session that starts commands on
    time. Programs on hosts that had it, too, would take the processor from the kernel's own threads, whose packets they
    wait for, and from the engine, as soon as one of them does not sleep (sched(7), SCHED_RESET_ON_FORK: a child of a
    real-time thread is SCHED_OTHER, of one with a negative nice value nice 0).
    """
    policy = os.sched_getscheduler(0) | os.SCHED_RESET_ON_FORK
    os.sched_setscheduler(0, policy, os.sched_getparam(0))


def run_all(runs: Iterable[Run], folder: Path, zero: float, dilation: float, engine: Engine) -> None:
    """Starts every run when its time has come, or at once if it is over, and kills what still runs at the end of time.

    ``zero`` is time 0 by the clock. Of several at one time the iperf3 servers begin first, and the others when these
    listen: a client that comes before its server ends at once. Runs have ordinary priority, whatever ours is.

    Raises:
        EmulationError: the engine has failed.
    """
    start_ordinary_from_now_on()
    waiting = sorted(runs, key=lambda run: (run.start_s, not run.serves))
    servers: list[Run] = []
    for number, run in enumerate(waiting):
        if engine.is_over(zero + dilation * run.start_s):
            break
        while servers and not run.serves:
            servers.pop().wait_until_it_listens()
        run.begin(folder / f"output-{number}", zero)
        servers += [run] if run.serves else []
    else:
        engine.is_over(None)
    # While the devices are still there: without them commands would fail that have not.
    for run in waiting:
        run.end()
