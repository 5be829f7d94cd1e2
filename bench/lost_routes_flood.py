"""Datagrams that nothing slows down, and who takes them.

lost_routes_flood.py take PORT
lost_routes_flood.py send HOST PORT BITS_PER_SECOND
"""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve()
PAYLOAD = 1472
"""Bytes: a packet of 1,500 with UDP and IP."""


def main() -> None:
    role, *words = sys.argv[1:]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        if role == "take":
            made.bind(("", int(words[0])))
            while True:
                made.recv(PAYLOAD)
        goal, period = (words[0], int(words[1])), PAYLOAD * 8 / int(words[2])
        due = time.monotonic()
        while True:
            made.sendto(bytes(PAYLOAD), goal)
            due += period
            time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main()
