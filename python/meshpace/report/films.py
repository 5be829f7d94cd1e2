"""The animation: the same quarter of a second of the same mesh under two schemes."""

from __future__ import annotations

from meshpace import engine
from meshpace.engine import Job
from meshpace.project import scenario_directory, shown
from meshpace.report.model import Film, Section
from meshpace.report.places import ends, ranges

_BEGIN_S, _LENGTH_S = 10.0, 0.25
_MOST_FRAMES = 2000
"""Bounds what the page holds: a frame is about 30 bytes."""
_SCHEMES = {"newreno": "NewReno", "tcp-gap": "TCP-GAP"}
_HOPS = 7


def film_section() -> Section:
    """A chain under NewReno and under TCP-GAP."""
    return Section(
        title="Watch a chain",
        lead=f"A quarter of a second on a chain of {_HOPS} hops after {_BEGIN_S:.0f} s, with static routes; the flow "
        "goes from n0 over the gateway at the right end into the Internet. A node is heard at one hop and sensed at "
        "two, so senders three hops apart do not know of each other, and nodes between them hear both. The circles "
        "around a sender are these two ranges.",
        films=tuple(_film(scheme, name) for scheme, name in _SCHEMES.items()),
    )


def _film(scheme: str, name: str) -> Film:
    path = scenario_directory() / "demo-chain.toml"
    settings = (
        f"measure.duration={_BEGIN_S + _LENGTH_S:g}s",
        f"measure.warmup={_BEGIN_S:g}s",
        "routing.protocol=static",
        f"topology.hops={_HOPS}",
    )
    return filmed(Job(shown(path), path.read_bytes(), settings, scheme), name)


def filmed(job: Job, title: str) -> Film:
    """A quarter of a second of a run, from the end of the warm-up on."""
    resolved = engine.resolve(job)
    # A plan by packets has no warm-up: after 10 s queues are as they will be.
    begin = resolved["measure"].get("warmup_s", _BEGIN_S)
    _, shots = engine.film(job, begin_s=begin, length_s=_LENGTH_S, frames=_MOST_FRAMES)
    shots["ranges_m"] = ranges(resolved)
    shots["ends"] = ends(resolved)
    return Film(title, shots, job.command())
