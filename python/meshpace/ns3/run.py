"""Compiles ``crosscheck.cc`` where ns-3.37 is installed, and runs it."""

from __future__ import annotations

import functools
import hashlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from meshpace.errors import MendableError
from meshpace.files import replacing
from meshpace.judges.figures import BrokenRunError, Figures
from meshpace.judges.judge import Judge
from meshpace.ns3.describe import write_description
from meshpace.ns3.express import NAME, express
from meshpace.ns3.model import Ns3Scenario
from meshpace.ns3.parse import parse_run
from meshpace.study.kept import cache_directory

VERSION = "3.37"
_SOURCE = Path(__file__).with_name("crosscheck.cc")
_PARTS = (_SOURCE, _SOURCE.with_name("description.h"))
_MODULES = tuple(
    f"ns3-{name}"
    for name in (
        "core", "flow-monitor", "internet", "mobility", "network", "point-to-point", "propagation", "traffic-control",
        "wifi",
    )
)  # fmt: skip
_FLAGS = ("-std=c++17", "-O2")


class MissingNs3Error(MendableError):
    """No compiler, no ns-3, or another version of it."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"{found}: install ns-{VERSION} (Debian 12: packages libns3-dev, g++, pkg-config), "
            "or write the description with --script"
        )


@functools.cache
def find_program() -> Path:
    """The program, compiled now unless the user's cache has it (``XDG_CACHE_HOME/meshpace/ns3``).

    Raises:
        MissingNs3Error: ns-3 or a compiler is not installed, or the program does not compile.
    """
    compiler, query = (shutil.which(name) for name in ("g++", "pkg-config"))
    if compiler is None or query is None:
        raise MissingNs3Error(f'no "{"g++" if compiler is None else "pkg-config"}" on the search path')
    version = _asked(query, "--modversion", "ns3-wifi")
    if version != VERSION:
        raise MissingNs3Error(f"pkg-config: found ns-{version}; allowed: ns-{VERSION}" if version else "no ns-3")
    # Beside its own libraries ns-3's own list names files of packages that Debian's does not bring.
    options = _asked(query, "--cflags", "--libs-only-L", "--libs-only-l", *_MODULES)
    if options is None:
        raise MissingNs3Error(
            "pkg-config: no " + ", ".join(m for m in _MODULES if _asked(query, "--modversion", m) is None)
        )
    words = [*_FLAGS, str(_SOURCE), *shlex.split(options)]
    made_of = "\0".join([*(part.read_text(encoding="utf-8") for part in _PARTS), version, compiler, *words])
    program = cache_directory() / "ns3" / f"crosscheck-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"
    if not program.exists():
        print(f"compiling {_SOURCE.name} for ns-{VERSION}, once: about half a minute", file=sys.stderr)
        program.parent.mkdir(parents=True, exist_ok=True)
        with replacing(program) as draft:
            done = subprocess.run(
                [compiler, *words, "-o", str(draft)], capture_output=True, text=True, errors="replace", check=False
            )
            if done.returncode != 0:
                lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
                raise MissingNs3Error(f"{compiler} cannot compile {_SOURCE}: {'; '.join(lines[:3])}")
            draft.chmod(0o755)
    return program


def _asked(query: str, *words: str) -> str | None:
    """What pkg-config answers; None if it does not know a package."""
    done = subprocess.run([query, *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def run_once(scenario: Ns3Scenario, seed: int) -> Figures:
    """Runs ``scenario`` with ns-3's run number ``seed``; leaves nothing behind.

    Raises:
        MissingNs3Error, BrokenRunError
    """
    with tempfile.TemporaryDirectory(prefix="meshpace-ns3-") as directory:
        description = Path(directory, "scenario.txt")
        description.write_text(write_description(scenario), encoding="utf-8")
        done = subprocess.run(
            [find_program(), description, str(seed)], capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode != 0:
            raise BrokenRunError((done.stdout + done.stderr).strip()[-400:])
        return parse_run(scenario, done.stdout)


NS3 = Judge(NAME, express, write_description, find_program, run_once)
