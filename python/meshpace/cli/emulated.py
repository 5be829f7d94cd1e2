"""An emulation's result on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table

from meshpace.cli.tables import print_runs
from meshpace.cli.terminal import console
from meshpace.emulation.routes import Route, ways


def print_emulation(result: dict[str, Any]) -> None:
    """As a run, and what went from host to host."""
    print_runs([result])  # type: ignore[list-item]
    table = Table(title="between hosts", title_justify="left", box=box.SIMPLE_HEAD)
    for title in ("from", "to"):
        table.add_column(title)
    for title in ("hops", "packets", "arrived", "kilobytes\narrived", "delay p50\nms", "delay p95\nms"):
        table.add_column(title, justify="right")
    for row in result["traffic"]:
        table.add_row(
            row["from"],
            row["to"],
            _shown(row["hops"]),
            f"{row['packets']:,}",
            f"{row['delivered']:,}",
            f"{row['delivered_bytes'] / 1000:,.1f}",
            _milliseconds(row["delay_p50_s"]),
            _milliseconds(row["delay_p95_s"]),
        )
    if result["traffic"]:
        console().print(table)
    for run in result["runs"]:
        if run["output"] is not None:
            print(f"{run['node']}: {run['run']}")
            print(run["output"].rstrip("\n"))


def print_routes(routes: Sequence[Route]) -> None:
    """A row a route, with the nodes that packets pass."""
    table = Table(box=box.SIMPLE_HEAD)
    for title in ("node", "to", "via", "device", "by", "way"):
        table.add_column(title)
    paths = ways(routes)
    for route in routes:
        way = paths.get((route.node, route.to))
        passes = "-" if way is None else " ".join(way)
        table.add_row(route.node, route.to, route.via or "-", route.device, route.protocol, passes)
    console().print(table)


def _shown(value: int | None) -> str:
    return "-" if value is None else str(value)


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1e3 * seconds:,.1f}"
