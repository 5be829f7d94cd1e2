"""The capture in monitor mode that is kept (tests/fixtures/monitor) is read as what it is."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

CAPTURE = Path(__file__).parent / "fixtures" / "monitor" / "hwsim-mesh.pcap.gz"
# Type and subtype (IEEE 802.11-2020, table 9-1).
BEACON, ACTION, ACK, QOS_DATA, QOS_NULL = 0x08, 0x0D, 0x1D, 0x28, 0x2C
FIELDS = ("wlan.fc.type_subtype", "wlan.ra", "wlan.ta", "radiotap.channel.freq", "tcp.len")


@dataclass(frozen=True)
class Frame:
    """What one frame says of itself."""

    kind: int
    receiver: str
    transmitter: str
    channel: str
    payload: int

    @property
    def unicast(self) -> bool:
        """To one station (the group bit of its address)."""
        return int(self.receiver[:2], 16) & 1 == 0


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    if (tshark := shutil.which("tshark")) is None:
        pytest.skip("needs tshark (Debian: tshark)")
    words = [tshark, "-n", "-r", str(CAPTURE), "-T", "fields", *(word for name in FIELDS for word in ("-e", name))]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    return [
        Frame(int(kind, 16), receiver, transmitter, channel, int(payload or 0))
        for kind, receiver, transmitter, channel, payload in (line.split("\t") for line in lines)
    ]


def test_frames_by_type(frames: list[Frame]) -> None:
    assert Counter(frame.kind for frame in frames) == {BEACON: 14, ACTION: 8, ACK: 137, QOS_NULL: 2, QOS_DATA: 157}
    assert {frame.channel for frame in frames} == {"2412"}
    assert sum(frame.payload for frame in frames) == 60_000


def test_every_unicast_frame_is_acknowledged_at_once(frames: list[Frame]) -> None:
    asked = [(sent, heard) for sent, heard in pairwise(frames) if sent.kind != ACK and sent.unicast]
    assert len(asked) == 137
    assert all(heard.kind == ACK and heard.receiver == sent.transmitter for sent, heard in asked)
