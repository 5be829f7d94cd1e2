"""Calm in this machine's kernel: one test at a time has it, whichever process it is of."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from net import MESHPACED

LOCK = Path("/run/lock/meshpace-calm")
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def why_not() -> str | None:
    """What keeps a kernel's congestion control from being tried here."""
    if os.geteuid() != 0:
        return "needs root: a congestion control of the kernel"
    if not Path("/sys/kernel/btf/vmlinux").exists():
        return "needs a kernel with BTF"
    return None


def congestion(*words: object, status: int = 0, meshpaced: Path = MESHPACED) -> str:
    """`meshpaced congestion`, and what it says."""
    called = [str(meshpaced), "congestion", *map(str, words)]
    done = subprocess.run(called, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, (called, done)
    return done.stdout + done.stderr


def report() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(congestion("status", "--json"))
    assert found["schema"] == 1
    return found


@contextmanager
def alone(meshpaced: Path = MESHPACED) -> Iterator[None]:
    """Nobody else has it meanwhile, and it is gone afterwards."""
    if why := why_not():
        pytest.skip(why)
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        congestion("undo", meshpaced=meshpaced)
        try:
            yield
        finally:
            congestion("undo", meshpaced=meshpaced)


def programs() -> list[str]:
    """Names of our programs in the kernel."""
    shown = subprocess.run(["bpftool", "-j", "prog", "list"], capture_output=True, check=True)
    names = [program.get("name", "") for program in json.loads(shown.stdout)]
    return [name for name in names if name.startswith("calm_")]
