"""A `meshpaced gateway` for an hour: 10,000 connections come and go while it is reloaded, killed, stopped, flooded.

    soak_gateway.py --seconds 3600 --connections 10000 --seed 1      (root; part of `make soak`)

No connection may be lost, and the daemon's memory must be flat. In the first half other processes take its place now
and then, killed or ended; in the second one process lives through everything else, and its memory is judged: behind its
first third, the median of the later half is at most 5 % and 2 MiB above that of the earlier one. What is random follows
the seed; when it happens is the machine's affair.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daemon import Daemon
from faults import PLACES, Faults
from net import Delays, Net

MIB = 1 << 20
CLIENTS = 64
"""Mesh hosts, at most."""
A_PROCESS = 3_000
"""Connections of a process: two files each, of 20,000 that are allowed here."""
JUDGED_S = 900.0
"""Memory of a process is judged from five of its `gap_idle` (180 s) on: a younger one still fills its tables."""
MEAN_GAP_S = 12.0
LAST_WORDS_S = 900.0


@dataclass(frozen=True)
class Sample:
    """What a process of the daemon's takes, at one moment."""

    at: float
    pid: int
    bytes: int
    files: int


def sample(pid: int) -> Sample | None:
    """Of this process, unless it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
        resident = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))
        return Sample(time.monotonic(), pid, resident, len(list(Path(f"/proc/{pid}/fd").iterdir())))
    except (OSError, StopIteration):
        return None


def growth(samples: Sequence[Sample]) -> tuple[float, float]:
    """The median memory of the middle and of the last third of a process's life."""
    third = (samples[-1].at - samples[0].at) / 3
    middle = [s.bytes for s in samples if third <= s.at - samples[0].at < 2 * third]
    last = [s.bytes for s in samples if s.at - samples[0].at >= 2 * third]
    return statistics.median(middle), statistics.median(last)


def flat(samples: Sequence[Sample]) -> bool:
    """Whether it stays what it was."""
    earlier, later = growth(samples)
    return later <= earlier * 1.05 + 2 * MIB


def lives(samples: Sequence[Sample]) -> Iterator[list[Sample]]:
    """Process by process."""
    for pid in dict.fromkeys(s.pid for s in samples):
        yield [s for s in samples if s.pid == pid]


