"""Runs one child process and measures it: wall time and CPU time, or peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class ToolError(Exception):
    """A tool is missing, did not build, or ended with an error; the message says which and what helps."""


@dataclass(frozen=True)
class Finished:
    """What a child process cost and said."""

    output: str
    wall_s: float
    cpu_s: float


def run(command: Sequence[str | Path], timeout_s: float = 3600) -> Finished:
    """Runs a command to its end.

    Raises ToolError if it cannot start, ends with another status than 0, or exceeds the time limit.
    """
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as problem:
            raise ToolError(f"cannot run {words[0]}: {problem.strerror}") from problem
        guard = threading.Timer(timeout_s, child.kill)
        guard.start()
        try:
            # wait4 gives the resources of this child alone; RUSAGE_CHILDREN mixes it with all earlier ones.
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        finally:
            guard.cancel()
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            last = err.read().decode(errors="replace").strip().splitlines()[-5:]
            late = f" (time limit {timeout_s:g} s)" if wall >= timeout_s else ""
            raise ToolError(f"{' '.join(words)}: status {child.returncode}{late}\n  " + "\n  ".join(last))
        text = out.read().decode(errors="replace")
    return Finished(text, wall, usage.ru_utime + usage.ru_stime)


# Linux lets a child inherit the peak of who starts it: this one is an interpreter that has imported next to nothing.
_STARTER = """
import os, sys
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def peak_bytes(command: Sequence[str | Path]) -> int:
    """The peak of a command's resident memory.

    Raises ToolError as :func:`run`.
    """
    return int(run([sys.executable, "-I", "-S", "-c", _STARTER, *command]).output.split()[-1]) * 1024
