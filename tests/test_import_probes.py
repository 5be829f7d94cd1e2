"""What a daemon measured, measured again in the scenario that `meshpace import` makes: probes are simulated."""

from __future__ import annotations

import math
import struct
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from commanding import Cli
from meshpace.meshes import tq
from test_import import MESHVIEWER, write

BABEL_PORTS = struct.pack(">HH", 6696, 6696)
HELLO, IHU = 4, 5
SHARE = 256


def test_what_broadcasts_met_comes_out_of_tq() -> None:
    for there, back in product((0.4, 0.6, 0.8, 0.95, 1.0), repeat=2):
        told = tq.with_penalty(there, back), tq.with_penalty(back, there)
        assert list(tq.without_penalty(*told)) == pytest.approx([there, back], abs=1e-6)


def heard(capture: bytes) -> Iterator[tuple[str, str, int]]:
    """Who is heard by whom, and what that costs: once in three Hellos, when nobody chose the moment by what came."""
    at = 0
    while (at := capture.find(BABEL_PORTS, at)) >= 0:
        source = ".".join(map(str, capture[at - 8 : at - 4]))
        body = at + 8
        assert capture[body : body + 2] == bytes((42, 2)), "magic and version of Babel"
        (length,) = struct.unpack_from(">H", capture, body + 2)
        place, third = body + 4, False
        while place < body + 4 + length:
            kind, size = capture[place], capture[place + 1]
            if kind == HELLO:
                third = struct.unpack_from(">H", capture, place + 4)[0] % 3 == 0
            if kind == IHU and third:
                (cost,) = struct.unpack_from(">H", capture, place + 4)
                yield ".".join(map(str, capture[place + 8 : place + 12])), source, cost
            place += 2 + size
        at = body


def arrives(share: float) -> float:
    """The part of Hellos that arrives, of what costs make of it on average.

    Of the four quarters that they weigh, three are of Hellos whose fate is known. One is the latest: a lost one is
    hardly noted before the next comes, so that it counts as arrived unless the one before was lost, too:
    share = (3 q + 1 - (1 - q)^2) / 4.
    """
    return (5 - math.sqrt(25 - 16 * share)) / 2


def test_probes_of_the_scenario_meet_what_the_daemons_met(cli: Cli, tmp_path: Path) -> None:
    """TQ 0.7 there and 0.496 back: of broadcasts at the basic rate 0.8 and 0.5 arrive, which make these again."""
    lossy = {**MESHVIEWER["links"][0], "source_tq": 0.7, "target_tq": 0.496}
    viewer = {**MESHVIEWER, "links": [lossy, *MESHVIEWER["links"][1:]]}
    done = cli("import", *write(tmp_path, (viewer,)), "-o", "mesh.toml", "--routing", "babel")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "mesh.toml").read_text()
    scenario = tomllib.loads(text)
    assert scenario["routing"] == {"protocol": "babel"}
    assert (scenario["measure"]["duration"], scenario["measure"]["warmup"]) == ("110s", "60s")
    # Nobody else on the air, many a Hello.
    quiet = [f"--set=flow.{number}.start=5990s" for number in range(len(scenario["flow"]))]
    ran = cli("run", "mesh.toml", "--pcap", "mesh.pcapng", "--set=measure.duration=6000s", *quiet)
    assert ran.returncode == 0, ran.stderr
    mesh = [node["id"] for node in scenario["node"] if node.get("role") != "wired"]
    shares: dict[tuple[str, str], list[float]] = {}
    for source, target, cost in heard((tmp_path / "mesh.pcapng").read_bytes()):
        shares.setdefault((source, target), []).append(SHARE / cost if cost < 0xFFFF else 0.0)
    names = dict(zip(sorted({end for pair in shares for end in pair}), mesh, strict=True))
    met = {(names[a], names[b]): arrives(sum(found) / len(found)) for (a, b), found in shares.items()}
    there, back = met["tower", "roof"], met["roof", "tower"]
    assert tq.with_penalty(there, back) == pytest.approx(0.7, abs=0.03)
    assert tq.with_penalty(back, there) == pytest.approx(0.496, abs=0.03)
    assert met["roof", "barn"] == pytest.approx(1.0, abs=0.01)
