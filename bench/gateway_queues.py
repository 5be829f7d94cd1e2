#!/usr/bin/env python3
"""Whether a second packet queue on a second processor pays: eight downloads, accepted by one program or two.

    bench/gateway_queues.py [--rounds N] [--seconds S]

Needs root and two processors. Packets of the MTU, of eight hosts; the kernel spreads by addresses (`--queue-balance`),
both directions of a pair to one queue (nfqueue_hash of the kernel's include/net/netfilter/nf_queue.h).
docs/benchmarks-gateway.md has what came out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import time
from contextlib import ExitStack

from gateway.network import GATEWAY, GENERATORS, QUEUE, Network, on
from gateway.traffic import spent
from run_gateway import build, positive

HOSTS = 8


def carried(queues: int, seconds: int, binary: str) -> tuple[float, float, list[int]]:
    """Mbit/s, processor time of the programs a second, packets by queue."""
    with Network(offloads=False) as network, ExitStack() as stack:
        for host in range(HOSTS):
            network.run("cli", "ip", "addr", "add", f"10.78.2.{10 + host}/24", "dev", "eth0")
        spread = ["--queue-num", str(QUEUE)] if queues == 1 else ["--queue-balance", f"{QUEUE}:{QUEUE + queues - 1}"]
        rule = ["-t", "mangle", "-A", "FORWARD", "-p", "tcp", "-j", "NFQUEUE", *spread, "--queue-bypass"]
        network.run("gw", "iptables-nft", *rule)

        def start(node: str, words: list[str], out: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
            process = stack.enter_context(subprocess.Popen(network.within(node, *words), stdout=out))
            stack.callback(process.kill)
            return process

        # Each asks for real-time scheduling by itself.
        ours = (["chrt", "-o", "0", binary, str(QUEUE + number)] for number in range(queues))
        accepting = [start("gw", on(where, words)) for where, words in zip((GATEWAY, GENERATORS), ours, strict=False)]
        ports = [str(5300 + host) for host in range(HOSTS)]
        for port in ports:
            start("cli", on(GENERATORS, ["iperf3", "-s", "-1", "-p", port]))
        time.sleep(0.5)
        before, begun = spent([process.pid for process in accepting]), time.monotonic()
        loads = []
        for host, port in enumerate(ports):
            words = ["iperf3", "-c", f"10.78.2.{10 + host}", "-p", port, "-C", "reno", "-t", str(seconds), "-J"]
            loads.append(start("srv", on(GENERATORS, words), subprocess.PIPE))
        ends = [json.loads(load.communicate(timeout=seconds + 30)[0])["end"] for load in loads]
        used = (spent([process.pid for process in accepting]) - before) / (time.monotonic() - begun)
        told = network.run("gw", "cat", "/proc/net/netfilter/nfnetlink_queue").splitlines()
        rate = sum(end["sum_received"]["bits_per_second"] for end in ends) / 1e6
        return rate, used, [int(line.split()[7]) for line in told]


def main() -> None:
    """Measures in turns."""
    parser = argparse.ArgumentParser(description="Compare one packet queue with two.")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N")
    parser.add_argument("--seconds", type=positive, default=3, metavar="S")
    options = parser.parse_args()
    binary = str(build().accept)
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    runs = [[carried(queues, options.seconds, binary) for queues in (1, 2)] for _ in range(options.rounds)]
    print("| queues | Mbit/s | processors that the programs keep busy | packets by queue |")
    print("|---|---:|---:|---:|")
    for queues, column in zip((1, 2), zip(*runs, strict=True), strict=True):
        rate, used = (statistics.median(run[index] for run in column) for index in (0, 1))
        packets = " and ".join(f"{count:,}" for count in column[-1][2])
        print(f"| {queues} | {rate:,.0f} | {used:.2f} | {packets} |")


if __name__ == "__main__":
    main()
