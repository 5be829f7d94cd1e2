"""Times on the air as a film of a run shows them, in microseconds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from meshpace.validation.model import Film, Observed, Quantity

_LIGHT_M_PER_S = 299_792_458


@dataclass(frozen=True, slots=True)
class _Frame:
    start_ns: int
    airtime_ns: int
    sender: int
    receiver: int | None
    kind: str


def exchange_us(kind: str, rts: bool, expected: float, answer: str = "ack") -> Quantity:
    """First bit of the RTS (or of the data frame, of ``kind``) to that of the ``answer``, propagation taken off.

    Of all such exchanges in the film the one farthest from ``expected``: each must take that long, not their mean.
    """
    kinds = ("rts", "cts", kind, answer) if rts else (kind, answer)

    def take(run: Observed) -> float | None:
        flight_ns = _flight_ns(run["film"])
        return _farthest(
            expected,
            (
                frames[-1].start_ns + frames[-1].airtime_ns - frames[0].start_ns - (len(kinds) - 1) * flight_ns
                for frames in _in_a_row(run["film"], kinds)
            ),
        )

    return take


def frame_us(kind: str, expected: float) -> Quantity:
    """Time on the air of a frame of ``kind``; of all in the film the one farthest from ``expected``."""

    def take(run: Observed) -> float | None:
        return _farthest(expected, (frame.airtime_ns for frame in _frames(run["film"]) if frame.kind == kind))

    return take


def _farthest(expected: float, times_ns: Iterator[float]) -> float | None:
    return max((ns / 1e3 for ns in times_ns), key=lambda us: abs(us - expected), default=None)


def _frames(film: Film) -> list[_Frame]:
    columns = film["frames"]
    names = ("start_ns", "airtime_ns", "from", "to", "kind")
    return [_Frame(*values) for values in zip(*(columns[name] for name in names), strict=True)]


def _in_a_row(film: Film, kinds: Sequence[str]) -> Iterator[list[_Frame]]:
    """Frames of these kinds one after the other, each sent by the receiver of the one before."""
    frames = _frames(film)
    for start in range(len(frames) - len(kinds) + 1):
        row = frames[start : start + len(kinds)]
        answered = all(a.receiver == b.sender and a.sender == b.receiver for a, b in itertools.pairwise(row))
        if answered and [frame.kind for frame in row] == list(kinds):
            yield row


def _flight_ns(film: Film) -> float:
    """Propagation between the two nodes of the film."""
    a, b = film["nodes"]
    return math.hypot(a["x"] - b["x"], a["y"] - b["y"]) / _LIGHT_M_PER_S * 1e9
