"""Charts as one SVG file that stands alone, light or dark as its reader likes it: for a README or a slide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from meshpace.report.chart import draw
from meshpace.report.looks import style
from meshpace.report.model import Chart
from meshpace.report.templates import beside

_WIDTH, _HEIGHT, _COLUMNS = 440, 270, 2
_HEAD, _GAP, _EDGE = 64, 30, 16
_NAME = 110
"""Between the names of the legend."""


def picture(title: str, charts: Sequence[Chart]) -> str:
    """Title, legend, and the charts two in a row, all to one scale."""
    peak = max(chart.peak() for chart in charts)
    rows = -(-len(charts) // _COLUMNS)
    width, height = _COLUMNS * _WIDTH + 2 * _EDGE, _HEAD + rows * (_HEIGHT + _GAP) + _EDGE
    css = beside("style.css")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'style="width:{width}px;height:{height}px" role="img" aria-label="{escape(title, quote=True)}">',
        f"<style><![CDATA[{css} svg text.head {{ fill: var(--ink); font-weight: 600; font-size: 15px; }}"
        " svg text.panel { fill: var(--ink); font-weight: 600; }]]></style>",
        f'<rect width="{width}" height="{height}" fill="var(--paper)"/>',
        f'<text class="head" x="{_EDGE}" y="{_EDGE + 12}">{escape(title)} ({escape(charts[0].unit)})</text>',
    ]
    for place, series in zip(charts[0].places(), charts[0].series, strict=True):
        x = _EDGE + _NAME * place
        parts.append(
            f'<g class="{style(place)}"><rect x="{x}" y="40" width="11" height="11" rx="2" fill="var(--c)"/></g>'
        )
        parts.append(f'<text x="{x + 16}" y="50">{escape(series.name)}</text>')
    for index, chart in enumerate(charts):
        row, column = divmod(index, _COLUMNS)
        body = re.sub(r"^<svg[^>]*>|</svg>$", "", draw(chart, peak))
        x, y = _EDGE + column * _WIDTH, _HEAD + row * (_HEIGHT + _GAP)
        what = chart.title.partition(", ")[2] or chart.title  # behind what all of them show
        parts.append(
            f'<g transform="translate({x} {y})"><text class="panel" x="52" y="8">{escape(what)}</text>'
            f'<g transform="translate(0 12)">{body}</g></g>'
        )
    return "".join([*parts, "</svg>\n"])
