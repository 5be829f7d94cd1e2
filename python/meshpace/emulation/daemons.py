"""Routing daemons at nodes whose kernels forward: their configurations, and their processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from meshpace.emulation.namespaces import STATIC, within
from meshpace.emulation.record import EmulationError, Host
from meshpace.emulation.runs import start_ordinary_from_now_on

_PLACES = ("/usr/sbin", "/sbin", f"{sys.prefix}/debian/usr/sbin")
"""Where daemons are that no PATH of a user names; the last is where a checkout unpacks those of tests (Makefile)."""


@dataclass(frozen=True, slots=True)
class Daemon:
    """A routing daemon, as one runs it at every node of a mesh."""

    name: str
    program: str
    package: str
    """Debian's."""
    configuration: Callable[[Host, str], list[str]]
    """Of a node. Its files begin with this name, in the folder where it runs: a path might be too long for a socket."""
    words: Callable[[str], Sequence[str]]
    """The arguments of the program, by the daemon's name."""

    def found(self) -> str:
        """The program.

        Raises:
            EmulationError: it is not installed.
        """
        places = os.pathsep.join([os.environ.get("PATH", ""), *_PLACES])
        program = shutil.which(self.program, path=places)
        if program is None:
            raise EmulationError(f"--daemon {self.name}: {self.program} is missing (Debian: {self.package})")
        return program


def _babeld(host: Host, _: str) -> list[str]:
    """Babeld announces the node's addresses and the networks behind a gateway, and no other route (babeld(8))."""
    lines = [
        *(f"interface {device} type wireless" for device in host.devices),
        f"redistribute local ip {host.address}/32 eq 32 allow",
        f"redistribute local ip {host.address6}/128 eq 128 allow",
        "redistribute local deny",
    ]
    if host.gateway:
        lines.append(f"redistribute proto {STATIC} allow")
    return [*lines, "redistribute deny"]


def _bird(host: Host, own: str) -> list[str]:
    """The same in BIRD's words (its user's guide, 6): a node's addresses are static routes, which no kernel gets."""
    blocks = [f'log "{own}.log" all;', f"router id {host.address};", "protocol device { scan time 5; }"]
    learns, taken = ("learn; ", f"import where krt_source = {STATIC};") if host.gateway else ("", "import none;")
    for version, address in ((4, f"{host.address}/32"), (6, f"{host.address6}/128")):
        blocks.append(f'protocol static own{version} {{ ipv{version}; route {address} via "{host.devices[0]}"; }}')
        channel = f"ipv{version} {{ {taken} export where source = RTS_BABEL; }};"
        blocks.append(f"protocol kernel {{ {learns}{channel} }}")
    devices = " ".join(f'interface "{device}" {{ type wireless; }};' for device in host.devices)
    told = "export where source = RTS_BABEL || source = RTS_STATIC || source = RTS_INHERIT;"
    return [*blocks, f"protocol babel {{ ipv4 {{ {told} }}; ipv6 {{ {told} }}; {devices} }}"]


DAEMONS = {
    "babeld": Daemon(
        "babeld",
        "babeld",
        "babeld",
        _babeld,
        lambda own: ["-c", f"{own}.conf", "-I", f"{own}.pid", "-S", f"{own}.state"],
    ),
    "bird": Daemon(
        "bird",
        "bird",
        "bird2",
        _bird,
        lambda own: ["-f", "-c", f"{own}.conf", "-s", f"{own}.sock", "-P", f"{own}.pid"],
    ),
}


class Running:
    """A daemon at every node whose kernel forwards."""

    def __init__(self, daemon: Daemon, lines: Sequence[str], hosts: Iterable[Host], folder: Path) -> None:
        self._daemon, self._lines = daemon, list(lines)
        self._processes: list[tuple[Host, Path, subprocess.Popen[bytes]]] = []
        self._hosts = [host for host in hosts if host.radios]
        self._folder = folder / "daemons"

    def begin(self) -> None:
        """Starts them all.

        Raises:
            EmulationError: the daemon is not installed.
        """
        program = self._daemon.found()
        self._folder.mkdir()
        start_ordinary_from_now_on()
        for number, host in enumerate(self._hosts):
            own = str(number)
            lines = [*self._lines, *self._daemon.configuration(host, own), ""]
            (self._folder / f"{own}.conf").write_text("\n".join(lines), encoding="utf-8")
            said = self._folder / f"{own}.out"
            words = within(host, [program, *self._daemon.words(own)])
            with said.open("wb") as out:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self._folder, start_new_session=True
                )
            self._processes.append((host, said, process))

    def check(self) -> None:
        """Returns if they all run.

        Raises:
            EmulationError: one has ended.
        """
        for complaint in self.ended():
            raise EmulationError(complaint)

    def ended(self) -> Iterator[str]:
        """Those that have ended by themselves, with what they said last."""
        for host, out, process in self._processes:
            if process.poll() is not None:
                lines = out.read_text(encoding="utf-8", errors="replace").strip().splitlines()
                said = lines[-1] if lines else "it said nothing"
                yield f"{host.node}: {self._daemon.name} ended with status {process.returncode}: {said}"

    def end(self) -> None:
        """Kills those that still run."""
        for _, _, process in self._processes:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        for _, _, process in self._processes:
            process.wait()
