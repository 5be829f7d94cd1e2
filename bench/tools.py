"""The three simulators behind one interface: is it there, which version, run this case with this seed."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cases import Case, chain
from formats import write_net, write_toml
from process import Finished, ToolError, peak_bytes, run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = HERE / "out"


@dataclass(frozen=True)
class Measurement:
    """One run: the traffic part as the tool itself timed it, and the whole process."""

    run_s: float
    process_s: float
    cpu_s: float
    goodput_bps: float


@dataclass(frozen=True)
class Events:
    """One run of our engine: its events, and the processor time of the whole process."""

    events: float
    cpu_s: float


class Tool(Protocol):
    """What the comparison needs of a simulator."""

    name: str

    def prepare(self) -> str:
        """Builds what is to be built and returns the version; raises ToolError with what to install."""

    def measure(self, case: Case, seed: int) -> Measurement:
        """Runs one case."""


class Meshpace:
    """Our engine, as users run it."""

    name = "meshpace"
    command = ROOT / ".venv" / "bin" / "meshpace"

    def prepare(self) -> str:
        """The engine names its version in every result, so a short run tells it."""
        if not self.command.exists():
            raise ToolError(f"{self.command.relative_to(ROOT)} is missing: run `make setup` first")
        probe = dataclasses.replace(chain(1), name="probe", duration_s=1)
        return str(self.results(probe, ["--seed", "1"])[0][0]["engine"])

    def results(self, case: Case, options: list[str]) -> tuple[list[dict[str, Any]], Finished]:
        """The JSON objects of `meshpace run --json`, one a seed, and what the process cost."""
        done = run(self._asked(case, options))
        try:
            answer = json.loads(done.output)
        except ValueError as problem:
            raise ToolError(
                f"{case.name}: standard output of `meshpace run --json` is not JSON: {problem}"
            ) from problem
        return answer.get("runs", [answer]), done

    def events(self, scenario: Path, seed: int, duration_s: float) -> Events:
        """What a scenario file takes for so many simulated seconds."""
        words: list[str | Path] = [self.command, "run", scenario, "--json", "--seed", str(seed)]
        done = run([*words, "--set", f"measure.duration={duration_s:g}s"])
        return Events(json.loads(done.output)["events"], done.cpu_s)

    def peak_bytes(self, case: Case, options: list[str]) -> int:
        """The peak of the memory that the same takes, Python included."""
        return peak_bytes(self._asked(case, options))

    def _asked(self, case: Case, options: list[str]) -> list[str | Path]:
        return [self.command, "run", write_toml(case, OUT), "--json", *options]

    def study(self, names: Sequence[str], threads: int) -> Finished:
        """Short studies from an empty store."""
        with tempfile.TemporaryDirectory() as store:
            return run([self.command, "study", "run", *names, "--quick", "--threads", str(threads), "--store", store])

    def measure(self, case: Case, seed: int) -> Measurement:
        """`wall_s` is the engine's own time; the process includes the start of Python."""
        objects, done = self.results(case, ["--seed", str(seed)])
        result = objects[0]
        return Measurement(result["wall_s"], done.wall_s, done.cpu_s, result["aggregate_goodput_bps"])


class Ns2:
    """ns-2.35 with the script under ns2/."""

    name = "ns-2"

    def prepare(self) -> str:
        """The package's version if Debian's, else what `ns` says of itself."""
        if shutil.which("ns") is None:
            raise ToolError("`ns` is not installed: apt-get install ns2, or leave it out with --skip-ns2")
        return package_version("ns2")

    def measure(self, case: Case, seed: int) -> Measurement:
        """The script times the traffic part: set-up and filling DSDV's tables do not count against ns-2."""
        done = run(["ns", HERE / "ns2" / "mesh.tcl", *script_arguments(case, seed)])
        wall, *goodputs = result_line(done, case, extra=0)
        return Measurement(wall, done.wall_s, done.cpu_s, sum(goodputs))


class Ns3:
    """ns-3 with the program under ns3/."""

    name = "ns-3"
    source = HERE / "ns3" / "mesh.cc"
    binary = OUT / "ns3-mesh"
    modules = ("aodv", "wifi", "applications", "point-to-point", "internet", "traffic-control", "mobility")
    base = ("propagation", "network", "core")

    def prepare(self) -> str:
        """Compiles the program if it is older than its source."""
        hint = "apt-get install libns3-dev g++, or leave it out with --skip-ns3"
        compiler = shutil.which("g++")
        if compiler is None:
            raise ToolError(f"no C++ compiler for ns-3: {hint}")
        if not self.binary.exists() or self.binary.stat().st_mtime < self.source.stat().st_mtime:
            OUT.mkdir(parents=True, exist_ok=True)
            # Debian's pkg-config files name libraries that libns3-dev does not bring, hence the plain list.
            libraries = [f"-lns3-{name}" for name in (*self.modules, *self.base)]
            build: list[str | Path] = [compiler, "-std=c++17", "-O3", self.source, "-o", self.binary, *libraries]
            try:
                run(build)
            except ToolError as problem:
                raise ToolError(f"the ns-3 program does not build ({hint}):\n{problem}") from problem
        return package_version("libns3-dev")

    def measure(self, case: Case, seed: int) -> Measurement:
        """The program times Simulator::Run."""
        done = run([self.binary, *script_arguments(case, seed)])
        wall, _events, *goodputs = result_line(done, case, extra=1)
        return Measurement(wall, done.wall_s, done.cpu_s, sum(goodputs))


def script_arguments(case: Case, seed: int) -> list[str]:
    """What the ns-2 script and the ns-3 program both take."""
    return [str(write_net(case, OUT)), case.routing, f"{case.duration_s:g}", f"{case.warmup_s:g}", str(seed)]


def result_line(done: Finished, case: Case, extra: int) -> list[float]:
    """The numbers of a script's "result" line: wall time, `extra` more, one goodput a flow."""
    for line in done.output.splitlines():
        if line.startswith("result "):
            numbers = [float(word) for word in line.split()[1:]]
            if len(numbers) == 1 + extra + len(case.flows):
                return numbers
    raise ToolError(f"{case.name}: no complete result line in\n{done.output[-500:]}")


def package_version(package: str) -> str:
    """Version of a Debian package; elsewhere a statement that it is not one."""
    try:
        asked = subprocess.run(
            ["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "not from a Debian package"
    return asked.stdout.strip()
