"""One end of a transfer that tells, second by second, what came of it: an end that starves has its say, too.

    emulated_flow.py serve PORT send|take CONTROL
    emulated_flow.py call HOST PORT send|take CONTROL

Lines `SECONDS BYTES`: since the beginning of this program, and received so far; of a sender the segments sent again so
far.
"""

from __future__ import annotations

import select
import socket
import struct
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve()
BLOCK = 64 << 10
TOTAL_RETRANS = 100
"""Where struct tcp_info has tcpi_total_retrans (include/uapi/linux/tcp.h)."""


def opened(words: list[str]) -> tuple[socket.socket, str]:
    """The connection that the words ask for, and whether it sends or takes.

    It has its congestion control before it is one: where the machine's default is BBR, a connection that takes another
    one later keeps the pacing that BBR asked for (bbr_init of Linux 6.18, net/ipv4/tcp_bbr.c; sk_pacing_status is never
    taken back).
    """
    *where, role, control = words
    if where[0] == "call":
        _, host, port = where
        while True:
            made = chosen(control)
            try:
                made.connect((socket.gethostbyname(host), int(port)))
            except OSError:  # the server is not up yet, or the mesh has no route
                made.close()
                time.sleep(0.2)
            else:
                return made, role
    _, port = where
    with chosen(control) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("", int(port)))
        door.listen()
        connection, _ = door.accept()
    return connection, role


def chosen(control: str) -> socket.socket:
    """A TCP socket with this congestion control; one that listens hands it to what it accepts."""
    made = socket.socket()
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    return made


def told(output: str) -> dict[int, int]:
    """What an end has told, by second."""
    pairs = (line.split() for line in output.splitlines())
    return {int(second): int(value) for second, value in pairs}


def between(told: dict[int, int], first: int, last: int) -> int:
    """What was added between two seconds; nothing at an end that never got a connection.

    Raises:
        ValueError: the end was late to begin, so that it does not tell of the last second.
    """
    if not told:
        return 0
    if last not in told:
        raise ValueError(f"a transfer's end was late to begin: it tells of {max(told)} s, {last} are asked for")
    return told[last] - told[first]


def main() -> None:
    began = time.monotonic()
    connection, role = opened(sys.argv[1:])
    connection.setblocking(False)
    sends = role == "send"
    reads, writes = ([], [connection]) if sends else ([connection], [])
    block, received = bytes(BLOCK), 0
    # What was before the connection was nothing.
    second = 0
    while True:
        left = began + second - time.monotonic()
        if left <= 0:
            info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
            told = struct.unpack_from("I", info, TOTAL_RETRANS)[0] if sends else received
            print(second, told, flush=True)
            second += 1
        elif any(select.select(reads, writes, [], left)):
            if sends:
                connection.send(block)
            else:
                data = connection.recv(BLOCK)
                received += len(data)
                if not data:
                    return


if __name__ == "__main__":
    main()
