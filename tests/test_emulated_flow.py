"""The transfers of the benchmarks on the emulator: what their ends tell of them."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from emulated_flow import PROGRAM, between, told


def free_port() -> int:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        port: int = any_port.getsockname()[1]
        return port


@pytest.mark.parametrize(("server", "client"), [("take", "send"), ("send", "take")])
def test_both_ends_tell_second_by_second(server: str, client: str) -> None:
    port = free_port()
    ends = {
        server: ["serve", str(port), server, "reno"],
        client: ["call", "127.0.0.1", str(port), client, "reno"],
    }
    processes = {
        role: subprocess.Popen([sys.executable, str(PROGRAM), *words], stdout=subprocess.PIPE, text=True)
        for role, words in ends.items()
    }
    try:
        lines = {}
        for role, process in processes.items():
            assert process.stdout is not None
            lines[role] = told("".join(process.stdout.readline() for _ in range(3)))
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()
    assert list(lines["take"]) == list(lines["send"]) == [0, 1, 2]
    assert between(lines["take"], 0, 2) > 1_000_000, "loopback carries that"
    assert between(lines["send"], 0, 2) >= 0


def test_an_end_without_a_connection_got_nothing_and_one_that_is_late_is_no_zero() -> None:
    assert between(told(""), 10, 40) == 0
    assert between(told("0 0\n1 5\n2 9\n"), 1, 2) == 4
    with pytest.raises(ValueError, match="tells of 2 s, 40 are asked for"):
        between(told("0 0\n1 5\n2 9\n"), 1, 40)
