"""Files one after another between two hosts, each over a connection of its own, and how long each takes.

    emulated_files.py serve PORT CONTROL
    emulated_files.py fetch HOST PORT CONTROL

Who fetches prints lines `BEGAN SIZE TOOK`: seconds since the beginning of this program, bytes, seconds from the first
try to connect to the last byte.
"""

from __future__ import annotations

import itertools
import socket
import sys
import time
from pathlib import Path
from typing import NamedTuple

from emulated_flow import BLOCK, chosen

PROGRAM = Path(__file__).resolve()
SIZES = (20_000, 100_000, 20_000, 1_000_000, 20_000, 100_000, 20_000)
"""In turn, again and again."""


class File(NamedTuple):
    """One that was fetched."""

    began_s: float
    size: int
    took_s: float


def fetched(output: str) -> list[File]:
    """What an end has told; a line that is not whole is none."""
    words = [line.split() for line in output.splitlines(keepends=True) if line.endswith("\n")]
    return [File(float(began), int(size), float(took)) for began, size, took in words]


def serve(port: int, control: str, files: int | None = None) -> None:
    """Sends as many bytes as asked for, file by file; so many of them, or until it is killed."""
    with chosen(control) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("", port))
        door.listen()
        for _ in itertools.count() if files is None else range(files):
            connection, _ = door.accept()
            with connection, connection.makefile("rb") as asked:
                connection.sendall(bytes(int(asked.readline())))


def fetch(host: str, port: int, control: str, files: int | None = None) -> None:
    """Fetches so many files, or until it is killed."""
    beginning = time.monotonic()
    for size in itertools.islice(itertools.cycle(SIZES), files):
        began = time.monotonic()
        left = None
        while left is None:
            with chosen(control) as connection:
                try:
                    connection.connect((socket.gethostbyname(host), port))
                except OSError:  # the server is not up yet
                    time.sleep(0.2)
                    began = time.monotonic()
                    continue
                connection.sendall(f"{size}\n".encode())
                left = size
                while data := connection.recv(BLOCK):
                    left -= len(data)
        if left:
            sys.exit(f"{size} bytes were asked for, {left} of them did not come")
        print(f"{began - beginning:.3f} {size} {time.monotonic() - began:.6f}", flush=True)


def main() -> None:
    match sys.argv[1:]:
        case ["serve", port, control]:
            serve(int(port), control)
        case ["fetch", host, port, control]:
            fetch(host, int(port), control)
        case words:
            sys.exit(f"found {words}; allowed: serve PORT CONTROL, fetch HOST PORT CONTROL")


if __name__ == "__main__":
    main()
