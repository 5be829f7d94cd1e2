"""What batman-adv's transmit quality says of broadcasts.

Every node floods originator messages: broadcasts at the basic rate, sent once. Of 64 of a neighbour's a node counts
those that come, RQ, and of its own those that the neighbour's rebroadcasts bring back, EQ; EQ / RQ is what arrives on
the way there, q. Of a link it gives that value less a penalty for a way back that loses:
TQ = q_there (1 - (1 - q_back)^3) (Linux 6.1, net/batman-adv/bat_iv_ogm.c, batadv_iv_ogm_calc_tq).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from meshpace.meshes.model import Link

QUALITY = (
    "loss of each frame, whatever its rate and length, as of batman-adv's broadcasts: 1 - q, "
    "of TQ = q (1 - (1 - q back)^3)"
)
_STEPS = 200


def broadcasts(links: Sequence[Link]) -> list[Link]:
    """The links with what arrives of broadcasts, of links with TQ; a direction alone keeps its TQ."""
    told = {(link.source, link.target): link.delivered for link in links}
    return [replace(link, delivered=_arrives(link, told.get((link.target, link.source)))) for link in links]


def _arrives(link: Link, back: float | None) -> float | None:
    there = link.delivered
    return round(without_penalty(there, back)[0], 6) if there and back else there


def with_penalty(there: float, back: float) -> float:
    """TQ, of what arrives each way."""
    return there * _kept(back)


def _kept(back: float) -> float:
    """1 - (1 - back)^3, which is above 0 however little comes back."""
    return back * (3 - 3 * back + back * back)


def without_penalty(there: float, back: float) -> tuple[float, float]:
    """What arrives each way, of TQ each way, both above 0; no more than all does."""
    known = there, back
    for _ in range(_STEPS):
        there, back = (min(tq / _kept(other), 1.0) for tq, other in zip(known, (back, there), strict=True))
    return there, back