class Crowds:
    """Processes with connections; what they last said of themselves."""

    def __init__(self, net: Net, connections: int, seed: int) -> None:
        self.last: dict[int, dict[str, Any]] = {}
        self.processes: list[subprocess.Popen[str]] = []
        self._readers: list[threading.Thread] = []
        program = Path(__file__).with_name("crowd.py")
        count = -(-connections // A_PROCESS)
        for number in range(count):
            share = connections // count + (number < connections % count)
            words = ["--connections", share, "--clients", net.clients, "--seed", seed * 100 + number]
            process = subprocess.Popen(
                [sys.executable, str(program), net.srv, net.cli, *map(str, words)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.processes.append(process)
            reader = threading.Thread(target=self._read, args=(number, process), daemon=True)
            reader.start()
            self._readers.append(reader)

    def _read(self, number: int, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.last[number] = json.loads(line)

    def total(self, what: str) -> Any:
        """Of all of them."""
        return sum(counts[what] for counts in self.last.values())

    def losses(self) -> list[str]:
        """Connections that did not end as they should, and why."""
        return [loss for counts in self.last.values() for loss in counts["losses"]]

    def longest_wait_s(self) -> float:
        """For an answer to a word, to a call or to a farewell."""
        return float(max((counts["longest_wait_s"] for counts in self.last.values()), default=0.0))

    def check(self) -> None:
        """They run."""
        for process in self.processes:
            assert process.poll() is None, f"a crowd ended with {process.returncode}"

    def finish(self) -> None:
        """Every connection says its word to the end and closes."""
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.close()
        for process, reader in zip(self.processes, self._readers, strict=True):
            assert process.wait(timeout=LAST_WORDS_S) == 0, "a crowd failed"
            reader.join()

    def kill(self) -> None:
        """Whatever state they are in."""
        for process in self.processes:
            process.kill()
            process.wait()


@dataclass
class Soak:
    """What came out."""

    samples: list[Sample] = field(default_factory=list)
    faults: Faults | None = None
    crowds: Crowds | None = None
    complaints: list[str] = field(default_factory=list)

    def suffer(self, kills: bool) -> str:
        """One more fault; what goes wrong is noted, and it goes on with a daemon that runs."""
        assert self.faults is not None
        daemon = self.faults.daemon
        try:
            return self.faults.one(kills)
        except (AssertionError, OSError) as error:
            self.complaints.append(f"a fault was not lived through: {error!r}")
            print(f"FAILED {error!r}", flush=True)
            if daemon.process is None or daemon.process.poll() is not None:
                daemon.start()
            daemon.signal(signal.SIGCONT)
            return "a failure"

    def judge(self) -> list[str]:
        """What was promised and does not hold."""
        assert self.crowds is not None
        found = list(self.complaints)
        found += [f"lost: {loss}" for loss in self.crowds.losses()]
        if self.crowds.total("ended") + self.crowds.total("lost") < self.crowds.total("opened"):
            found.append("not every connection ended")
        for life in lives(self.samples):
            if life[-1].at - life[0].at >= JUDGED_S and not flat(life):
                earlier, later = growth(life)
                found.append(f"memory of {life[0].pid}: {earlier / MIB:.1f}, then {later / MIB:.1f} MiB")
        return found

    def tell(self) -> Iterator[str]:
        """In lines."""
        assert self.crowds is not None
        assert self.faults is not None
        total = self.crowds.total
        yield (
            f"{total('opened'):,} connections, {total('ended'):,} ended in good order, {total('lost')} lost; "
            f"{total('words'):,} words, {total('bytes') / 1e6:,.0f} MB there and back, "
            f"longest wait {self.crowds.longest_wait_s():.0f} s"
        )
        yield f"{self.faults.flooded:,} foreign packets; " + ", ".join(
            f"{name} {count}" for name, count in sorted(self.faults.done.items())
        )
        for life in lives(self.samples):
            seconds = life[-1].at - life[0].at
            line = f"process {life[0].pid}: {seconds:.0f} s, at most {max(s.bytes for s in life) / MIB:.1f} MiB"
            if seconds >= JUDGED_S:
                earlier, later = growth(life)
                line += f", median {earlier / MIB:.1f} MiB in its middle third, {later / MIB:.1f} in its last"
            yield f"{line}, {min(s.files for s in life)} to {max(s.files for s in life)} files"


@contextmanager
def watched(daemon: Daemon, samples: list[Sample]) -> Iterator[None]:
    """Looks at the daemon's memory every two seconds meanwhile."""
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(2):
            process = daemon.process
            # `ip netns exec` becomes the daemon: the same process.
            if process is not None and process.poll() is None and (found := sample(process.pid)):
                samples.append(found)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def soak(folder: Path, seconds: float, connections: int, seed: int, mean_gap_s: float = MEAN_GAP_S) -> Soak:
    """The whole of it."""
    done = Soak()
    draw = random.Random(seed)
    with Net(folder, Delays(logged=False), clients=min(CLIENTS, max(1, connections // 20)), room="u") as net:
        daemon = Daemon(net, "pace", more=f"[gateway]\n{PLACES}\n")
        done.faults = Faults(net, daemon, draw)
        done.crowds = Crowds(net, connections, seed)
        start = told = time.monotonic()
        try:
            with daemon, watched(daemon, done.samples):
                while (now := time.monotonic()) < start + seconds or not done.faults.done:
                    done.crowds.check()
                    time.sleep(min(draw.expovariate(1 / mean_gap_s), max(0.0, start + seconds - now)))
                    kills = time.monotonic() < start + seconds / 2
                    fault = done.suffer(kills)
                    if time.monotonic() > told + 60:
                        told = time.monotonic()
                        counts = {name: done.crowds.total(name) for name in ("open", "opened", "ended", "lost")}
                        memory = done.samples[-1].bytes / MIB if done.samples else 0.0
                        print(f"{told - start:.0f} s: {counts}, {memory:.1f} MiB, latest {fault}", flush=True)
                done.crowds.finish()
        finally:
            done.crowds.kill()
        if found := re.findall(r"^.*panicked.*$", daemon.said(), re.MULTILINE):
            done.complaints += found
    return done


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="soak_gateway.py", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--connections", type=int, default=10_000, help="at any moment")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="meshpace-soak-") as folder:
        done = soak(Path(folder), asked.seconds, asked.connections, asked.seed)
    for line in done.tell():
        print(line)
    complaints = done.judge()
    for complaint in complaints[:20]:
        print(f"FAILED {complaint}")
    print(f"{0 if complaints else 1} passed, {1 if complaints else 0} failed in {asked.seconds:.1f}s")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
