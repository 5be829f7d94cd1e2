"""Table 2 of the TCP-GAP paper: what links gave up in 1,000 s, and what ours did."""

from __future__ import annotations

from collections.abc import Callable

from meshpace.results import RunResult

Link = tuple[str, str]
Take = Callable[[RunResult], float | None]

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


def _both(run: RunResult, link: Link) -> float:
    return data_drops(run).get(link, 0.0) + ack_drops(run).get(link, 0.0)


def ratio(more: Link, less: Link) -> Take:
    """How many times as many packets one link gives up as another, half a drop added to both (Haldane 1956)."""
    return lambda run: (_both(run, more) + 0.5) / (_both(run, less) + 0.5)


def agreeing(run: RunResult) -> float:
    """How many of the table's 20 numbers the run has: within a factor of 1.5 where 20 and more are printed, else 15."""
    ours = {**data_drops(run), **ack_drops(run)}
    printed = {**DATA, **ACKS}
    return float(sum(_agrees(ours[link], printed[link]) for link in printed))


def _agrees(ours: float, printed: int) -> bool:
    return printed / 1.5 <= ours <= printed * 1.5 if printed >= 20 else abs(ours - printed) <= 15


def timeouts_lead(run: RunResult) -> float | None:
    """Timeouts of the wireless-to-wired flow less the other's, of both."""
    first, second = (flow["timeouts"] or 0 for flow in run["flows"][:2])
    return (second - first) / (first + second) if first + second else None


def collisions_lead(run: RunResult) -> float | None:
    """Collisions at the gateway of frames from RL8 less those from RL4, of both."""
    found = {link["from"]: link["collisions"] for link in run["links"] if link["to"] == "IG"}
    lower, upper = found.get("RL8", 0), found.get("RL4", 0)
    return (lower - upper) / (lower + upper) if lower + upper else None


def upward_share(run: RunResult) -> float | None:
    """Of the data packets given up, the part of the wireless-to-wired flow's."""
    drops = data_drops(run)
    total = sum(drops.values())
    return sum(drops[link] for link in UPWARD) / total if total else None


PRINTED_UPWARD_SHARE = sum(DATA[link] for link in UPWARD) / sum(DATA.values())
