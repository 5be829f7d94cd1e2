"""Table 2 of the TCP-GAP paper: what links gave up in 1,000 s, and how alike ours is."""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.results import RunResult

Link = tuple[str, str]

DATA: dict[Link, int] = {
    ("IG", "RL4"): 40, ("RL4", "RL3"): 8, ("RL3", "RL2"): 90, ("RL2", "RL1"): 54, ("RL1", "A1"): 1,
    ("A2", "RL5"): 11, ("RL5", "RL6"): 128, ("RL6", "RL7"): 147, ("RL7", "RL8"): 141, ("RL8", "IG"): 102,
}  # fmt: skip
"""Data packets: on the upper chain the wired-to-wireless flow's, then the wireless-to-wired flow's.

Source: docs/experiments/gap.md, Table 2.
"""
ACKS: dict[Link, int] = {
    ("A1", "RL1"): 8, ("RL1", "RL2"): 146, ("RL2", "RL3"): 112, ("RL3", "RL4"): 12, ("RL4", "IG"): 40,
    ("IG", "RL8"): 14, ("RL8", "RL7"): 50, ("RL7", "RL6"): 127, ("RL6", "RL5"): 118, ("RL5", "A2"): 7,
}  # fmt: skip
"""TCP ACKs, the other way on each chain."""
UPWARD: tuple[Link, ...] = tuple(DATA)[5:]
"""The links of the wireless-to-wired flow's data."""
_SECONDS = 1000


def data_drops(run: RunResult) -> dict[Link, float]:
    """Data packets given up by each link of the table in 1,000 s."""
    return _drops(run, DATA, "data_drops")


def ack_drops(run: RunResult) -> dict[Link, float]:
    """TCP ACKs given up by each link of the table in 1,000 s."""
    return _drops(run, ACKS, "ack_drops")


def _drops(run: RunResult, links: dict[Link, int], kind: str) -> dict[Link, float]:
    counted = {(link["from"], link["to"]): int(link[kind]) for link in run["links"]}  # type: ignore[literal-required]
    return {link: counted.get(link, 0) * _SECONDS / run["measured_s"] for link in links}


def upward_share(run: RunResult) -> float | None:
    """Of the data packets given up, the part of the wireless-to-wired flow's."""
    drops = data_drops(run)
    total = sum(drops.values())
    return sum(drops[link] for link in UPWARD) / total if total else None


PRINTED_UPWARD_SHARE = sum(DATA[link] for link in UPWARD) / sum(DATA.values())


def likeness(run: RunResult) -> float | None:
    """Spearman's rank correlation between the table's 20 numbers and the run's; None if nothing was given up."""
    ours = [*data_drops(run).values(), *ack_drops(run).values()]
    return spearman([*DATA.values(), *ACKS.values()], ours)


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties at their mean rank; None where one side is constant."""
    x, y = _ranks(a), _ranks(b)
    middle = (len(x) + 1) / 2
    across = sum((p - middle) * (q - middle) for p, q in zip(x, y, strict=True))
    own = sum((p - middle) ** 2 for p in x) * sum((q - middle) ** 2 for q in y)
    return across / float(own**0.5) if own else None


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]
