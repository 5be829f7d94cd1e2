"""Charts as inline SVG: no script, no font, no network. Colours come from the page's style by class."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from html import escape

from meshpace.report.looks import colour, pattern, style
from meshpace.report.model import Chart
from meshpace.stats import Estimate

_WIDTH, _HEIGHT = 440, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 14, 40
_MOST_TICKS = 12
_LETTER = 6.4
"""Width of a letter, roughly."""
_THIN = 6.0
"""Bars thinner than this have no room for lines that stand."""
_MARKERS = ("circle", "square", "diamond", "triangle")


def draw(chart: Chart, peak: float | None = None) -> str:
    """The chart as an SVG element that scales with its container; ``peak`` fits in too, if it is given."""
    top, step = _scale(chart.peak() if peak is None else peak, chart.top)
    plot = _Plot(chart, top)
    body = [*_grid(plot, step), *(_bars(plot) if chart.bars else _lines(plot))]
    label = escape(f"{chart.title}: {chart.unit} over {chart.axis_title}", quote=True)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
        f"{''.join(body)}"
        f'<text class="axis" x="{(_LEFT + _WIDTH - _RIGHT) / 2:.0f}" y="{_HEIGHT - 4}" text-anchor="middle">'
        f"{escape(chart.axis_title)}</text></svg>"
    )


class _Plot:
    """Coordinates of one chart."""

    def __init__(self, chart: Chart, top: float) -> None:
        self.chart, self.top = chart, top
        self.centres = _centres(chart)
        gaps = [after - before for before, after in itertools.pairwise(sorted(self.centres))]
        self.slot = min([(_WIDTH - _LEFT - _RIGHT) / len(chart.axis), *(gap for gap in gaps if gap > 0)])
        lines = [line for name in chart.axis for line in name.split("\n")]
        # Names that would run into each other are turned.
        self.turned = not chart.dense and max(map(len, lines)) * _LETTER > self.slot
        longest = max(len(name) for name in chart.axis) * _LETTER
        self.bottom = _HEIGHT - (max(_BOTTOM, min(longest * 0.58, 90) + 24) if self.turned else _BOTTOM)

    def x(self, index: int, offset: float = 0.0) -> float:
        """Centre of a slot, moved by ``offset`` slots."""
        return self.centres[index] + offset * self.slot

    def y(self, value: float) -> float:
        """Height of a value, kept inside the plot."""
        share = min(max(value * self.chart.factor / self.top, 0.0), 1.0)
        return self.bottom - share * (self.bottom - _TOP)

    def tip(self, name: str, index: int, value: Estimate) -> str:
        """The text that appears on pointing at a value."""
        chart = self.chart
        place = ", ".join(chart.axis[index].split("\n"))
        text = f"{name}, {place}: {value.mean * chart.factor:,.{chart.decimals}f}"
        if value.half_width is not None:
            text += f" ± {value.half_width * chart.factor:,.{chart.decimals}f}"
        return f"<title>{escape(f'{text} {chart.unit}'.strip())}</title>"


def _centres(chart: Chart) -> list[float]:
    """Where the labels stand: to scale where they are numbers, else side by side."""
    count, width = len(chart.axis), _WIDTH - _LEFT - _RIGHT
    slot = width / count
    if chart.bars or chart.x is None or len(set(chart.x)) < 2:
        return [_LEFT + (index + 0.5) * slot for index in range(count)]
    values = [math.log(x) for x in chart.x] if chart.log else list(chart.x)
    least, span = min(values), max(values) - min(values)
    return [_LEFT + slot / 2 + (value - least) / span * (width - slot) for value in values]


def _scale(peak: float, top: float | None) -> tuple[float, float]:
    """End of the value axis and distance of its grid lines: 1, 2 or 5 times a power of ten."""
    if peak <= 0:
        return 1.0, 0.5
    raw = peak / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    return (top if top is not None else step * math.ceil(peak / step - 1e-9)), step


def _grid(plot: _Plot, step: float) -> Iterator[str]:
    right, decimals = _WIDTH - _RIGHT, max(0, -math.floor(math.log10(step) + 1e-9))
    for count in range(int(plot.top / step + 1e-6) + 1):
        value = count * step
        y = plot.y(value / plot.chart.factor)
        yield f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,.{decimals}f}</text>'
    axis = plot.chart.axis
    for index in range(0, len(axis), math.ceil(len(axis) / _MOST_TICKS)):
        x, lines = plot.x(index), axis[index].split("\n")
        if plot.turned:
            turn = f"rotate(-35 {x:.1f} {plot.bottom + 12:.1f})"
            yield f'<text class="tick" x="{x:.1f}" y="{plot.bottom + 12:.1f}" text-anchor="end" transform="{turn}">'
            yield f"{escape(', '.join(lines))}</text>"
            continue
        rows = "".join(f'<tspan x="{x:.1f}" dy="{min(i, 1) * 13}">{escape(t)}</tspan>' for i, t in enumerate(lines))
        yield f'<text class="tick" x="{x:.1f}" y="{plot.bottom + 16:.0f}" text-anchor="middle">{rows}</text>'


def _whisker(plot: _Plot, x: float, value: Estimate, place: int) -> str:
    if not value.half_width:
        return ""
    low, high = plot.y(value.mean - value.half_width), plot.y(value.mean + value.half_width)
    left = x - 3
    path = f"M{left:.1f} {high:.1f}h6M{x:.1f} {high:.1f}V{low:.1f}M{left:.1f} {low:.1f}h6"
    return f'<path class="whisker {style(place)}" d="{path}"/>'


def _lines(plot: _Plot) -> Iterator[str]:
    count = len(plot.chart.series)
    for index, (place, series) in enumerate(zip(plot.chart.places(), plot.chart.series, strict=True)):
        # A small shift keeps whiskers of equal values apart.
        shift = (index - (count - 1) / 2) * min(0.06, 4 / plot.slot, 0.5 / count)
        points = [(i, plot.x(i, shift), v) for i, v in enumerate(series.values) if v is not None]
        path = " ".join(f"{x:.1f},{plot.y(value.mean):.1f}" for _, x, value in points)
        yield f'<polyline class="line {style(place)}" points="{path}"/>'
        if plot.chart.dense:
            continue
        marker = _MARKERS[(colour(place) + pattern(place)) % len(_MARKERS)]
        for at, x, value in points:
            yield f'<g class="mark {style(place)}">{plot.tip(series.name, at, value)}{_whisker(plot, x, value, place)}'
            yield f"{_marker(marker, x, plot.y(value.mean))}</g>"


def _marker(kind: str, x: float, y: float) -> str:
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    shapes = {"square": "m-3.6-3.6h7.2v7.2h-7.2z", "diamond": "m0-5l5 5-5 5-5-5z", "triangle": "m0-4.8l4.6 8h-9.2z"}
    return f'<path d="M{x:.1f} {y:.1f}{shapes[kind]}"/>'


def _bars(plot: _Plot) -> Iterator[str]:
    count = len(plot.chart.series)
    width = min(26.0, plot.slot * 0.8 / count)
    for index, (place, series) in enumerate(zip(plot.chart.places(), plot.chart.series, strict=True)):
        for at, value in enumerate(series.values):
            if value is None:
                continue
            x = plot.x(at) + (index - count / 2) * width
            y = plot.y(value.mean)
            yield f'<g class="bar {style(place)}">{plot.tip(series.name, at, value)}'
            height, wide = plot.bottom - y, max(width - 2, width * 0.7)
            yield f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{height:.1f}" rx="2"/>'
            yield _hatch(pattern(place), x + 1, y, wide, height)
            yield f"{_whisker(plot, x + width / 2, value, place)}</g>"


def _hatch(kind: int, x: float, y: float, width: float, height: float) -> str:
    """The lines of a pattern (:mod:`meshpace.report.looks`) over a bar."""

    def lie(step: float) -> str:
        return "".join(f"M{x:.1f} {y + at * step:.1f}h{width:.1f}" for at in range(1, int(height / step) + 1))

    if width < _THIN:
        # Lines that stand would hide it: the distance of those that lie tells patterns apart.
        path = lie({1: 4, 2: 10, 3: 2}.get(kind, 6)) if kind else ""
    else:
        stand = "".join(f"M{x + width * part:.1f} {y:.1f}v{height:.1f}" for part in (1 / 3, 2 / 3))
        path = {1: lie(4), 2: stand, 3: lie(4) + stand, 4: lie(4)}.get(kind, "")
    return f'<path class="hatch" d="{path}"/>' if path else ""
