"""The experiments of the TCP-GAP paper with web traffic (Figs. 22 to 24)."""

from __future__ import annotations

from meshpace.experiments.gap.figures import FULL, SHARED, of_the_paper
from meshpace.study.model import Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import FLOWS

PAUSES = ("0.05", "0.1", "0.2", "0.5", "0.75", "1", "1.5", "2", "5", "10")
_PAUSE = Axis(
    "mean pause between files",
    "s",
    tuple(
        Point(p, tuple((f"flow.{flow}.pause_mean", f"{p}s") for flow in range(2)), float(p)) for p in PAUSES
    ),
    logarithmic=True,
)  # fmt: skip

CONNECTIONS = {"": "a connection a file", "-kept": "one connection for all files"}
"""The two readings of the transport, by what they add to a study's name."""


def _kept(kind: str, flows: int) -> Settings:
    return tuple((f"flow.{flow}.connection_per_file", "false") for flow in range(flows)) if kind else ()


def _parallel(kind: str) -> Study:
    return of_the_paper(
        name=f"gap-http-parallel{kind}",
        title=f"Web traffic on parallel chains, {CONNECTIONS[kind]}",
        figures=("Fig. 22", "Fig. 23"),
        shows="Aggregate averaged goodput and fairness of Pareto files of 30 kB, wired to wireless, over the mean "
        f"pause; {CONNECTIONS[kind]}.",
        scenario="gap-fig22-http-parallel.toml",
        axis=_PAUSE,
        settings=_kept(kind, 2),
        quick=Plan(5, timed(110, 10), ("0.05", "0.2", "0.5", "1", "2", "10"), core_s=0.05),
        full=Plan(10, FULL, core_s=0.7),
        quantities=SHARED,
        notes="Which pauses the figures show is not printed. A file's clock runs from its hand-over to its last byte.",
    )


def _random(kind: str) -> Study:
    return of_the_paper(
        name=f"gap-http-random{kind}",
        title=f"Web traffic in a random mesh, {CONNECTIONS[kind]}",
        figures=("Fig. 24",),
        shows=f"Averaged goodput of 4 hosts that fetch Pareto files of 30 kB in a random mesh; {CONNECTIONS[kind]}.",
        scenario="gap-fig24-http-random.toml",
        settings=_kept(kind, 1),
        quick=Plan(6, timed(60, 10), core_s=0.15),
        full=Plan(20, FULL, core_s=2.7),
        quantities=(*FLOWS[:4], *SHARED),
        notes="A topology a seed, drawn as for Fig. 21, at 11 Mbit/s: the text refers to the 54 Mbit/s experiment's "
        "settings and to the random mesh's.",
    )  # fmt: skip


STUDIES = (*map(_parallel, CONNECTIONS), *map(_random, CONNECTIONS))
