"""The same transfer simulated and emulated: the TCP of this machine's kernel against our sender that comes closest."""

from __future__ import annotations

from collections.abc import Mapping

from meshpace.study.claims import Ask, Claim
from meshpace.study.measures import gain, greatest, of
from meshpace.study.model import STATIC, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import GOODPUT, LATE, RESENT, RTT
from meshpace.study.rules import Rule, about
from meshpace.study.words import percent, written

NAME = "twin"
DOCUMENT = "docs/emulation.md"
CONTROLS = ("reno", "cubic")
HOPS = tuple(range(1, 9))
TOLERANCE = 0.15
LATE_BOUND = 0.001
"""The share of packets late up to which a run is valid (crates/emulator, lateness)."""
_AFTER_S = 10
"""What iperf3 says at the end has to cross the mesh, too."""


def twin(control: str) -> str:
    """The simulated sender."""
    return f"twin-{control}"


def kernel(control: str) -> str:
    """What iperf3's rows call the real one."""
    return f"kernel-{control}"


def hosts(scheme: str, settings: Mapping[str, str]) -> Settings | None:
    """Of a kernel's runs: iperf3 at the ends of the chain, over the same interval as the simulated flow is measured."""
    if scheme not in map(kernel, CONTROLS):
        return None
    there, control = f"n{settings['topology.hops']}", scheme.removeprefix("kernel-")
    end, warmup = (int(settings[f"measure.{key}"].removesuffix("s")) for key in ("duration", "warmup"))
    transfer = f"iperf3 -J -c {there} -C {control} -O {warmup} -t {end - warmup}"
    tables = (
        f'{{node="{there}",run="iperf3 -s -1"}}',
        f'{{node="n0",run="{transfer}",start="500ms",collect="iperf3"}}',
    )
    return (
        ("emulate.host", f"[{','.join(tables)}]"),
        ("flow", "[]"),
        ("measure.duration", f"{end + _AFTER_S}s"),
    )


STUDIES = (
    Study(
        name=NAME,
        title="Twins: a transfer simulated and emulated",
        figures=(),
        source=DOCUMENT,
        shows="Goodput of one transfer over a chain, simulated and between real hosts with this kernel's TCP.",
        scenario="twin-chain.toml",
        axis=Axis(
            "hops",
            "",
            tuple(Point(str(h), (("topology.hops", str(h)), ("flow.0.to", f"n{h}")), float(h)) for h in HOPS),
        ),
        schemes=(*map(twin, CONTROLS), *map(kernel, CONTROLS)),
        conditions=(STATIC,),
        quick=Plan(3, timed(15, 5), ("1", "4"), 3.0),
        full=Plan(5, timed(60, 10), core_s=15.0),
        quantities=(GOODPUT, RTT, RESENT, LATE),
        replaces_schemes=True,
        hosts=hosts,
        notes="Needs root. Emulated runs are this machine's, at the time that they were made: they do not repeat to "
        "the byte; each is stored with its verdict on lateness, with the machine, and with how often it was made.",
    ),
)

_NAMES = {"reno": "Reno", "cubic": "CUBIC"}
_LATE = Rule("VALUE", high=LATE_BOUND)

CLAIMS = (
    *(
        Claim(
            f"twin {control}",
            f"The kernel's {_NAMES[control]} gets the goodput of its simulated twin.",
            "",
            DOCUMENT,
            "",
            (
                Ask(
                    gain(GOODPUT, kernel(control), twin(control)),
                    about(-TOLERANCE, TOLERANCE),
                    percent,
                    "Against the simulated one",
                    (NAME,),
                    unit=" hops",
                ),
            ),
        )
        for control in CONTROLS
    ),
    *(
        Claim(
            f"twin late {control}",
            f"In every run of {_NAMES[control]} packets reach the hosts in time.",
            "",
            DOCUMENT,
            "",
            (
                Ask(
                    greatest(of(LATE, kernel(control))),
                    _LATE,
                    written(100, 3, " %"),
                    "Late at most",
                    (NAME,),
                    unit=" hops",
                ),
            ),
        )
        for control in CONTROLS
    ),
)
