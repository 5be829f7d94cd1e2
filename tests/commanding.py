"""What tests of the command line have in common."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from meshpace import engine
from meshpace.engine import Job

Cli = Callable[..., subprocess.CompletedProcess[str]]

CHAIN = """\
[measure]
duration = "4s"
warmup = "1s"

[topology]
kind = "chain"
hops = 2

[routing]
protocol = "static"

[defaults]
scheme = "newreno"

[[flow]]
from = "n0"
to = "n2"
"""


def wait_until_simulating(process: subprocess.Popen[str], seconds: float = 60.0) -> None:
    """Waits until the engine is loaded and has computed for half a second; starting Python takes a while."""
    end, loaded_at = time.monotonic() + seconds, None
    while True:
        assert process.poll() is None, "it has ended"
        if loaded_at is None and "_engine" in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8"):
            loaded_at = _cpu_seconds(process.pid)
        if loaded_at is not None and _cpu_seconds(process.pid) > loaded_at + 0.5:
            return
        assert time.monotonic() < end, "it does not come to simulate"
        time.sleep(0.05)


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process and its threads (proc(5), fields 14 and 15 of stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def taken(job: Job) -> dict[str, Any]:
    """The scenario that the engine makes of a job; it is about the job's scheme and has all that the job sets."""
    resolved = engine.resolve(job)
    if job.scheme is not None:
        assert job.scheme in {flow["scheme"] for flow in resolved["flows"]}, job.command()
    assert resolved["seed"] == job.seed, job.command()
    assert set(job.overrides) <= set(resolved["overrides"]), job.command()
    return resolved
