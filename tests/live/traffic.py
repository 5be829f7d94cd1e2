"""TCP transfers through the gateway under test, byte for byte, and what is made of the relay's log of them."""

from __future__ import annotations

import random
import select
import socket
import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from net import SERVER, Net, Seen, client, wait_for

SEGMENT = 64 << 10
UNDER_WAY = 64 << 10
"""What a :class:`Bulk` has under way over the relay's delays: 11 Mbit/s over 60 ms. Its kernel doubles the number for
what packets take beside their data (socket(7), SO_SNDBUF). Without a bound it would send what the processors can
carry, and they are others' too."""
WITHOUT_DELAYS = 2_000_000
"""Byte/s of one where nothing delays packets, and what is under way bounds nothing."""
SO_MAX_PACING_RATE = 47  # asm-generic/socket.h


@dataclass(frozen=True)
class Transfer:
    """One connection that carried a known pseudo-random text in one direction."""

    version: int
    down: bool
    seed: int
    received: int
    intact: bool
    seconds: float
    server_port: int
    client_port: int

    @property
    def goodput(self) -> float:
        """Bit/s."""
        return self.received * 8 / self.seconds


def text(seed: int, size: int) -> bytes:
    """What transfer `seed` carries."""
    return random.Random(seed).randbytes(size)


class Open:
    """An established connection between srv and one of cli's hosts, opened from the mesh unless told otherwise."""

    def __init__(
        self, net: Net, version: int = 4, *, from_mesh: bool = True, congestion: str = "reno", host: int = 0
    ) -> None:
        opener, listener = (net.cli, net.srv) if from_mesh else (net.srv, net.cli)
        address = SERVER[version] if from_mesh else client(version, host)
        with net.listen(listener, version) as door:
            door.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
            calling = net.socket(opener, version, congestion)
            if from_mesh:
                calling.bind((client(version, host), 0))
            calling.connect((address, door.getsockname()[1]))
            called, _ = door.accept()
        called.settimeout(60)
        self.srv, self.cli = (called, calling) if from_mesh else (calling, called)

    @property
    def ports(self) -> tuple[int, int]:
        """The server's and the mesh host's."""
        return self.srv.getsockname()[1], self.cli.getsockname()[1]

    def close(self) -> None:
        """Both ends."""
        self.srv.close()
        self.cli.close()

    def __enter__(self) -> Open:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def transfer(net: Net, version: int, down: bool, seed: int, size: int, congestion: str = "reno") -> Transfer:
    """Carries `size` bytes over a connection of their own and compares what arrives."""
    data = text(seed, size)
    with Open(net, version, congestion=congestion) as ends:
        source, sink = (ends.srv, ends.cli) if down else (ends.cli, ends.srv)
        server_port, client_port = ends.ports
        start = time.monotonic()
        sender = threading.Thread(target=_send, args=(source, data), daemon=True)
        sender.start()
        arrived = receive_all(sink)
        seconds = time.monotonic() - start
        sender.join()
    return Transfer(version, down, seed, len(arrived), arrived == data, seconds, server_port, client_port)


def _send(source: socket.socket, data: bytes) -> None:
    try:
        source.sendall(data)
        source.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # the receiver's comparison tells


def receive_all(sink: socket.socket) -> bytes:
    """Everything until the other end closes."""
    parts = []
    while part := sink.recv(SEGMENT):
        parts.append(part)
    return b"".join(parts)


class Transfers:
    """Several transfers at the same time; use as a context, then read `results`."""

    def __init__(self, net: Net, plan: Iterable[tuple[int, bool]], size: int, congestion: str = "reno") -> None:
        plan = list(plan)
        self._pool = ThreadPoolExecutor(max_workers=len(plan))
        self._futures: list[Future[Transfer]] = [
            self._pool.submit(transfer, net, version, down, seed, size, congestion)
            for seed, (version, down) in enumerate(plan)
        ]
        self.size = size
        self.results: list[Transfer] = []

    def finish(self, seconds: float = 60.0) -> list[Transfer]:
        """Waits for all; every one must have carried its text unharmed."""
        try:
            self.results = [future.result(timeout=seconds) for future in self._futures]
        finally:
            self._pool.shutdown(wait=False, cancel_futures=True)
        for result in self.results:
            assert result.received == self.size, f"{result} of {self.size} bytes"
            assert result.intact, f"{result}: other bytes arrived than were sent"
        return self.results


class Bulk:
    """A connection that is kept busy in one direction until it is closed; the sink is read as fast as possible.

    With a `pause` the source is an application that writes a packet now and then, so that nothing queues anywhere. Its
    rate has a bound that no machine feels, unless it is not to be `bounded`.
    """

    def __init__(
        self,
        net: Net,
        version: int = 4,
        *,
        down: bool = True,
        congestion: str = "reno",
        pause: float = 0.0,
        host: int = 0,
        bounded: bool = True,
    ) -> None:
        self.pause = pause
        self.ends = Open(net, version, congestion=congestion, host=host)
        self._source, self._sink = (self.ends.srv, self.ends.cli) if down else (self.ends.cli, self.ends.srv)
        if bounded:
            self._source.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNDER_WAY)
        if bounded and net.delays is None:
            self._source.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, WITHOUT_DELAYS)
        self.received = 0
        self.error: OSError | None = None
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._feed, self._drain)]
        for thread in self._threads:
            thread.start()

    def _feed(self) -> None:
        block = bytes(1000 if self.pause else 16 << 10)
        self._source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, self.pause > 0)
        try:
            while not self._stop.is_set():
                if select.select([], [self._source], [], 0.1)[1]:
                    self._source.send(block)
                    time.sleep(self.pause)
        except OSError as error:
            self.error = self.error or error

    def _drain(self) -> None:
        try:
            while not self._stop.is_set():
                if select.select([self._sink], [], [], 0.1)[0]:
                    part = self._sink.recv(SEGMENT)
                    if not part:
                        return
                    self.received += len(part)
        except OSError as error:
            self.error = self.error or error

    def moves(self, seconds: float) -> int:
        """Bytes that arrive within that time."""
        before = self.received
        time.sleep(seconds)
        return self.received - before

    def goes_on(self) -> bool:
        """Waits until more has arrived than now; how long that takes is the senders' timers' affair."""
        before = self.received
        return bool(wait_for(lambda: self.received > before))

    def close(self) -> None:
        """Ends it; a connection that broke fails the test."""
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=5)
        self.ends.close()
        assert self.error is None, f"the connection broke: {self.error}"

    def __enter__(self) -> Bulk:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._stop.set()
            self.ends.close()


def departures(log: Iterable[Seen], source: str, sport: int) -> list[Seen]:
    """The data packets that this end sent, in the order of the log."""
    return [seen for seen in log if (seen.source, seen.sport) == (source, sport) and seen.payload > 0]


def quantile(values: Iterable[float], part: float) -> float:
    """The value that this part of them does not exceed."""
    ordered = sorted(values)
    assert ordered, "no values"
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
