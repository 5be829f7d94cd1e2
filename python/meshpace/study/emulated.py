"""Runs of studies that real hosts make: ``meshpace emulate`` in a process of its own, again where it was late.

Their results belong to this machine and time: no two have the same bytes. A run is stored with its verdict on
lateness, with the machine, and with how often it was made.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from meshpace.emulation.record import EmulationError
from meshpace.engine import Job
from meshpace.study.model import Study
from meshpace.study.record import Record, StoppedError, key_of, of_result
from meshpace.study.registry import ALL
from meshpace.study.runner import Task
from meshpace.study.store import Store

ATTEMPTS = 3
"""A run that failed or was late is made again, so often in all; the last one counts, whatever its verdict."""
_POLL_S = 0.2
_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def lacks() -> str:
    """Why real hosts cannot be had here; empty if they can."""
    if os.geteuid() != 0:
        return f"needs root: network namespaces and TUN devices; this is user {os.geteuid()}"
    if not Path("/dev/net/tun").exists():
        return "needs /dev/net/tun (modprobe tun)"
    if shutil.which("ip") is None:
        return "needs ip (Debian: iproute2)"
    unknown = {"reno", "cubic"} - set(_CONTROLS.read_text(encoding="ascii").split())
    return f"needs TCP {' and '.join(sorted(unknown))} in the kernel (modprobe tcp_NAME)" if unknown else ""


def makeable(
    studies: Sequence[Study], names: Sequence[str], wanted: Iterable[Task], store: Store
) -> tuple[tuple[Study, ...], str]:
    """Those of the studies that can be made here, and what is to be said of the others.

    A request for all studies leaves out those that real hosts make.

    Raises:
        EmulationError: a run that is asked for by name cannot be made.
    """
    lacking = any(task.job.emulated and task.key not in store for task in wanted)
    reason = lacks() if lacking else ""
    if not reason:
        return tuple(studies), ""
    left_out = " ".join(study.name for study in studies if study.hosts is not None)
    if ALL not in names:
        raise EmulationError(f"{left_out}: {reason}")
    return tuple(study for study in studies if study.hosts is None), f"left out: {left_out}: {reason}"


def emulate(job: Job, stop: threading.Event | None = None) -> Record:
    """Emulates a job until it succeeds and is in time, at most :data:`ATTEMPTS` times.

    On a busy machine a server may not be up when its client calls, as little as a packet be in time.

    Raises:
        EmulationError: it cannot be emulated here, or a command on a host failed.
        StoppedError: ``stop`` was set before the end.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            result = _once(job, stop)
        except EmulationError:
            if attempt == ATTEMPTS:
                raise
            continue
        if result["lateness"]["valid"] or attempt == ATTEMPTS:
            result["attempts"] = attempt
            return of_result(job, json.dumps(result))
    raise AssertionError("the last attempt returns")


def _once(job: Job, stop: threading.Event | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="meshpace-") as folder:
        scenario = Path(folder, Path(job.name).name)
        scenario.write_bytes(job.text)
        sets = [word for assignment in job.overrides for word in ("--set", assignment)]
        # No other process has this name, and no other run of this one.
        name = f"s{os.getpid()}-{key_of(job)[:8]}"
        words = ["emulate", str(scenario), *sets, "--seed", str(job.seed), "--json", "--name", name]
        # Of this process's group: Ctrl-C is for it, too, and it removes what it has made.
        process = subprocess.Popen(
            [sys.executable, "-m", "meshpace", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        out, err = _ended(process, stop)
    if process.returncode != 0:
        raise EmulationError(f"{job.command()}: {' '.join(err.splitlines()) or f'status {process.returncode}'}")
    result: dict[str, Any] = json.loads(out)
    return result


def _ended(process: subprocess.Popen[str], stop: threading.Event | None) -> tuple[str, str]:
    while True:
        try:
            return process.communicate(timeout=_POLL_S)
        except subprocess.TimeoutExpired:
            if stop is not None and stop.is_set():
                process.terminate()
                process.communicate()
                raise StoppedError from None
