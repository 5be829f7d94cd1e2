"""In which modes the data frames of links went, where a rate control chose them."""

from __future__ import annotations

from collections.abc import Sequence

from meshpace.results import LinkResult, RateResult

HEADS = ("mode", "frames", "MPDUs\na frame", "arrived")
"""Of a table of such links, behind the link."""


def rate_rows(links: Sequence[LinkResult]) -> list[tuple[str, ...]]:
    """A row a link and mode, under ``link`` and :data:`HEADS`: the links with the most frames first."""

    def frames(link: LinkResult) -> int:
        return sum(rate["frames"] for rate in link["rates"])

    chosen = [link for link in links if link.get("rates")]
    ordered = sorted(chosen, key=lambda link: (-frames(link), link["from"], link["to"]))
    return [(f"{link['from']} → {link['to']}", *_cells(rate)) for link in ordered for rate in link["rates"]]


def _cells(rate: RateResult) -> tuple[str, ...]:
    mbps = f"{rate['rate_bps'] / 1e6:.4g} Mbit/s"
    streams = f", {rate['streams']} streams" if rate["streams"] > 1 else ""
    mode = mbps if rate["mcs"] is None else f"MCS {rate['mcs']}{streams}: {mbps}"
    shares = (f"{rate['mpdus'] / rate['frames']:.1f}", f"{rate['acknowledged'] / rate['mpdus']:.1%}")
    return (mode, f"{rate['frames']:,}", *shares)
