"""The experiments of the WE TCP-AP paper that are built (docs/experiments/we-tcp-ap.md is its catalogue): chains."""

from __future__ import annotations

from meshpace.study.model import STATIC, Axis, Plan, Point, Study, timed
from meshpace.study.quantities import DELAY, GOODPUT, JAIN, RESENT

PAPER = "WE TCP-AP (Barreto 2016)"
WE, WINF, TCP_AP = "we-tcp-ap", "tcp-ap-winf", "tcp-ap"
XCP_WINF, XCP_B, WCP, WCPCAP = "xcp-winf", "xcp-b", "wcp", "wcpcap"

RELAYS = (1, 2, 3, 4, 5, 6, 8, 10)
"""Nodes between source and sink; the paper's axis is lost."""

_CHAIN = Study(
    name="we-chain",
    paper="we-tcp-ap",
    title="Four chains side by side",
    figures=("Fig. 19", "Fig. 20", "Fig. 21"),
    source=f"{PAPER}, Figs. 18 to 21",
    shows="What the factor for long paths does: aggregate goodput, delay and fairness over the length of the chains.",
    scenario="we-chain.toml",
    axis=Axis(
        "nodes between source and sink",
        "",
        tuple(
            Point(str(n), (("topology.hops", str(n + 1)), ("flow.0.to", f"f{{}}n{n + 1}")), float(n)) for n in RELAYS
        ),
    ),
    schemes=(WINF, WE, TCP_AP),
    conditions=(STATIC,),
    quick=Plan(3, timed(60, 0), ("1", "3", "4", "6", "10"), 1.5),
    full=Plan(30, timed(300, 0), core_s=7.0),
    quantities=(GOODPUT, DELAY, JAIN, RESENT),
    notes="Routes are unique, so they are static; sizes, spacing and axis are the catalogue's.",
)

STUDIES = (_CHAIN,)
