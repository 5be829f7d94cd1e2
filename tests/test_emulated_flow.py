"""The transfers of the benchmarks on the emulator: what their ends tell of them."""

from __future__ import annotations

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from emulated_flow import PROGRAM, between, opened, told


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


def test_a_connection_has_its_congestion_control_before_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has another until then may keep that one's pacing."""
    did = []

    class Told(socket.socket):
        def setsockopt(self, *words: Any) -> None:
            did.extend(["control"] * (words[1] == socket.TCP_CONGESTION))
            super().setsockopt(*words)

        def connect(self, address: Any) -> None:
            did.append("connect")
            super().connect(address)

        def listen(self, *words: int) -> None:
            did.append("listen")
            super().listen(*words)

    door = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setattr(socket, "socket", Told)
    with door, opened(["call", "127.0.0.1", str(door.getsockname()[1]), "send", "reno"])[0] as made:
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 5) == b"reno\0"
    assert did == ["control", "connect"]
    port = str(free_port())
    did.clear()
    with ThreadPoolExecutor() as pool:
        served = pool.submit(opened, ["serve", port, "take", "reno"])
        caller, _ = opened(["call", "127.0.0.1", port, "send", "reno"])
        with caller, served.result(timeout=30)[0] as taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 5) == b"reno\0"
    assert did.index("listen") > did.index("control")


def test_an_end_without_a_connection_got_nothing_and_one_that_is_late_is_no_zero() -> None:
    assert between(told(""), 10, 40) == 0
    assert between(told("0 0\n1 5\n2 9\n"), 1, 2) == 4
    with pytest.raises(ValueError, match="tells of 2 s, 40 are asked for"):
        between(told("0 0\n1 5\n2 9\n"), 1, 40)
