"""Documents with measured blocks: replaces these, leaves what is written by hand around them."""

from __future__ import annotations

import os
import platform
from pathlib import Path

FRAME = """# Speed

This page tells how fast the simulator is: beside ns-2 and ns-3 on the same networks, beside its own earlier versions,
and how its cost grows with the mesh.

Measured by `make bench` (bench/run.py), which rewrites the blocks between the markers. How the tools are
set up and what each of them models differently is in bench/README.md.

## Against ns-2 and ns-3

<!-- compare:begin -->
<!-- compare:end -->

## 802.11n beside ns-3

`bench/high_throughput.py`: chains at MCS 4 of validation/points/n-chain.toml, and the same in ns3/chain.cc.

<!-- high-throughput:begin -->
<!-- high-throughput:end -->

## How the cost grows

<!-- scaling:begin -->
<!-- scaling:end -->
"""


def update(path: Path, block: str, text: str) -> None:
    """Puts `text` between the markers of a block.

    Raises ValueError if the file exists without these markers.
    """
    page = path.read_text(encoding="utf-8") if path.exists() else FRAME
    begin, end = f"<!-- {block}:begin -->", f"<!-- {block}:end -->"
    before, found, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found and found_end):
        raise ValueError(f"{path}: the markers {begin} and {end} are missing")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def machine() -> str:
    """CPU model, cores and kernel; no names."""
    model = platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
