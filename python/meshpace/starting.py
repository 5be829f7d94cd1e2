"""Ctrl-C while a command starts: Python's own answer would be a traceback through half-loaded modules.

The command loads this before anything else, so it imports next to nothing: of :mod:`signal` the half in C, since the
other one makes enumerations first.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
"""The exit status of what Ctrl-C ended: 128 and SIGINT's number, as shells have it (POSIX.1-2017, XCU 2.8.2)."""


def ends_at_once() -> None:
    """From here to :func:`interruptible` Ctrl-C ends the process: nothing is begun that would have to be undone.

    A process whose SIGINT is ignored, as a shell's background job, or somebody else's matter keeps that.
    """
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)


def interruptible() -> None:
    """From here on Ctrl-C is a :class:`KeyboardInterrupt` again: the command ends what it has begun."""
    if _signal.getsignal(_signal.SIGINT) is _end:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
