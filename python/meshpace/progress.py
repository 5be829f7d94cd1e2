"""Progress on standard error, once the work takes longer than two seconds."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_PATIENCE_S = 2.0
_LINE_EVERY_S = 10.0
"""Between the lines where standard error is no terminal."""


class Progress:
    """Counts finished runs: a bar on a terminal, now and then a line elsewhere."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._began = self._spoke = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, share: float | None = None) -> None:
        """Tells that ``done`` runs are finished; call as often as you like.

        ``share`` is the part of this call's work that is done, where runs differ too much for their number to tell.
        """
        now = time.monotonic()
        if now - self._began < _PATIENCE_S:
            return
        if sys.stderr.isatty():
            self._draw(done, done if share is None else share * self._total)
        elif now - self._spoke >= (_PATIENCE_S if self._spoke == self._began else _LINE_EVERY_S):
            self._spoke = now
            spent = now - self._began
            left = f", {spent / share - spent:.0f} s left" if share else ""
            print(f"{self._what}: {done} of {self._total}, {spent:.0f} s{left}", file=sys.stderr, flush=True)

    def _draw(self, done: int, filled: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"), BarColumn(),
                TextColumn("{task.fields[done]} of {task.total:.0f}"), TimeElapsedColumn(), TimeRemainingColumn(),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task(self._what, total=self._total, done=done)
            self._bar.start()
        assert self._task is not None
        self._bar.update(self._task, completed=filled, done=done)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
