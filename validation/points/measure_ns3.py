"""Measures the points of ns3.toml with ns-3.37 and writes ../reference/ns3_chain.csv (Debian: libns3-dev, g++).

    nice .venv/bin/python validation/points/measure_ns3.py              those that have no rows yet
    nice .venv/bin/python validation/points/measure_ns3.py "datagrams, 1 hop, MCS 0"    these again

None of our own engine is in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ns3_program import build

from meshpace.validation.model import Scatter
from meshpace.validation.ns3_points import CHAINS, GOODPUT, ChainPoint, chain_points

_MODULES = (
    "wifi", "applications", "internet", "flow-monitor", "traffic-control", "propagation", "mobility", "spectrum",
    "antenna", "network", "stats", "core",
)  # fmt: skip
_ALWAYS = ("queue=fifo", "qlen=500", "time=20", "warm=5")
"""n-chain.toml and n-opposite.toml have the same; a point may say otherwise in both."""
_DATAGRAM, _SEGMENT = 1472, 1448
"""Payload of a datagram, and what chain.cc counts of it."""


def _goodput_kbps(binary: Path, point: ChainPoint, seed: int) -> float:
    flows = ("two=1",) if point.opposite else ()
    options = [f"--{option}" for option in (f"h={point.hops}", *_ALWAYS, *point.options, *flows, f"run={seed}")]
    done = subprocess.run([str(binary), *options], capture_output=True, text=True, check=True)
    share = _DATAGRAM / _SEGMENT if "cc=udp" in point.options else 1.0
    return float(json.loads(done.stdout)["goodput"]) * 1e3 * share


def main(again: list[str]) -> None:
    """Measures, and writes after each point."""
    unknown = set(again) - {point.name for point in chain_points()}
    if unknown:
        raise SystemExit(f"no such point: {', '.join(sorted(unknown))}")
    measured = {name: rows for name, rows in CHAINS.read().items() if name not in again}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=2) as pool:
        binary = build("chain", _MODULES, Path(folder))
        for point in chain_points():
            if point.name not in measured:
                seeds = range(1, point.seeds + 1)
                values = list(pool.map(lambda seed, at=point: _goodput_kbps(binary, at, seed), seeds))
                measured[point.name] = {GOODPUT: Scatter.of(values)}
                CHAINS.write(measured, (point.name for point in chain_points()))
                print(f"{point.name}: {measured[point.name][GOODPUT].mean:.1f} kbit/s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
