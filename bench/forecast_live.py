#!/usr/bin/env python3
"""What `meshpaced explain` foretells of watched downloads, against what they get paced, over the relay's mesh.

    bench/forecast_live.py [--runs N]

Root. Four hops of 11 Mbit/s on one channel, 900 us of air time a hop besides, 50 packets of queue; one download, then
two to one host, each watched for 20 s and paced for 66. What is foretold and measured is as the daemon tells it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from daemon import Daemon
from net import Delays, Net
from traffic import Bulk

MESH = "airtime=900us,rate=11Mbps,hops=4,queue=50"
WATCHED_S, PACED_S = 20.0, 66.0


def told(flows: int) -> dict[str, Any] | None:
    """What came of the forecasts of so many downloads; None if none could be told, or none counted."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        net = stack.enter_context(Net(Path(folder), Delays(wired=0.020, mesh=0.002, mesh_model=MESH), room="f"))
        daemon = stack.enter_context(Daemon(net, "observe"))
        for _ in range(flows):
            stack.enter_context(Bulk(net, 4, down=True))
        time.sleep(WATCHED_S)
        daemon.write("pace")
        daemon.reload()
        time.sleep(PACED_S)
        found: dict[str, Any] | None = daemon.status().get("forecasts")
    return found


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Forecasts of pacing against what came.")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    print("| downloads | foretold | measured | error |\n|---|---:|---:|---:|")
    for flows in (1, 2):
        for _ in range(asked.runs):
            found = told(flows)
            if found is None:
                print(f"| {flows} | not told, or not counted | | |", flush=True)
                continue
            latest = found["latest"]
            bits = [latest[name] / 1e3 for name in ("foretold_bps", "measured_bps")]
            print(f"| {flows} | {bits[0]:.0f} kbit/s | {bits[1]:.0f} kbit/s | {latest['error']:+.0%} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
