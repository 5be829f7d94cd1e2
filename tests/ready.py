"""The command line with its modules loaded: a process that forks for each command of a test.

A command loads modules for 0.1 s of processor time, one of studies for 0.7 s, and tests run a thousand commands. From
its first line on a command's process is its own: folder, environment, arguments, output, end. What depends on the
start itself (tests/test_start.py), on signals or on a terminal starts a Python of its own.

Memory is shared until somebody writes to it, and counting references is writing. So what is loaded is put beyond the
garbage collector's reach, and a command that has ended is not taken apart: that would copy most of it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NoReturn

_LOADED = (
    "meshpace.advice.command",
    "meshpace.cli.judge",
    "meshpace.cli.lists",
    "meshpace.cli.simulate",
    "meshpace.cli.terminal",
    "meshpace.engine",
    "meshpace.meshes.read",
    "meshpace.meshes.write",
    "meshpace.report.command",
    "meshpace.study.command",
    "meshpace.study.listing",
    "meshpace.study.registry",
    "meshpace.sweeps.command",
    "meshpace.sweeps.compare",
)
_PATIENCE_S = 120.0


class Ready:
    """The process that forks, of which each of xdist's has one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, words: list[str], folder: Path, timeout: float = _PATIENCE_S) -> subprocess.CompletedProcess[str]:
        """Runs ``meshpace`` with these words in a folder.

        Raises:
            subprocess.TimeoutExpired: it has not ended in time; it is killed.
        """
        if self._process is None:
            self._start()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            asked = {"words": words, "folder": str(folder), "environment": dict(os.environ)}
            socket.send_fds(self._socket, [b"files"], [out.fileno(), err.fileno()])
            self._lines.write(json.dumps(asked) + "\n")
            self._lines.flush()
            self._socket.settimeout(timeout)
            try:
                status = json.loads(self._lines.readline())
            except TimeoutError:
                self.end()
                raise subprocess.TimeoutExpired(words, timeout) from None
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode().replace("\r\n", "\n"))
        return subprocess.CompletedProcess(["meshpace", *words], status, *texts)

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._lines = self._socket.makefile("rw", encoding="utf-8")
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def end(self) -> None:
        """Ends it, and whatever it is running."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._lines.close()
            self._socket.close()
            self._process = None


def _next_command(ours: socket.socket) -> list[str]:
    """Forks for one command after another, and returns in the process of each; ends when nobody asks any more."""
    while True:
        _, files, _, _ = socket.recv_fds(ours, 5, 2)
        if not files:
            os._exit(0)
        asked: dict[str, Any] = json.loads(_line(ours))
        child = os.fork()
        if child == 0:
            ours.close()
            for file, target in zip(files, (1, 2), strict=True):
                os.dup2(file, target)
                os.close(file)
            os.chdir(asked["folder"])
            os.environ.clear()
            os.environ.update(asked["environment"])
            words: list[str] = asked["words"]
            return words
        for file in files:
            os.close(file)
        _, ended = os.waitpid(child, 0)
        ours.sendall(b"%d\n" % os.waitstatus_to_exitcode(ended))


def _line(ours: socket.socket) -> bytes:
    """What comes up to the end of a line."""
    got = b""
    while not got.endswith(b"\n"):
        got += ours.recv(1 << 16)
    return got


def _end(status: object) -> NoReturn:
    """Ends as Python does at its last line, but for freeing what is loaded."""
    if not isinstance(status, int | None):
        print(status, file=sys.stderr)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are not daemons
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status or 0)


if __name__ == "__main__":
    import gc
    import importlib

    import meshpace.__main__

    for name in _LOADED:
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        sys.argv = [meshpace.__main__.__file__, *_next_command(listening)]
    sys.path[0] = str(Path.cwd())  # as `python -m` has it
    try:
        meshpace.__main__.main()
    except SystemExit as exit_:
        _end(exit_.code)
    _end(None)
