"""What an emulation makes on this machine: written down before, so that it can be removed whatever happens."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from meshpace.errors import MendableError

FOLDER = Path("/run/meshpace/emulation")
_FILE = "emulation.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")


class EmulationError(MendableError):
    """An emulation cannot be had as it is asked for."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process, by more than its number, which another one may have later."""

    pid: int
    started: int
    """In clock ticks since the machine started (proc(5), field 22 of stat)."""

    @classmethod
    def of(cls, pid: int) -> Process:
        """The process that has this number now.

        Raises:
            OSError: none has.
        """
        _, started = _state(pid)
        return cls(pid, started)

    def runs(self) -> bool:
        """True while it exists and is no zombie."""
        try:
            state, started = _state(self.pid)
        except OSError:
            return False
        return started == self.started and state not in {"Z", "X"}


def _state(pid: int) -> tuple[str, int]:
    """A process's state and start (proc(5): fields 3 and 22 of stat, after a name that may hold anything)."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    fields = stat.rpartition(")")[2].split()
    return fields[0], int(fields[19])


@dataclass(frozen=True, slots=True)
class Host:
    """A real host."""

    node: str
    namespace: str
    address: str
    address6: str
    gateway: bool = False
    """Its kernel forwards between mesh and wired links."""
    radios: int = 0
    """Devices that carry Ethernet frames, by which its kernel forwards; 0: it has one that carries packets."""

    @property
    def devices(self) -> list[str]:
        """What the devices toward the mesh are called."""
        return [f"mesh{number}" for number in range(max(1, self.radios))]


@dataclass(frozen=True, slots=True)
class Record:
    """One emulation."""

    name: str
    owner: Process
    hosts: tuple[Host, ...]
    engine: Process | None = None

    @property
    def folder(self) -> Path:
        """Where it is written down, and what belongs to it."""
        return FOLDER / self.name

    def write(self) -> None:
        """Writes it down, whole or not at all."""
        draft = self.folder / f".{_FILE}"
        draft.write_text(json.dumps(asdict(self)), encoding="utf-8")
        draft.replace(self.folder / _FILE)

    def host(self, node: str) -> Host:
        """The host that a node is.

        Raises:
            EmulationError: it is none.
        """
        for host in self.hosts:
            if host.node == node:
                return host
        raise EmulationError(f"{node}: no host of the emulation {self.name}, which has {_listed(self.hosts)}")


def safe(text: str) -> str:
    """A text as part of a file's name."""
    return _UNSAFE.sub("_", text)[:100]


def begin(record: Record) -> None:
    """Takes the emulation's name and writes down what it is going to make.

    Raises:
        EmulationError: the name, or a namespace's, is taken.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        record.folder.mkdir(mode=0o755)
    except FileExistsError:
        raise EmulationError(_taken(record.name)) from None
    try:
        taken = [host.namespace for host in record.hosts if Path("/run/netns", host.namespace).exists()]
        if taken:
            raise EmulationError(
                f"the network namespace {taken[0]} exists and belongs to no emulation: "
                f"remove it (ip netns del {taken[0]}), or choose another --name"
            )
        record.write()
    except BaseException:
        shutil.rmtree(record.folder)
        raise


def _taken(name: str) -> str:
    other = read(name)
    if other is not None and other.owner.runs():
        return (
            f"an emulation called {name} runs already (process {other.owner.pid}): --name gives this one another name"
        )
    return f"an emulation called {name} was killed and has left things behind: meshpace emulate clean"


def read(name: str) -> Record | None:
    """What is written down; None if nothing is, or nothing whole."""
    try:
        found: dict[str, Any] = json.loads((FOLDER / name / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    engine = found["engine"]
    return Record(
        name=name,
        owner=Process(**found["owner"]),
        hosts=tuple(Host(**host) for host in found["hosts"]),
        engine=None if engine is None else Process(**engine),
    )


def names() -> Iterator[str]:
    """The emulations of this machine, those that were killed included."""
    if FOLDER.is_dir():
        yield from sorted(entry.name for entry in FOLDER.iterdir() if entry.is_dir())


def running(name: str | None) -> Record:
    """The emulation of that name that runs; without one the only one that does.

    Raises:
        EmulationError: there is none, or more than one.
    """
    if name is not None:
        found = read(name)
        if found is None or not found.owner.runs():
            raise EmulationError(f"no emulation called {name} runs")
        return found
    alive = [record for record in map(read, names()) if record is not None and record.owner.runs()]
    if not alive:
        raise EmulationError("no emulation runs: meshpace emulate SCENARIO.toml starts one")
    if len(alive) > 1:
        listed = ", ".join(record.name for record in alive)
        raise EmulationError(f"{len(alive)} emulations run ({listed}): --name says which")
    return alive[0]


def _listed(hosts: tuple[Host, ...]) -> str:
    most = 12
    listed = ", ".join(host.node for host in hosts[:most])
    return listed if len(hosts) <= most else f"{listed}, ... ({len(hosts)} in all)"


def this_process() -> Process:
    """The one that asks."""
    return Process.of(os.getpid())
