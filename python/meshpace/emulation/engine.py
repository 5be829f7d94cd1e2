"""The engine in a process of its own, which becomes a real-time one. When it ends, its devices go with it.

    python -m meshpace.emulation.engine ORDER.json RESULT.json

It prints ``ready`` once the devices are there, and begins at the first byte of standard input. It prints ``over``
when the emulated time is over, and ends at the end of standard input. The result is in its file then.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from meshpace.emulation.record import EmulationError, Host
from meshpace.engine import Job

_GOES = b"!"
_ENDING_S = 20.0


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be emulated."""

    job: Job
    hosts: tuple[Host, ...]
    dilation: float
    capture: Path | None
    view: int | None = None
    """A descriptor of the engine's process to which lines for a live view go."""

    def write(self, path: Path) -> None:
        """Writes it down for the engine's process."""
        job = self.job
        order = {
            "name": job.name,
            "text": job.text.decode("utf-8", errors="surrogateescape"),
            "overrides": job.overrides,
            "scheme": job.scheme,
            "seed": job.seed,
            "hosts": [(host.node, host.namespace, host.radios > 0) for host in self.hosts],
            "dilation": self.dilation,
            "capture": None if self.capture is None else str(self.capture),
            "view": None if self.view is None else f"/dev/fd/{self.view}",
        }
        path.write_text(json.dumps(order), encoding="utf-8")


class Engine:
    """The engine's process, seen from outside."""

    def __init__(self, order: Path, result: Path, descriptors: Sequence[int] = ()) -> None:
        self._result = result
        self._over = False
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(order), str(result)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=descriptors,
            start_new_session=True,  # Ctrl-C is for the one who waits for it
        )

    def wait_until_ready(self) -> None:
        """Returns when the devices are there.

        Raises:
            EmulationError: they cannot be made.
        """
        if not self._says(b"ready\n"):
            raise EmulationError(self._complaint())

    def begin(self) -> None:
        """Time 0 is now."""
        _pipe(self.process.stdin).write(_GOES)

    def is_over(self, before: float | None) -> bool:
        """True when time has come to its end, false if it has not before that time by the clock.

        Raises:
            EmulationError: it has failed.
        """
        if self._over:
            return True
        patience = None if before is None else max(0.0, before - time.monotonic())
        if not select.select([_pipe(self.process.stdout)], [], [], patience)[0]:
            return False
        if not self._says(b"over\n"):
            raise EmulationError(self._complaint())
        self._over = True
        return True

    def _says(self, word: bytes) -> bool:
        return _pipe(self.process.stdout).readline() == word

    def result(self) -> dict[str, Any]:
        """The result, once the emulation is over; the devices are removed.

        Raises:
            EmulationError: it has failed.
        """
        _pipe(self.process.stdin).close()
        if self.process.wait() != 0:
            raise EmulationError(self._complaint())
        result: dict[str, Any] = json.loads(self._result.read_text(encoding="utf-8"))
        return result

    def stop(self) -> None:
        """Ends it, by force if need be."""
        try:
            self.process.communicate(timeout=_ENDING_S)
        except (subprocess.TimeoutExpired, ValueError):
            self.process.kill()
            self.process.wait()

    def _complaint(self) -> str:
        said = _pipe(self.process.stderr).read().decode("utf-8", errors="replace").strip()
        status = self.process.wait()
        return said or f"the engine ended with status {status}"


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None, "it is a pipe"
    return end


def _main() -> int:
    from meshpace import _engine

    order: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    text = order["text"].encode("utf-8", errors="surrogateescape")
    job = (order["name"], text, order["overrides"], order["scheme"], order["seed"])
    hosts = [(node, namespace, frames) for node, namespace, frames in order["hosts"]]

    viewed = {} if order["view"] is None else {"view": order["view"]}

    def tell(stage: str) -> None:
        os.write(1, f"{stage}\n".encode())

    try:
        result = _engine.emulate(job, hosts, order["dilation"], order["capture"], tell, **viewed)
        Path(sys.argv[2]).write_text(result, encoding="utf-8")
    except (_engine.ScenarioError, OSError, ValueError) as error:
        print(" ".join(str(error).splitlines()), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(_main())
