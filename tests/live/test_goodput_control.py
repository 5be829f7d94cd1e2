"""Goodput control (schemes.md 3.5, profile `robust`) beside flows that take little, on purpose or not: kernels' TCP."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from clock import bound
from daemon import Daemon
from net import SERVER, Net, client, wait_for
from traffic import Bulk

# A download's pace is then some 500 kbit/s (schemes.md 1.4), whatever else the machine does.
RATE = "11Mbps"
SECONDS = 8.0
ATTACKED = 25.0
KEPT = bound(0.8, busy=0.6)
"""Of the download's rate."""


@contextmanager
def download(net: Net, daemon: Daemon) -> Iterator[Bulk]:
    """A download that has its pace and has found its window."""
    with Bulk(net) as bulk:
        wait_for(lambda: len(daemon.flows()) == 1 and daemon.flows()[0]["samples"] > 50)
        yield bulk


def of(daemon: Daemon, bulk: Bulk) -> dict[str, Any]:
    """The download as the daemon knows it."""
    return daemon.flow(bulk.ends.ports[1])


def trickle(net: Net, daemon: Daemon, flows: int) -> ExitStack:
    """Connections to another mesh host, with 100 bytes each every 4 s, and a tenth more every 5 s: whoever asks
    whether it helped them to hold a download back hears that it did."""
    stack = ExitStack()
    ends = []
    for _ in range(flows):
        with net.listen(net.srv) as door:
            calling = net.socket(net.cli)
            calling.bind((client(4, 1), 0))
            calling.connect((SERVER[4], door.getsockname()[1]))
            called, _ = door.accept()
        ends.append(called)
        stack.callback(called.close)
        stack.callback(calling.close)
    over = threading.Event()

    def drip() -> None:
        begun = time.monotonic()
        while not over.is_set():
            for end in ends:
                end.send(bytes(int(100 * 1.1 ** ((time.monotonic() - begun) / 5))))
                if over.wait(4 / flows):
                    return

    dripping = threading.Thread(target=drip, daemon=True)
    dripping.start()
    stack.callback(dripping.join)
    stack.callback(over.set)
    wait_for(lambda: len(daemon.flows()) > flows * 9 // 10, seconds=100)
    return stack


def test_100_flows_that_trickle_beside_a_download(tmp_path: Path) -> None:
    with (
        Net(tmp_path, clients=2, room="a") as net,
        Daemon(net, "pace", rate=RATE) as daemon,
        download(net, daemon) as victim,
    ):
        before = victim.moves(SECONDS)
        with trickle(net, daemon, 100):
            during = victim.moves(ATTACKED) * SECONDS / ATTACKED
            detail = daemon.ask("flow", flow=of(daemon, victim)["flow"])["flow"]
        standing = detail["goodput_control"]
        print(f"{before * 8e-3 / SECONDS:.0f} kbit/s before, {during * 8e-3 / SECONDS:.0f} beside them; {standing}")
        assert during >= KEPT * before
        assert standing["cap_interval_s"] is None, "nobody is helped by holding it back"


def test_a_web_flow_beside_a_download(tmp_path: Path) -> None:
    with (
        Net(tmp_path, clients=2, room="a") as net,
        Daemon(net, "pace", rate=RATE) as daemon,
        download(net, daemon) as victim,
    ):
        before = victim.moves(15.0)
        with Bulk(net, pause=1_000 * 8 / 12e3):
            during = victim.moves(15.0)
            detail = daemon.ask("flow", flow=of(daemon, victim)["flow"])["flow"]
        standing = detail["goodput_control"]
        print(f"{before * 8e-3 / 15:.0f} kbit/s before, {during * 8e-3 / 15:.0f} beside it; {standing}")
        # A window under CoDel gives now more, now less in 15 s: to 3 % only the simulation tells.
        assert during >= bound(0.9, busy=0.6) * before
        assert standing["cap_interval_s"] is None
