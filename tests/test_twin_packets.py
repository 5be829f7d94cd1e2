"""Two captures of a transfer side by side: where they part."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from commanding import CHAIN
from twin_packets import Event, drifting, events, parting, read, summary, told


def transfer(*words: str) -> list[Event]:
    """``1.5>3`` is segment 3 sent at 1.5 s, ``2<4`` an acknowledgement that waits for segment 4."""
    found = []
    for word in words:
        sent = ">" in word
        at, _, number = word.partition(">" if sent else "<")
        found.append(Event(float(at), sent, float(number), 1500 if sent else 52))
    return found


def row(at: float, ends: str, way: str, seq: int, length: int, ack: int, *, retry: int = 0, syn: int = 0) -> str:
    node, other = ends
    source = "10.77.0.2" if way == "out" else "10.77.0.4"
    return "\t".join(map(str, (at, node, other, retry, source, length + 52, syn, seq, length, ack)))


def test_segments_and_acknowledgements_are_numbered_at_the_sender_s_node() -> None:
    first = 2**32 - 1448
    rows = [
        row(5.0, "ab", "out", first - 1, 0, 0, syn=1),
        row(5.1, "ba", "back", 70, 0, first, syn=1),
        row(5.2, "ab", "out", first, 0, 71),
        row(5.3, "ab", "out", first, 1448, 71),
        row(5.4, "ab", "out", first, 1448, 71, retry=1),
        row(5.5, "bc", "out", first, 1448, 71),
        row(5.6, "ab", "out", 0, 1448, 71, retry=1),  # nobody had answered its RTS
        row(5.7, "cb", "back", 71, 0, 1448),
        row(5.8, "ba", "back", 71, 0, 1448),
        "5.9\tb\ta\t0\t\t\t\t\t\t",
    ]
    found = [(round(event.at_s, 3), event.sent, event.number, event.length) for event in events(rows)]
    assert found == [(0.3, True, 0, 1500), (0.6, True, 1, 1500), (0.8, False, 2, 52)]
    with pytest.raises(ValueError, match="no SYN"):
        events(rows[1:])


def test_they_part_where_one_does_what_the_other_does_not() -> None:
    ours = transfer("0.1>0", "0.2>1", "0.3<2", "0.4>2", "0.5<3")
    later = transfer("0.1>0", "0.2>1", "0.310<2", "0.4>2", "0.5<3")
    other = transfer("0.1>0", "0.2>1", "0.25>2", "0.3<2", "0.5<3")
    assert (parting(ours, later), drifting(ours, later)) == (None, 2)
    assert (parting(ours, other), drifting(ours, other)) == (2, None)
    lines = told(ours, other, 1)
    assert "They part in what they do at packet 3:" in lines
    marked = next(line for line in lines if ">" in line)
    assert marked.split() == ["0.3000", "s", "ack", "2", ">", "0.2500", "s", "segment", "2"]


def test_what_a_transfer_does_as_a_whole() -> None:
    said = summary(transfer("0.1>0", "0.2>1", "0.3<2", "0.4>2", "0.5>3", "1.0>2", "1.2<4", "9.0>4", "9.1>4", "9.5<5"))
    assert said["segments before the first ack comes"] == "2"
    assert (said["segments sent again on the air"], said["in so many episodes"]) == ("2", "2")
    assert said["they begin, s"] == "1.0, 9.1"
    assert (said["most segments outstanding"], said["segments delivered"]) == ("2", "5")
    assert (said["silences over 0.2 s"], said["the longest, s"]) == ("2", "8.00")


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_a_simulated_capture_and_itself_do_not_part(tmp_path: Path) -> None:
    scenario, capture = tmp_path / "chain.toml", tmp_path / "air.pcapng"
    scenario.write_text(CHAIN)
    words = [sys.executable, "-m", "meshpace", "run", str(scenario), "--pcap", str(capture)]
    subprocess.run(words, check=True, capture_output=True)
    found = read(capture)
    assert sum(event.sent for event in found) > 100
    assert found[0].what == (True, 0.0)
    # Numbers are whole: the segments of the capture have one size.
    assert all(event.number == int(event.number) for event in found)
    assert told(found, found, 2)[:2] == ["They do not part in time first.", "They do not part in what they do."]
