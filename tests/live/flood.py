"""Datagrams that nobody holds back, as a sender of UDP that heeds no loss."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from meanwhile import meanwhile
from net import Net, client

PORT = 7777
PAYLOAD = 1_200


@contextmanager
def flood(net: Net, host: int, rate: float) -> Iterator[list[int]]:
    """Datagrams to a mesh host, so many bit/s whatever arrives; bytes that arrive, in a list of one."""
    with net.within(net.cli):
        sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with net.within(net.srv):
        source = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind((client(4, host), PORT))
    sink.settimeout(0.2)
    got, over = [0], threading.Event()

    def send() -> None:
        begun, sent = time.monotonic(), 0
        while not over.is_set():
            while sent * PAYLOAD * 8 < (time.monotonic() - begun) * rate:
                source.sendto(bytes(PAYLOAD), (client(4, host), PORT))
                sent += 1
            time.sleep(0.002)

    def receive() -> None:
        while not over.is_set():
            try:
                got[0] += len(sink.recv(2_000))
            except TimeoutError:
                continue

    with source, sink, meanwhile(over, send, receive):
        yield got
