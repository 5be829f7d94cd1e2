"""A daemon that hangs or spins loses its packets: within seconds they pass as if it were not there."""

from __future__ import annotations

import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from clock import PATIENCE_S, bound
from daemon import Daemon
from net import Net, run, wait_for
from test_rules import WAYS, tools
from threads import hung, spin, thread_of
from traffic import Open

BOUND_S = bound(6, busy=9)
"""docs/robustness.md: the lease, and the retransmission that comes after it."""


class Echoes:
    """Connections on which a mesh host says a word and the server says it again, ten times a second; many twice."""

    def __init__(self, net: Net, count: int) -> None:
        with ThreadPoolExecutor(50) as pool:  # each waits for a round trip
            self.connections = list(pool.map(lambda _: Open(net), range(count)))
        self.last = dict.fromkeys(self.connections, 0.0)
        self.pause_s = 0.1 if count < 100 else 0.5
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        poller = select.epoll()
        ends: dict[int, tuple[socket.socket, Open, bool]] = {}
        due: list[tuple[float, Open]] = []
        for connection in self.connections:
            for end, is_client in ((connection.cli, True), (connection.srv, False)):
                ends[end.fileno()] = (end, connection, is_client)
                poller.register(end.fileno(), select.EPOLLIN)
            connection.cli.send(b"word")
        while not self._stop.is_set():
            for number, _ in poller.poll(0.02):
                end, connection, is_client = ends[number]
                word = end.recv(100)
                if not word:
                    return
                if is_client:
                    self.last[connection] = time.monotonic()
                    due.append((self.last[connection] + self.pause_s, connection))
                else:
                    end.send(word)
            now = time.monotonic()
            ready = [connection for at, connection in due if at <= now]
            due = [entry for entry in due if entry[0] > now]
            for connection in ready:
                connection.cli.send(b"word")

    def all_since(self, when: float) -> bool:
        """Every connection heard its word again after that time."""
        return all(last > when for last in self.last.values())

    def close(self) -> None:
        """All of them."""
        self._stop.set()
        self._thread.join(timeout=5)
        for connection in self.connections:
            connection.close()


@contextmanager
def echoes(net: Net, count: int) -> Iterator[Echoes]:
    """As many connections, all of which have exchanged a word."""
    made = Echoes(net, count)
    try:
        wait_for(lambda: made.all_since(0.0))
        yield made
    finally:
        made.close()


def back_after(talk: Echoes, fault: Callable[[], object]) -> float:
    """Seconds from the fault until every connection has exchanged a word in spite of it."""
    fault()
    # What was on its way: half a round trip of it may still arrive.
    start = time.monotonic()
    wait_for(lambda: talk.all_since(start + 0.5), step=0.01)
    return time.monotonic() - start


@pytest.mark.parametrize("mode", ["observe", "pace"])
@pytest.mark.parametrize("count", [1, 20, 1_000])
def test_traffic_flows_again_after_sigstop(tmp_path: Path, count: int, mode: str) -> None:
    with Net(tmp_path, room="w") as net, Daemon(net, mode) as daemon, echoes(net, count) as talk:
        wait_for(lambda: daemon.status()["flows"]["known"] >= count)  # an answer may be a tenth of a second old
        took = back_after(talk, lambda: daemon.signal(signal.SIGSTOP))
        print(f"{count} connections, {mode}: {took:.1f} s")
        daemon.signal(signal.SIGCONT)
        assert took < BOUND_S
        # And the daemon is back in the path when it gets on.
        packets = daemon.status()["traffic"]["packets"]
        wait_for(lambda: daemon.status()["traffic"]["packets"] > packets + count)


