"""A command that runs beside a test."""

from __future__ import annotations

import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from clock import PATIENCE_S


class Background(ABC):
    """One run of it at a time; `stop` or `kill` ends it."""

    def __init__(self, errors: Path) -> None:
        self.errors = errors
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def start(self) -> Self:
        """Starts it and waits until it acts."""

    def launch(self, words: Sequence[str | Path]) -> int:
        """Starts this command; the length of what it had printed before."""
        with self.errors.open("ab") as errors:
            before = errors.tell()
            self.process = subprocess.Popen(words, stderr=errors, stdout=errors)
        return before

    def lives(self) -> bool:
        """True; fails the test if it has ended."""
        assert self.process is not None
        assert self.process.poll() is None, f"it ended: {self.said()}"
        return True

    def said(self) -> str:
        """What it printed."""
        return self.errors.read_text(encoding="utf-8", errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def stop(self) -> None:
        """SIGTERM; it must end in good order."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=PATIENCE_S) == 0, self.said()
        self.process = None

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=PATIENCE_S)
        self.process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: object, *_: object) -> None:
        if self.process is None:
            return
        if kind is None:
            self.stop()
        else:
            self.kill()
