"""By what routes an imported mesh goes: those of its own daemon, or others (``--routing``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from meshpace.meshes.model import Mesh, MeshFileError

ROUTING = "static"
"""The least ways by the metric of the mesh's daemon, which stay."""
_METRICS = {
    "hops": "fewest hops",
    "etx": "fewest expected transmissions (etx)",
    "ett": "least expected transmission time (ett)",
    "airtime": "least air time (airtime, 802.11's)",
}


class Routes(NamedTuple):
    """Routes as the scenario has them."""

    said: str
    """A line at its top."""
    table: Sequence[str]
    """``[routing]``."""
    warmup_s: int
    """Seconds until there are routes, and some."""


def routes(mesh: Mesh, routing: str) -> Routes:
    """What ``--routing`` asks for.

    Raises:
        MeshFileError: there is no such routing.
    """
    by_word = {
        ROUTING: _least(mesh.metric),
        "hops": _least("hops"),
        "aodv": Routes(
            "# Routes are AODV's after RFC 3561 (--routing static: the shortest paths, which stay).",
            ('protocol = "aodv"', 'profile = "rfc3561"'),
            10,
        ),
        "babel": Routes(
            "# Routes are Babel's, which nobody has at the start (--routing static: the shortest paths, which stay).",
            ('protocol = "babel"',),
            60,
        ),
    }
    if routing not in by_word:
        raise MeshFileError(f"--routing: found {routing!r}; allowed: {', '.join(by_word)}")
    return by_word[routing]


def _least(metric: str) -> Routes:
    others = "aodv, babel" if metric == "hops" else "hops, aodv, babel"
    said = f"# Routes are the shortest paths, of {_METRICS[metric]}, and stay (--routing: {others})."
    return Routes(said, ('protocol = "static"', *([f'metric = "{metric}"'] if metric != "hops" else [])), 10)