@pytest.mark.parametrize("count", [1, 20, 1_000])
@pytest.mark.parametrize("mode", ["observe", "pace"])
def test_traffic_flows_again_after_the_data_thread_spins(tmp_path: Path, count: int, mode: str) -> None:
    # A thread that spins under SCHED_FIFO would take this machine's processor from the others' tests.
    with Net(tmp_path, room="w") as net, Daemon(net, mode, more="[nfqueue]\nrealtime = false\n") as daemon:
        assert daemon.process is not None
        data = thread_of(daemon.process.pid, "data")
        with echoes(net, count) as talk:
            wait_for(lambda: daemon.status()["flows"]["known"] >= count)  # an answer may be a tenth of a second old
            took = back_after(talk, lambda: spin(data))
            before = _cpu_ticks(data)
            wait_for(lambda: _cpu_ticks(data) > before + 5)
            daemon.kill()
        print(f"{count} connections, {mode}: {took:.1f} s")
        assert took < BOUND_S


@pytest.mark.parametrize("way", WAYS)
def test_a_thread_that_hangs_or_spins_loses_its_packets(tmp_path: Path, way: str) -> None:
    # A thread that spins under SCHED_FIFO would take this machine's processor from the others' tests.
    with Net(tmp_path, room="w") as net:
        daemon = Daemon(net, "observe", more="[nfqueue]\nrealtime = false\n")
        daemon.under = ["env", f"PATH={tools(tmp_path, WAYS[way])}"]
        daemon.start()
        assert f"rules by {way}, behind the firewall's filter" in daemon.said()
        assert "without a lease" not in daemon.said()
        assert daemon.process is not None
        data = thread_of(daemon.process.pid, "data")
        with echoes(net, 5) as talk:
            with hung(data):
                start = time.monotonic()
                wait_for(lambda: talk.all_since(start + 0.5), step=0.01)
                assert time.monotonic() - start < BOUND_S
            wait_for(daemon.serves)
            assert back_after(talk, lambda: spin(data)) < BOUND_S
            # It does spin: the others of the process, and the kernel, know nothing better of it.
            before = _cpu_ticks(data)
            wait_for(lambda: _cpu_ticks(data) > before + 5)
            daemon.kill()


def _cpu_ticks(thread: int) -> int:
    """Time that the thread has had a processor for, in user mode, in ticks (proc(5))."""
    fields = Path(f"/proc/{thread}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return int(fields[11])


@pytest.mark.parametrize("datapath", ["nfqueue", "ebpf"])
def test_the_service_manager_hears_from_the_data_thread(tmp_path: Path, datapath: str) -> None:
    with Net(tmp_path, None, room="w") as net:
        path = tmp_path / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(path))
            manager.settimeout(PATIENCE_S)
            daemon = Daemon(net, "observe", top=f'datapath = "{datapath}"')
            daemon.under = ["env", f"NOTIFY_SOCKET={path}", "WATCHDOG_USEC=4000000"]
            daemon.start()
            said = [manager.recv(100)]
            while said[-1] != b"READY=1":
                said.append(manager.recv(100))
            assert set(said[:-1]) <= {b"WATCHDOG=1"}
            for _ in range(5):
                assert manager.recv(100) == b"WATCHDOG=1"
            assert daemon.process is not None
            with hung(thread_of(daemon.process.pid, "data")):
                _drain(manager)
                manager.settimeout(6)
                with pytest.raises(TimeoutError):
                    manager.recv(100)
            manager.settimeout(PATIENCE_S)
            assert manager.recv(100) == b"WATCHDOG=1", "and it goes on"
            daemon.stop()
            _until(manager, b"STOPPING=1")


def _drain(manager: socket.socket) -> None:
    manager.setblocking(False)
    try:
        while True:
            manager.recv(100)
    except BlockingIOError:
        manager.setblocking(True)


def _until(manager: socket.socket, expected: bytes) -> None:
    while manager.recv(100) != expected:
        pass


def test_without_a_loopback_address_rules_are_made_without_a_lease(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="w") as net:
        run("ip", "-n", net.gw, "address", "flush", "dev", "lo")
        with Daemon(net, "observe", more='[metrics]\nlisten = "10.77.0.1:9733"\n') as daemon:
            said = daemon.said()
            assert "no lease of the queue" in said, said
            assert "without a lease" in said, said
            with Open(net) as connection:
                connection.cli.sendall(b"word")
                assert connection.srv.recv(10) == b"word"
                wait_for(lambda: daemon.status()["flows"]["known"] == 1)
