"""Many TCP connections at once: `serve` on the wired side, `open` on the mesh host. One thread each, epoll.

    connections.py serve ADDRESS PORT MESSAGE_BYTES PERIOD_S
    connections.py open ADDRESS PORT COUNT

The server sends every connection one message a period, spread evenly over the period. The opener prints `open COUNT`
when all connections are made and `received BYTES` when its standard input ends.
"""

from __future__ import annotations

import contextlib
import resource
import select
import socket
import sys
import time


def serve(address: str, port: int, size: int, period: float) -> None:
    """Sends until it is killed."""
    listener = socket.create_server((address, port), backlog=4096)
    listener.setblocking(False)
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    connections: list[socket.socket] = []
    message = bytes(size)
    turn, due = 0, time.monotonic()
    while True:
        wait = max(0.0, due - time.monotonic()) if connections else -1.0
        if poll.poll(wait):
            with contextlib.suppress(BlockingIOError):
                while True:
                    connection, _ = listener.accept()
                    connection.setblocking(False)
                    connections.append(connection)
        now = time.monotonic()
        if not connections:
            due = now
            continue
        # What could not be sent in time is not made up for beyond a tenth of a second.
        due = max(due, now - 0.1)
        while due <= now:
            with contextlib.suppress(BlockingIOError):
                connections[turn % len(connections)].send(message)
            turn += 1
            due += period / len(connections)


def opened(address: str, port: int, count: int) -> None:
    """Opens `count` connections, 500 at a time, and reads them until standard input ends."""
    poll = select.epoll()
    connections: dict[int, socket.socket] = {}
    waiting: set[int] = set()
    received = 0
    told = False
    poll.register(sys.stdin, select.EPOLLIN)
    buffer = bytearray(65536)
    while True:
        while len(connections) < count and len(waiting) < 500:
            connection = socket.socket()
            connection.setblocking(False)
            connection.connect_ex((address, port))
            connections[connection.fileno()] = connection
            waiting.add(connection.fileno())
            poll.register(connection, select.EPOLLOUT)
        if len(connections) == count and not waiting and not told:
            print("open", count, flush=True)
            told = True
        for number, events in poll.poll():
            if number == sys.stdin.fileno():
                print("received", received, flush=True)
                return
            if events & (select.EPOLLERR | select.EPOLLHUP):
                raise OSError(
                    f"connection {number}: {connections[number].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)}"
                )
            if number in waiting:
                waiting.discard(number)
                poll.modify(number, select.EPOLLIN)
            else:
                received += connections[number].recv_into(buffer)


def main() -> None:
    """Reads the arguments."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    match sys.argv[1:]:
        case ["serve", address, port, size, period]:
            serve(address, int(port), int(size), float(period))
        case ["open", address, port, count]:
            opened(address, int(port), int(count))
        case _:
            sys.exit(__doc__)


main()
