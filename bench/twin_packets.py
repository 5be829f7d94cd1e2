"""Where a simulated transfer and the same one of this machine's kernel part, packet by packet.

    .venv/bin/python bench/twin_packets.py [--hops H] [--control reno|cubic|bbr] [--seconds N] [--seed K] [--context N]

As root, with tshark. Both are captured on the air; what counts is what the sender's node puts there first and what it
gets back: a segment by its number, an acknowledgement by the segment that it waits for. Prints the first packet that
differs with those around it, then what each of the two does over the whole transfer.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulated_flow import PROGRAM
from emulated_hosts import host

SCENARIO = Path(__file__).resolve().parents[1] / "scenarios" / "twin-chain.toml"
FIELDS = "frame.time_epoch wlan.ta wlan.ra wlan.fc.retry ip.src ip.len tcp.flags.syn tcp.seq_raw tcp.len tcp.ack_raw"
SENDER, AFTER_S = "10.77.0.2", 3
LATE_S = 0.005
"""Of two equal packets, how far apart counts as late or early."""
SILENCE_S = 0.2


@dataclass(frozen=True)
class Event:
    """A packet of the transfer at the sender's node: a segment that leaves, or an acknowledgement that comes."""

    at_s: float
    """After the SYN."""
    sent: bool
    number: float
    """Segments before it, or before what is waited for."""
    length: int
    """Of the IP packet."""

    @property
    def what(self) -> tuple[bool, float]:
        """What makes two packets the same."""
        return self.sent, self.number

    def __str__(self) -> str:
        return f"{self.at_s:9.4f} s  {'segment' if self.sent else '    ack'} {self.number:6g}"


def events(rows: Iterable[str]) -> list[Event]:
    """What tshark's fields say (:data:`FIELDS`, by tabs); a packet once, without the handshake.

    Raises:
        ValueError: there is no handshake, or no data.
    """
    table = [row.split("\t") for row in rows]
    packets = [row for row in table if row[7]]
    opening = next((row for row in packets if row[4] == SENDER and row[6] in {"1", "True"}), None)
    if opening is None:
        raise ValueError("the capture has no SYN of the sender")
    node, begin, first = opening[1], float(opening[0]), int(opening[7]) + 1
    lengths = [int(row[8]) for row in packets if row[4] == SENDER]
    segment = max(lengths)
    if not segment:
        raise ValueError("the capture has no data")
    found = []
    last: dict[bool, float] = {}
    for at, ta, ra, retry, source, length, syn, seq, data, ack in packets:
        if syn in {"1", "True"}:
            continue
        mine = source == SENDER and ta == node and int(data) > 0
        if mine or (source != SENDER and ra == node):
            bytes_ = ((int(seq) if mine else int(ack)) - first) % 2**32
            event = Event(float(at) - begin, mine, round(bytes_ / segment, 2), int(length))
            # An attempt after one whose RTS found no answer is a repeated one, too, and the first with the packet.
            if retry in {"0", "False"} or last.get(mine) != event.number:
                found.append(event)
            last[mine] = event.number
    return found


def parting(ours: Sequence[Event], theirs: Sequence[Event]) -> int | None:
    """The place of the first packet that one has and the other has not there; None if one is the other's beginning."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((place for place, (a, b) in pairs if a.what != b.what), None)


def drifting(ours: Sequence[Event], theirs: Sequence[Event]) -> int | None:
    """The first of their equal packets whose times differ by more than :data:`LATE_S`."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    until = itertools.takewhile(lambda pair: pair[1][0].what == pair[1][1].what, pairs)
    return next((place for place, (a, b) in until if abs(a.at_s - b.at_s) > LATE_S), None)


def summary(found: Sequence[Event]) -> dict[str, str]:
    """What a transfer does as a whole."""
    segments = [event for event in found if event.sent]
    acks = [event for event in found if not event.sent]
    first_ack = acks[0].at_s if acks else float("inf")
    seen: set[float] = set()
    again = []
    for event in segments:
        if event.number in seen:
            again.append(event)
        seen.add(event.number)
    advance = [b for a, b in itertools.pairwise(acks) if b.number > a.number]
    flight, highest, lowest, flights = 0.0, 0.0, 0.0, []
    for event in found:
        if event.sent:
            highest = max(highest, event.number + 1)
        else:
            lowest = max(lowest, event.number)
        flight = highest - lowest
        flights.append(flight)
    gaps = [b.at_s - a.at_s for a, b in itertools.pairwise(segments)]
    recoveries = [group[0] for group in episodes(again)]
    return {
        "bytes of a packet with data": f"{max(event.length for event in segments)}",
        "segments before the first ack comes": f"{sum(event.at_s < first_ack for event in segments)}",
        "segments an ack that advances": f"{acks[-1].number / max(1, len(advance)):.2f}",
        "segments delivered": f"{acks[-1].number:g}",
        "segments sent again on the air": f"{len(again)}",
        "in so many episodes": f"{len(recoveries)}",
        "they begin, s": ", ".join(f"{event.at_s:.1f}" for event in recoveries[:12]),
        "most segments outstanding": f"{max(flights):g}",
        "segments outstanding, median": f"{statistics.median(flights):g}",
        f"silences over {SILENCE_S:g} s": f"{sum(gap > SILENCE_S for gap in gaps)}",
        "the longest, s": f"{max(gaps):.2f}",
    }


