"""The latest lines of the engine, for any number of lookers-on, none of whom can hold up another one or the engine."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping, Sequence

_KEPT = 20
"""Lines, two seconds of them. A reader that falls farther behind misses some, and sees that by their times."""


class Hub:
    """Takes lines from one thread and gives them to others."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: deque[bytes] = deque(maxlen=_KEPT)
        self._count = 0
        self._routes = (0, b"")
        self._last: bytes | None = None
        self._watching = 0

    def publish(self, line: bytes) -> None:
        """A line has come."""
        with self._changed:
            self._lines.append(line)
            self._count += 1
            self._changed.notify_all()

    def tell_routes(self, routes: Mapping[str, object]) -> None:
        """Routes are others: pairs of a node and the next one, by where they lead."""
        with self._changed:
            self._routes = (self._routes[0] + 1, json.dumps(routes).encode())

    def routes(self, number: int) -> tuple[int, bytes] | None:
        """Them and how often they have been told; None: no more than so often."""
        with self._changed:
            return self._routes if self._routes[0] > number else None

    def over(self, words: Sequence[str]) -> None:
        """No line comes any more; ``words`` say why. Only the first call counts."""
        with self._changed:
            if self._last is None:
                self._last = json.dumps({"words": list(words)}).encode()
            self._changed.notify_all()

    def after(self, number: int, patience: float) -> tuple[int, list[bytes], bytes | None]:
        """Lines behind the first ``number`` that are still kept: up to which number, the lines, and the last word.

        Waits for a line, or the last word, so many seconds.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._count > number or self._last is not None, patience)
            fresh = min(self._count - number, len(self._lines))
            return self._count, list(self._lines)[len(self._lines) - fresh :], self._last

    @property
    def count(self) -> int:
        """Lines so far."""
        with self._changed:
            return self._count

    def enter(self, most: int) -> bool:
        """A viewer begins to look on; false if there are too many."""
        with self._changed:
            if self._watching >= most:
                return False
            self._watching += 1
            return True

    def leave(self) -> None:
        """A viewer goes."""
        with self._changed:
            self._watching -= 1
            self._changed.notify_all()

    def wait_until_left(self, patience: float) -> None:
        """Until no viewer is left, or for so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._watching == 0, patience)
