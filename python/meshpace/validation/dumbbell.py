"""One flow over a wired bottleneck: which settings, and what ns-2.35's TCP/Linux and ns-3.37 gave there.

``validation/points/ns2_dumbbell.toml`` and ``ns3_dumbbell.toml`` list them, ``validation/points/measure_dumbbell.py``
runs them with ``bench/ns2/dumbbell.tcl`` and ``bench/ns3/dumbbell.cc``, and the files of the same names in
``validation/reference`` hold what came out, a row a point and quantity.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from meshpace.project import points_directory
from meshpace.validation.measured import Table
from meshpace.validation.model import Absolute, Check, Observed, Quantity, Relative, Setup, Tolerance, goodput_kbps

_SCENARIO = "dumbbell.toml"
GOODPUT, WINDOW, QUEUE = "goodput", "window", "queue"
_PACKET_BITS = 1500 * 8


def _table(name: str) -> Table[float]:
    return Table(name, ("value",), lambda row: float(row["value"]), lambda value: (f"{value:.6g}",))


NS2, NS3 = _table("ns2_dumbbell"), _table("ns3_dumbbell")
"""What ns-2.35 and ns-3.37 gave."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """One set-up that two simulators run, ours and another."""

    control: str
    """The other one's word."""
    scheme: str
    mbps: float
    delay_ms: float
    queue: int
    own: tuple[str, ...] = ()
    """What else is set in the scenario."""

    @property
    def name(self) -> str:
        """The row's."""
        return f"{self.control}, {self.mbps:g} Mbit/s, {self.delay_ms:g} ms, {self.queue} packets"

    @property
    def settings(self) -> tuple[str, ...]:
        """What is set in the scenario."""
        link = {"rate": f"{self.mbps:g}Mbps", "delay": f"{self.delay_ms:g}ms", "queue": self.queue}
        return (*(f"link.1.{key}={value}" for key, value in link.items()), *self.own)

    def waiting(self, run: Observed) -> float | None:
        """Packets at the bottleneck on average, by what packets take longer than an empty path."""
        delay_s = run["flows"][0]["delay_mean_s"]
        if delay_s is None:
            return None
        on_air_s = _PACKET_BITS / (self.mbps * 1e6)
        empty_s = (self.delay_ms + 2) / 1e3 + 2 * _PACKET_BITS / 100e6 + on_air_s
        return (delay_s - empty_s) / on_air_s


def bottlenecks(measured: Table[float]) -> list[Bottleneck]:
    """The points of a file of measurements, in the order of its list."""
    with (points_directory() / f"{measured.name}.toml").open("rb") as file:
        return [Bottleneck(**{**p, "own": tuple(p.get("own", ()))}) for p in tomllib.load(file)["point"]]


def _setups(measured: Table[float], source: str) -> Iterator[Setup]:
    known = measured.read()
    for point in bottlenecks(measured):
        rows: dict[str, tuple[str, Tolerance, Quantity]] = {
            GOODPUT: ("kbit/s", Relative(0.01), goodput_kbps()),
            WINDOW: ("segments", Relative(0.05), lambda run: run["flows"][0]["cwnd_mean"]),
            QUEUE: ("packets", Absolute(4), point.waiting),
        }
        checks = tuple(
            Check(point.name, quantity, unit, known[point.name][quantity], tolerance, take, source)
            for quantity, (unit, tolerance, take) in rows.items()
        )
        yield Setup(measured.name, _SCENARIO, point.settings, point.scheme, 1, checks, points_directory)


def ns2_dumbbell() -> Iterator[Setup]:
    """One flow over a wired bottleneck, from 20 to 120 s, against ns-2.35's TCP/Linux (bench/ns2/dumbbell.tcl).

    Its controls are those of Linux 2.6.22, but CUBIC's share that a loss leaves, which is today's. Its receiver
    acknowledges each segment. Westwood+ is not among them: ns-2 never tells it that recovery is over. Goodput within
    1 %, the mean window within 5 %, packets at the bottleneck within 4.
    """
    yield from _setups(NS2, "ns-2.35")


def ns3_dumbbell() -> Iterator[Setup]:
    """One flow over a wired bottleneck, from 20 to 120 s, against ns-3.37 (bench/ns3/dumbbell.cc).

    Its receiver acknowledges each segment. Goodput within 1 %, the mean window within 5 %, packets at the bottleneck
    within 4.
    """
    yield from _setups(NS3, "ns-3.37")
