"""``meshpace run --why`` on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from meshpace.cli.terminal import console
from meshpace.rates_used import HEADS as RATE_HEADS
from meshpace.rates_used import rate_rows
from meshpace.results import LinkResult, RunResult
from meshpace.why import (
    AGGREGATE_HEADS,
    Aggregated,
    Verdict,
    aggregate_cells,
    frame_rows,
    suffering,
    told,
    way,
)

_LINKS = 12
"""The worst links; the JSON has all."""


def print_why(run: RunResult, found: Sequence[Verdict]) -> None:
    """For each flow its top cause and its losses; then the links that suffer most, and frames of several packets."""
    terminal = console()
    for verdict in found:
        terminal.print()
        flow = verdict.flow
        starved = f" [red]starved: {verdict.share:.0%} of an equal share[/]" if verdict.starved else ""
        terminal.print(f"[bold]{flow['id']}  {flow['from']} → {flow['to']}[/]{starved}", highlight=False)
        terminal.print(f"  held back by {verdict.top}", highlight=False, soft_wrap=True, markup=False)
        for loss in verdict.losses:
            terminal.print(f"    {told(loss)}", highlight=False, soft_wrap=True, markup=False)
    terminal.print()
    _print_suffering(terminal, suffering(run["links"]))
    _print_aggregates(terminal, frame_rows(run["links"]))
    _print_rates(terminal, rate_rows(run["links"]))


def _print_suffering(terminal: Console, links: Sequence[LinkResult]) -> None:
    if not links:
        return
    table = Table(title="Links that suffer", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("link")
    for head in ("attempts", "collisions", "given up", "queue full", "no address", "air\ns"):
        table.add_column(head, justify="right")
    for link in links[:_LINKS]:
        counts = (link["attempts"], link["collisions"], link["retry_drops"], link["queue_drops"], link["arp_drops"])
        air = "-" if link["airtime_s"] is None else f"{link['airtime_s']:,.1f}"
        cells = ("-" if count is None else f"{count:,}" for count in counts)
        table.add_row(way(link), *cells, air)
    terminal.print(table)
    if len(links) > _LINKS:
        terminal.print(f"and {len(links) - _LINKS} more: --json has all", highlight=False)


def _print_aggregates(terminal: Console, links: Sequence[tuple[str, Aggregated]]) -> None:
    if not links:
        return
    table = Table(title="Frames of several packets", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("link")
    for head in AGGREGATE_HEADS:
        table.add_column(head, justify="right")
    for link, count in links[:_LINKS]:
        table.add_row(link, *aggregate_cells(count))
    terminal.print(table)
    if len(links) > _LINKS:
        terminal.print(f"and {len(links) - _LINKS} more: --json has all", highlight=False)


def _print_rates(terminal: Console, rows: Sequence[tuple[str, ...]]) -> None:
    if not rows:
        return
    table = Table(title="Modes of data frames", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("link")
    table.add_column(RATE_HEADS[0])
    for head in RATE_HEADS[1:]:
        table.add_column(head, justify="right")
    links = list(dict.fromkeys(row[0] for row in rows))
    shown = links[:_LINKS]
    for row in rows:
        if row[0] in shown:
            table.add_row(*row)
    terminal.print(table)
    if len(links) > _LINKS:
        terminal.print(f"and {len(links) - _LINKS} links more: --json has all", highlight=False)
