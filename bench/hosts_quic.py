"""Downloads over QUIC through a live gateway, for bench/hosts_live.py: quinn, which bench/quic is a program of.

The server is at port 443, where the gateway looks for spin bits. quinn turns its bit on seven of eight connections,
drawn by either end, as RFC 9000, section 17.4, asks: so of some runs with it nothing is measured by it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "live"))

from net import SERVER, Net, client

FOLDER = Path(__file__).resolve().parent / "quic"
TARGET = FOLDER.parents[1] / "target" / "quic"
PORT = 443


def build() -> Path:
    """The program, built if it is not there."""
    made = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    made.pop("RUSTC_WORKSPACE_WRAPPER", None)
    subprocess.run(["cargo", "build", "--quiet", "--locked"], cwd=FOLDER, env=made, check=True)
    return TARGET / "debug" / "quic"


@contextmanager
def download(net: Net, program: Path, spin: bool, warm_up: float, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """The first host downloads. At its end the process prints the bytes that came in so many seconds, after so many."""
    within, word = ["ip", "netns", "exec"], "spin" if spin else "still"
    at = f"{SERVER[4]}:{PORT}"
    serving = [*within, net.srv, program, "serve", at, word]
    with subprocess.Popen(serving, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "up\n", "the server did not start"
        asking = [*within, net.cli, program, "fetch", at, client(4, 0), word, str(warm_up), str(seconds)]
        with subprocess.Popen(asking, stdout=subprocess.PIPE, text=True) as fetching:
            yield fetching
        server.terminate()
