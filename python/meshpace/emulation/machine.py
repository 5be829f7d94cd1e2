"""What an emulation ran on: its results are that machine's, at that time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    """The kernel whose TCP it was, the processors that this process may use, and how many threads wanted to run."""
    return {
        "kernel": os.uname().release,
        "processor": _model(),
        "processors": len(os.sched_getaffinity(0)),
        "load_1min": os.getloadavg()[0],
    }


def _model() -> str | None:
    """The processor's name; None where the kernel gives it none (proc_cpuinfo(5))."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)
