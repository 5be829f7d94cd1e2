"""Measures the bottlenecks of ns2_dumbbell.toml and ns3_dumbbell.toml.

Writes ../reference/ns2_dumbbell.csv and ns3_dumbbell.csv.

    nice .venv/bin/python validation/points/measure_dumbbell.py ns2     TCP/Linux of ns-2.35 (Debian: ns2)
    nice .venv/bin/python validation/points/measure_dumbbell.py ns3     ns-3.37 (Debian: libns3-dev, g++)

None of our own engine is in it, and nothing is drawn but where BBR's cycle begins: a run a point.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from ns3_program import build

from meshpace.validation.dumbbell import GOODPUT, NS2, NS3, QUEUE, WINDOW, Bottleneck, bottlenecks

_SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "ns2" / "dumbbell.tcl"
_SECONDS, _WARM = 120, 20.0
"""dumbbell.toml has the same."""
_SEGMENT_BITS = 1460 * 8
_MODULES = ("point-to-point", "applications", "internet", "traffic-control", "network", "stats", "core")


def _measure_ns2(ns: str, point: Bottleneck) -> dict[str, float]:
    options = [point.control, f"{point.mbps:g}", f"{point.delay_ms:g}", str(point.queue), str(_SECONDS)]
    done = subprocess.run([ns, str(_SCRIPT), *options], capture_output=True, text=True, check=True)
    # "resizing timestamp table" and the like come from the agent itself, in the midst of a line.
    lines = (line.split() for line in done.stdout.splitlines() if line.startswith("sample "))
    samples = [tuple(map(float, words[1:])) for words in lines if len(words) == 5]
    samples = [sample for sample in samples if sample[0] >= _WARM]
    (begin, _, _, first), (end, _, _, last) = samples[0], samples[-1]
    return {
        GOODPUT: (last - first) * _SEGMENT_BITS / (end - begin) / 1e3,
        WINDOW: fmean(sample[1] for sample in samples),
        QUEUE: fmean(sample[2] for sample in samples),
    }


def _measure_ns3(binary: Path, point: Bottleneck) -> dict[str, float]:
    options = {
        "cc": point.control, "mbps": f"{point.mbps:g}", "delay": f"{point.delay_ms:g}", "queue": point.queue,
        "time": _SECONDS, "warm": f"{_WARM:g}",
    }  # fmt: skip
    words = [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run([str(binary), *words], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return {quantity: float(found[quantity]) for quantity in (GOODPUT, WINDOW, QUEUE)}


def main(judge: str) -> None:
    """Measures all points of one simulator."""
    measure: Callable[[Bottleneck], dict[str, float]]
    with tempfile.TemporaryDirectory() as folder:
        if judge == "ns2":
            ns = shutil.which("ns")
            if ns is None:
                raise SystemExit('no "ns" on the search path: install ns2 (Debian)')
            table, measure = NS2, lambda point: _measure_ns2(ns, point)
        else:
            program = build("dumbbell", _MODULES, Path(folder))
            table, measure = NS3, lambda point: _measure_ns3(program, point)
        measured = {}
        for point in bottlenecks(table):
            measured[point.name] = measure(point)
            print(f"{point.name}: {measured[point.name]}", flush=True)
        table.write(measured, measured)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in {"ns2", "ns3"}:
        raise SystemExit("measure_dumbbell.py ns2 | ns3")
    main(sys.argv[1])
