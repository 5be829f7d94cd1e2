"""Departures keep their times while clients ask a daemon that knows tens of thousands of flows."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

from clock import PATIENCE_S, bound
from daemon import Daemon
from net import CLIENT, Net, wait_for
from test_gateway_hostile import Raw, silence, tcp
from traffic import Bulk

FLOWS = 65_536
METRICS = 9_733
SECONDS = 5.0


def test_departures_keep_their_times_while_clients_ask(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    more = f'[metrics]\nlisten = "127.0.0.1:{METRICS}"\n[events]\nfile = "{log}"\n'
    with Net(tmp_path, room="s") as net, Daemon(net, "pace", rate="11Mbps", more=more) as daemon:
        for namespace in (net.srv, net.cli):
            silence(namespace)
        raw = Raw(net, net.srv)

        def fill() -> bool:
            known = daemon.status()["flows"]["known"]
            for number in range(known, FLOWS):
                source = (f"10.1.0.{3 + number // 30_000}", 1_000 + number % 30_000)
                raw.send(tcp(source, (CLIENT[4], 7_000), 1, 1, payload=b"x"))
                if number % 500 == 0:
                    time.sleep(0.01)
            return known >= FLOWS * 9 // 10

        with Bulk(net):
            wait_for(fill)
            before = daemon.status()["lateness"]
            ends = threading.Event()
            asked = [0, 0, 0]

            def ask(place: int, command: str, **keys: object) -> None:
                while not ends.is_set():
                    assert daemon.ask(command, **keys)
                    asked[place] += 1

            def scrape() -> None:
                while not ends.is_set():
                    with net.within(net.gw):
                        server = socket.create_connection(("127.0.0.1", METRICS), timeout=PATIENCE_S)
                    with server:
                        server.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                        answer = b""
                        while more := server.recv(1 << 16):
                            answer += more
                    assert b"meshpace_flows" in answer
                    asked[2] += 1

            askers = [
                threading.Thread(target=scrape),
                threading.Thread(target=ask, args=(0, "status")),
                threading.Thread(target=ask, args=(1, "flows"), kwargs={"limit": 20}),
            ]
            for asker in askers:
                asker.start()
            try:
                # Five seconds, and longer where a busy machine lets less depart.
                time.sleep(SECONDS)
                wait_for(lambda: min(asked) and daemon.status()["lateness"]["departures"] > before["departures"] + 100)
            finally:
                ends.set()
                for asker in askers:
                    asker.join()
        after = daemon.status()
        assert after["flows"]["known"] >= FLOWS * 9 // 10
        assert log.read_text(encoding="utf-8").splitlines(), "events were written meanwhile"
        assert after["lateness"]["p99_s"] <= bound(1e-3, busy=50e-3), after["lateness"]
        print(f"{asked} answers, {after['flows']['known']} flows, {after['lateness']}")
