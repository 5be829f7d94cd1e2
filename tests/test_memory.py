"""What a moving node takes in memory (docs/reproduction/we-tcp-ap.md, "What a node takes")."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIO = Path(__file__).parents[1] / "scenarios" / "we-adhoc.toml"
NODES = 256
KILOBYTES = 20.0
"""A node was found to take 13.9 to 14.7 with a table, and 18.0 to 18.1 as JSON, for which fewer modules are loaded,
so that the run with 2 nodes is smaller; 56 to 62 before tables were packed."""

# The process itself is asked for its peak: who waits for it is told that of who started it, if it is higher. Without
# the pages of files, which nodes do not add to: how many of them are resident is the kernel's choice, and on a busy
# machine moved a node's share by 2 kB.
PEAK = """
import runpy, sys
sys.argv[0] = "meshpace"
try:
    runpy.run_module("meshpace", run_name="__main__")
except SystemExit as end:
    if end.code:
        raise
status = open("/proc/self/status").read()
peak, files = (int(status.split(f"{what}:")[1].split()[0]) for what in ("VmHWM", "RssFile"))
print(peak - files, file=sys.stderr)
"""


def peak(nodes: int, *options: str) -> float:
    """Peak of a run's process, kB of 1,000 bytes."""
    settings = (f"topology.nodes={nodes}", f"flow.0.count={nodes // 2}", "measure.duration=10s")
    arguments = [word for setting in settings for word in ("--set", setting)]
    words = [sys.executable, "-c", PEAK, "run", str(SCENARIO), *arguments, *options]

    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True)
    return int(done.stderr.split()[-1]) * 1.024


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "json"])
def test_a_moving_node_takes_little(options: tuple[str, ...]) -> None:
    # Of one run the kernel's and the allocator's pages make some 0.4 kB a node more or less.
    shares = [(peak(NODES, *options) - peak(2, *options)) / (NODES - 2) for _ in range(3)]
    assert statistics.median(shares) < KILOBYTES, f"{shares} kB a node"
