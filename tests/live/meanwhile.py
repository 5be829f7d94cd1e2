"""Threads of a test or a bench that run beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def meanwhile(over: threading.Event, *works: Callable[[], None]) -> Iterator[None]:
    """Each in a thread of its own, until `over` is set in the end: they look at it."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
