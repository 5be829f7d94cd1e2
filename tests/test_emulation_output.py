"""What of the commands on real hosts reaches the terminal."""

from __future__ import annotations

import pytest

from meshpace.emulation.runs import _is_server
from meshpace.emulation.session import how_long


@pytest.mark.parametrize(
    "command",
    [
        "iperf3 -s",
        "iperf3 -s -1",
        "exec /usr/bin/iperf3 -4 -s -p 5202",
        "iperf3 -1s",
        "iperf3 --server",
        "sleep 1; iperf3 -s",
    ],
)
def test_a_server_is_one(command: str) -> None:
    assert _is_server(command)


@pytest.mark.parametrize(
    "command",
    [
        "iperf3 -c B -t 5",
        "iperf3 -J -c B --set-mss 900",
        "echo iperf3",
        "iperf3 -s > log",
        "ls -s",
        "iperf3 -c B; ls -s",
    ],
)
def test_others_say_what_they_have_to_say(command: str) -> None:
    assert not _is_server(command)


def test_a_terminal_is_told_how_long_it_takes() -> None:
    timed = {"measure": {"kind": "time", "duration_s": 25.0}}
    assert how_long("mesh", timed, 2.0).startswith("mesh: it runs for 50 s, ")
    assert "until all is measured" in how_long("mesh", {"measure": {"kind": "batches", "packets": 5}}, 1.0)
