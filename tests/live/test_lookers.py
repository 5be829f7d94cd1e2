"""Many clients that ask for all flows at once: what the daemon's memory is afterwards."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

from clock import PATIENCE_S
from daemon import Daemon
from net import CLIENT, Net, wait_for
from test_gateway_hostile import Raw, memory, silence, tcp

FLOWS = 12_000
CLIENTS = 24
"""As many as may only look."""
ROUNDS = 2
GROWTH = 128 << 20


def ask(path: Path, times: int) -> None:
    """One client, which lists flows again and again."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.settimeout(PATIENCE_S)
        control.connect(str(path))
        for _ in range(times):
            control.sendall(b'{"command": "flows", "limit": 50}\n')
            answer = b""
            while not answer.endswith(b"\n"):
                answer += control.recv(1 << 20)
            time.sleep(0.2)


def test_what_answers_took_is_given_back(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="u") as net, Daemon(net, "observe") as daemon:
        for namespace in (net.srv, net.cli):
            silence(namespace)
        raw = Raw(net, net.srv)

        def fill() -> bool:
            known = int(daemon.status()["flows"]["known"])
            for number in range(known, FLOWS):
                raw.send(tcp(("10.1.0.3", 1_000 + number), (CLIENT[4], 7_000), 1, 1, payload=b"x"))
                if number % 500 == 0:
                    time.sleep(0.02)
            return known >= FLOWS * 9 // 10

        wait_for(fill)
        before = memory(daemon)
        for _ in range(ROUNDS):
            clients = [threading.Thread(target=ask, args=(daemon.socket, 4)) for _ in range(CLIENTS)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
        grown = memory(daemon) - before
    print(f"{before / 2**20:.0f} MiB, grown by {grown / 2**20:.0f} MiB")
    assert grown <= GROWTH
