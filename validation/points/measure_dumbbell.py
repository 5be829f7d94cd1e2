"""Measures ns2_dumbbell.toml's points with ns-2.35's TCP/Linux (Debian: ns2); writes ../reference/ns2_dumbbell.csv.

    nice .venv/bin/python validation/points/measure_dumbbell.py

None of our own engine is in it, and nothing is drawn: a run a point.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from statistics import fmean

from meshpace.validation.ns2_points import GOODPUT, MEASURED, QUEUE, WINDOW, Bottleneck, bottlenecks

_SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "ns2" / "dumbbell.tcl"
_SECONDS, _WARM = 120, 20.0
"""dumbbell.toml has the same."""
_SEGMENT_BITS = 1460 * 8


def _measure(ns: str, point: Bottleneck) -> dict[str, float]:
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


def main() -> None:
    """Measures all."""
    ns = shutil.which("ns")
    if ns is None:
        raise SystemExit('no "ns" on the search path: install ns2 (Debian)')
    measured = {}
    for point in bottlenecks():
        measured[point.name] = _measure(ns, point)
        print(f"{point.name}: {measured[point.name]}", flush=True)
    MEASURED.write(measured, measured)


if __name__ == "__main__":
    main()
