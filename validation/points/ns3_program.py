"""Compiles a program of bench/ns3 (Debian: libns3-dev, g++)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_PROGRAMS = Path(__file__).resolve().parents[2] / "bench" / "ns3"


def build(name: str, modules: tuple[str, ...], folder: Path) -> Path:
    """The program of ``name``.cc in ``folder``; ``modules`` of ns-3 are those that it is linked with, users first."""
    binary = folder / name
    compiler = shutil.which("g++")
    if compiler is None:
        raise SystemExit('no "g++" on the search path: install g++ and libns3-dev (Debian)')
    libraries = [f"-lns3-{module}" for module in modules]
    source = _PROGRAMS / f"{name}.cc"
    subprocess.run([compiler, "-std=c++17", "-O2", str(source), "-o", str(binary), *libraries], check=True)
    return binary
