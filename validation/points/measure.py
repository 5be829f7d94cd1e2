"""Measures the points of points.toml with ns-2.35 and writes ../reference/crosscheck.csv.

    nice .venv/bin/python validation/points/measure.py              those that have no rows yet
    nice .venv/bin/python validation/points/measure.py "grid, 6 x 6, RTS on"    these again

Our own engine only resolves the scenarios (places, starts of flows); none of its results is looked at.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from meshpace.ns2.express import express
from meshpace.ns2.run import run_once
from meshpace.validation.points import MEASURED, measured, point_jobs, points


def main(again: list[str]) -> None:
    """Measures, and writes after each point."""
    unknown = set(again) - {point.name for point in points()}
    if unknown:
        raise SystemExit(f"no such point: {', '.join(sorted(unknown))}")
    known = {name: rows for name, rows in MEASURED.read().items() if name not in again}
    with ThreadPoolExecutor(max_workers=2) as pool:
        for point in points():
            if point.name in known:
                continue
            jobs = point_jobs(point)
            figures = list(pool.map(run_once, [express(job) for job in jobs], [job.seed for job in jobs]))
            known[point.name] = measured(figures)
            MEASURED.write(known, (point.name for point in points()))
            print(point.name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