def episodes(again: Sequence[Event], apart_s: float = 1.0) -> list[list[Event]]:
    """Segments sent again, together with those less than a second after."""
    groups: list[list[Event]] = []
    for event in again:
        if groups and event.at_s - groups[-1][-1].at_s < apart_s:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def told(ours: Sequence[Event], theirs: Sequence[Event], context: int) -> list[str]:
    """Where they part, and the summary of both."""
    lines = []
    for what, place in (("in time first", drifting(ours, theirs)), ("in what they do", parting(ours, theirs))):
        if place is None:
            lines.append(f"They do not part {what}.")
            continue
        lines += [f"They part {what} at packet {place + 1}:", "", f"{'simulated':36}kernel"]
        for index in range(max(0, place - context), place + context + 1):
            a, b = (str(side[index]) if index < len(side) else "" for side in (ours, theirs))
            lines.append(f"{a:34}{'>' if index == place else ' '} {b}")
        lines.append("")
    both = zip(summary(ours).items(), summary(theirs).values(), strict=True)
    lines += [f"{'':36}{'simulated':24}kernel", *(f"{name:36}{a:24}{b}" for (name, a), b in both)]
    return lines


def read(capture: Path) -> list[Event]:
    words = ["tshark", "-r", str(capture), "-Y", "tcp", "-T", "fields"]
    words += [word for field in FIELDS.split() for word in ("-e", field)]
    return events(subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines())


def capture(hops: int, control: str, seconds: int, seed: int, folder: Path) -> tuple[Path, Path, dict[str, object]]:
    """Both captures, and the emulation's lateness."""
    sets = [f"topology.hops={hops}", "measure.warmup=0s"]
    simulated, emulated = folder / "simulated.pcapng", folder / "emulated.pcapng"
    sets_simulated = [*sets, f"flow.0.to=n{hops}", f"measure.duration={seconds}s"]
    meshpace("run", SCENARIO, sets_simulated, f"--scheme=linux-{control}", f"--seed={seed}", f"--pcap={simulated}")
    program = f"exec {sys.executable} {PROGRAM}"
    hosts = host(f"n{hops}", f"{program} serve 5001 take {control}")
    hosts += host("n0", f"{program} call n{hops} 5001 send {control}", 0.5)
    scenario = folder / "twin.toml"
    # Of the study's scenario what is no flow.
    scenario.write_text(SCENARIO.read_text().partition("[[flow]]")[0] + hosts)
    sets += [f"measure.duration={seconds + AFTER_S}s"]
    name = f"--name=p{folder.name}"
    result = meshpace("emulate", scenario, sets, f"--seed={seed}", name, "--json", f"--pcap={emulated}")
    return simulated, emulated, json.loads(result)["lateness"]


def meshpace(command: str, scenario: Path, sets: Sequence[str], *options: str) -> str:
    words = [sys.executable, "-m", "meshpace", command, str(scenario), *options]
    words += [word for one in sets for word in ("--set", one)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hops", type=int, default=3)
    parser.add_argument("--control", choices=("reno", "cubic", "bbr"), default="reno")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--context", type=int, default=6)
    asked = parser.parse_args()
    if shutil.which("tshark") is None:
        sys.exit("needs tshark")
    with tempfile.TemporaryDirectory(prefix="twin-") as name:
        simulated, emulated, lateness = capture(asked.hops, asked.control, asked.seconds, asked.seed, Path(name))
        both = [[event for event in read(one) if event.at_s <= asked.seconds] for one in (simulated, emulated)]
    print("\n".join(told(both[0], both[1], asked.context)))
    print(f"\nlateness: {lateness['share_late']:.3%} late, {'valid' if lateness['valid'] else 'INVALID'}")


if __name__ == "__main__":
    main()
