"""Ctrl-C while a command starts: Python's own answer would be a traceback through half-loaded modules.

The entry point loads this before anything else, so it imports next to nothing.
"""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130
"""The exit status of what Ctrl-C ended: 128 and SIGINT's number, as shells have it (POSIX.1-2017, XCU 2.8.2)."""


def ends_at_once() -> None:
    """From here to :func:`interruptible` Ctrl-C ends the process: nothing is begun that would have to be undone.

    A process whose SIGINT is ignored, as a shell's background job, or somebody else's matter keeps that.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def interruptible() -> None:
    """From here on Ctrl-C is a :class:`KeyboardInterrupt` again: the command ends what it has begun."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
