"""Errors as one line on standard error and an exit status."""

from __future__ import annotations

import os
import sys

from meshpace.errors import MendableError
from meshpace.starting import INTERRUPTED, interruptible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, ParamSpec

    _P = ParamSpec("_P")

BAD_INPUT = 2


class InputError(MendableError):
    """The command line asks for something that cannot be done."""


def fail(message: object) -> NoReturn:
    """Ends with exit status 2 and ``message`` on one line of standard error."""
    print(" ".join(str(message).splitlines()), file=sys.stderr)
    raise SystemExit(BAD_INPUT)


def reports_failure(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turns what a user can cause and mend into :func:`fail`; everything else stays a traceback."""

    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            interruptible()
            if sys.stdout is None:
                fail("standard output is closed; allowed: a file, a pipe, a terminal")
            command(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt:
            _end_interrupted()
        except BrokenPipeError:
            # The reader of the output has seen enough; keep the interpreter from flushing into the closed pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(0) from None
        except _mendable() as error:
            fail(error)
        except OSError as error:
            fail(f"{error.filename}: {error.strerror}" if error.filename else error)
        except RuntimeError as error:
            if not _is_interrupt(error):
                raise
            _end_interrupted()

    # As functools.wraps, whose module takes as long to load as all else here.
    wrapped.__module__, wrapped.__name__, wrapped.__doc__ = command.__module__, command.__name__, command.__doc__
    wrapped.__wrapped__ = command  # type: ignore[attr-defined]
    return wrapped


def _end_interrupted() -> NoReturn:
    """Ends as Ctrl-C does."""
    print("interrupted", file=sys.stderr)
    raise SystemExit(INTERRUPTED) from None


def _is_interrupt(error: RuntimeError) -> bool:
    """Whether Ctrl-C came while a lock was waited for: ``threading`` then releases what it does not hold yet."""
    cause = error.__context__
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__context__
    return cause is not None


def _mendable() -> tuple[type[Exception], ...]:
    """What a user can mend. Where the engine is not loaded, nothing was raised by it."""
    engine = sys.modules.get("meshpace._engine")
    return (MendableError, engine.ScenarioError) if engine else (MendableError,)
