"""What the WE TCP-AP paper says beside its figures (docs/experiments/we-tcp-ap.md, section 4)."""

from __future__ import annotations

from meshpace.experiments.we.adhoc import point as adhoc
from meshpace.experiments.we.chains import PAPER, TCP_AP, WCP, WE, WINF, XCP_B, XCP_WINF
from meshpace.experiments.we.mesh import point as mesh
from meshpace.experiments.we.moving import moving
from meshpace.study.model import AS_IS, NO_AXIS, STATIC, Axis, Plan, Point, Study, timed
from meshpace.study.quantities import DELAY, GOODPUT, JAIN

RENO, XCP, RCP, RCP_WINF = "newreno", "xcp", "rcp", "rcp-winf"
NO_COLLISIONS, NO_RTS = "no collision term", "no RTS/CTS"


_AXIS = Axis(
    "what is changed",
    "",
    (
        Point(AS_IS),
        Point(NO_COLLISIONS, ((f"scheme.{WE}.we_collision", "off"),)),
        Point(NO_RTS, (("radio.rts", "never"),)),
    ),
)
_SCHEMES = (RENO, TCP_AP, WINF, WE, XCP, XCP_B, XCP_WINF, RCP, RCP_WINF, WCP)


def _study(name: str, title: str, scenario: str, settings: Point, core_s: float) -> Study:
    shows = "Ingredients of WE TCP-AP taken away, and schemes that only the text names."
    source, costs = "abstract, sections I to III and VII", (core_s, 5 * core_s)
    return moving(
        name, title, shows, scenario, _AXIS, *_SCHEMES, core_s=costs, source=source, settings=settings.settings
    )


_CHAIN = Study(
    name="we-text-chain",
    paper="we-tcp-ap",
    title="Four chains: plain TCP beside TCP-AP",
    figures=(),
    source=f"{PAPER}, section I",
    shows="Whether TCP-AP delivers what NewReno does over chains.",
    scenario="we-chain.toml",
    axis=NO_AXIS,
    schemes=(RENO, TCP_AP),
    conditions=(STATIC,),
    quick=Plan(5, timed(60, 0), core_s=1.5),
    full=Plan(30, timed(300, 0), core_s=7.0),
    quantities=(GOODPUT, DELAY, JAIN),
)

STUDIES = (
    _study("we-text-mesh", "Mesh, five mobile nodes: what the text says", "we-mesh.toml", mesh(5), 0.5),
    _study("we-text-adhoc", "Ad hoc, 32 nodes: what the text says", "we-adhoc.toml", adhoc(32), 1.0),
    _CHAIN,
)
