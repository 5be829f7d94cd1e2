"""How many real hosts an emulation holds in real time here: a grid whose nodes upload to a host behind the gateway.

    .venv/bin/python bench/emulated_size.py [--rows 4,8] [--seconds N] [--write]

As root, with iperf3. Five nodes a row. --write puts the table into docs/emulation.md, between its marks.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import document
from meshpace.emulation import record

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "emulation.md"
COLUMNS = 5
FIRST_PORT = 5300
# Servers first, then a client each tenth of a second; what they say at the end has to come through.
BEFORE_S, APART_S, AFTER_S = 2.0, 0.1, 5.0


@dataclass(frozen=True)
class Size:
    """A grid, and how the emulation of it went."""

    hosts: int
    result: dict[str, Any]
    resident_mb: float
    load: float


def scenario(rows: int, seconds: int) -> str:
    gateway, hosts = f"g{rows // 2}_{COLUMNS // 2}", rows * COLUMNS
    parts = [
        f'[measure]\nduration = "{BEFORE_S + APART_S * hosts + seconds + AFTER_S}s"\nwarmup = "0s"\n'
        f'[topology]\nkind = "grid"\nrows = {rows}\ncols = {COLUMNS}\ngateway = "{gateway}"\n'
        '[routing]\nprotocol = "static"\n[[node]]\nid = "B"\nrole = "wired"\n'
        f'[[link]]\na = "{gateway}"\nb = "B"\nrate = "50Mbps"\ndelay = "5ms"\n'
    ]
    for number in range(hosts):
        node, port = f"g{number // COLUMNS}_{number % COLUMNS}", FIRST_PORT + number
        if node == gateway:
            parts.append(f'[[emulate.host]]\nnode = "{node}"\n')  # what it sends would not touch the air
            continue
        start = f"{BEFORE_S + APART_S * number:.1f}s"
        parts.append(
            f'[[emulate.host]]\nnode = "B"\nrun = "exec iperf3 -s -1 -p {port} > /dev/null 2>&1"\n'
            f'[[emulate.host]]\nnode = "{node}"\nstart = "{start}"\n'
            # In a crowded mesh a transfer may not even get through with its greeting.
            f'run = "iperf3 -c B -C reno -p {port} -t {seconds} > /dev/null 2>&1; true"\n'
        )
    return "".join(parts)


def measure(rows: int, seconds: int) -> Size:
    name = f"size-{rows}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "size.toml"
        file.write_text(scenario(rows, seconds))
        words = [sys.executable, "-m", "meshpace", "emulate", str(file), "--json", "--name", name]
        output = Path(folder) / "result.json"
        with output.open("wb") as target, subprocess.Popen(words, stdout=target) as process:
            engine, resident, loads = None, 0.0, [0.0]
            while process.poll() is None:
                if engine is None:
                    found = record.read(name)
                    engine = None if found is None else found.engine
                else:
                    resident = max(resident, resident_mb(engine))
                loads.append(os.getloadavg()[0])
                time.sleep(0.5)
        told = output.read_text()
    if process.returncode != 0:
        sys.exit(f"{rows * COLUMNS} hosts: status {process.returncode}")
    return Size(rows * COLUMNS, json.loads(told), resident, max(loads))


def resident_mb(process: record.Process) -> float:
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0.0
    kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(kilobytes[0]) / 1024 if kilobytes else 0.0


def row(size: Size) -> str:
    result, lateness = size.result, size.result["lateness"]
    carried = sum(pair["delivered_bytes"] for pair in result["traffic"]) * 8 / result["simulated_s"]
    verdict = "valid" if lateness["valid"] else "**invalid**"
    return (
        f"| {size.hosts} | {lateness['deliveries'] / result['simulated_s']:.0f} | {carried / 1e6:.1f} "
        f"| {result['events'] / result['simulated_s']:.0f} | {lateness['share_late']:.3%} "
        f"| {1e3 * lateness['p50_s']:.2f} / {1e3 * lateness['p999_s']:.2f} / {1e3 * lateness['max_s']:.1f} | {verdict} "
        f"| {size.resident_mb:.0f} | {size.load:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", default="4,8,16")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines = [
        f"`bench/emulated_size.py --rows {asked.rows} --seconds {asked.seconds}`, {os.cpu_count()} processors.",
        "",
        "| wireless hosts | deliveries/s | Mbit/s | events/s | late | 50 / 99.9 % / worst, ms | verdict | MB | load |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for rows in map(int, asked.rows.split(",")):
        lines.append(row(measure(rows, asked.seconds)))
        print(lines[-1], file=sys.stderr)
    table = "\n".join(lines)
    print(table)
    if asked.write:
        document.update(DOCUMENT, "size", table)


if __name__ == "__main__":
    main()
