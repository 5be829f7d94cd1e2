"""Charts as still pictures, by matplotlib: a panel a chart, one legend.

What moves on a screen is plotly's (``plots.js``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from meshpace.report.errors import MissingPackageError
from meshpace.report.looks import colour, dash, pattern, row
from meshpace.report.model import Chart, Series, View
from meshpace.stats import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#c2452d", "#0e72e0", "#351768", "#138289", "#561423", "#2016f1")
"""The style sheet's s0 to s5 where it is light; a test holds them together."""
_MARKERS = ("o", "s", "D", "^", "P", "X")
_DASHES = ("-", "--", ":", "-.", (0, (8, 2)), (0, (8, 2, 1, 2)))
_HATCHES = ("", "---", "|||", "+++", "...")
_WIDE = 2.0
"""Times as wide is a panel with names of two lines."""
_STACKS = 3
"""More stacks of charts are not side by side."""
_FLATTEST = 0.8
"""Of the usual height of a panel, where panels are narrower."""
_KEYS = 5
"""A legend of more rows than this makes the figure higher."""
_MANY_BARS = 6
"""Names of more groups of bars than this stand beside bars that lie."""

_GROUPED = "{x:,.10g}"
"""Thousands apart."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a still looks; lengths are inches."""

    style: Any  # its keys are matplotlib's own type
    """Matplotlib's settings, which must hold until the figure is written."""
    panel: tuple[float, float]
    columns: int
    key: float
    """Width of an entry of the legend, roughly."""
    key_high: float
    above: bool
    """Whether the legend stands over the panels."""
    grid: bool = False
    """Whether lines help to read values."""
    paper: str = "#ffffff"
    """The ground, which shows between the lines of a pattern."""


def figure(view: View, look: Look, title: str = "") -> Figure:
    """One view, to be written under the look's style."""
    from matplotlib.figure import Figure

    wide = any("\n" in name for chart in view.charts for name in chart.axis)
    charts, columns = _arranged(view, 1 if wide else look.columns)
    narrow = min(1.0, look.columns / columns)
    width = columns * look.panel[0] * (_WIDE if wide else narrow)
    rows = math.ceil(len(charts) / columns)
    height = rows * look.panel[1] * (1.8 if any(map(_lies, charts)) else max(narrow, _FLATTEST))
    beside = max(1, int(width / look.key))
    keys = math.ceil(len(view.series) / beside)
    head = look.key_high * (2.0 + (1.5 if title and look.above else 0.0) + max(0, keys - _KEYS))
    drawn = Figure(figsize=(width, height + head), layout="constrained")
    panels = drawn.subplots(rows, columns, squeeze=False)
    for panel, chart in zip(panels.flat, charts, strict=False):
        alike = [other for other in charts if other.unit == chart.unit] if view.shared else [chart]
        _draw(panel, chart, (min(one.low() for one in alike), max(one.peak() for one in alike)), look)
    for panel in panels.flat[len(charts) :]:
        panel.remove()
    keyed = {
        label: handle
        for panel in panels.flat[: len(charts)]
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    handles, labels = list(keyed.values()), list(keyed)
    if look.above:
        drawn.legend(
            handles, labels, loc="outside upper left", ncols=beside, frameon=False, title=title or None,
            alignment="left",
        )  # fmt: skip
    else:
        drawn.legend(handles, labels, loc="outside lower center", ncols=beside, frameon=False)
        if title:
            drawn.suptitle(title, fontsize=look.style["font.size"])
    return drawn


def _arranged(view: View, most: int) -> tuple[list[Chart], int]:
    """The charts row by row, and in how many columns."""
    charts, over = list(view.charts), view.over
    if over == 1:
        return charts, max(1, min(most, len(charts)))
    stacks = len(charts) // over
    if stacks > _STACKS:
        return charts, over  # a row each
    return [charts[stack * over + row] for row in range(over) for stack in range(stacks)], stacks


def require_matplotlib(what: str = "a figure as PDF") -> None:
    """Raises MissingPackageError where it is not installed, before anything is computed."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(what, "matplotlib", "papers") from error


def _lies(chart: Chart) -> bool:
    return chart.bars and len(chart.axis) > _MANY_BARS


def _draw(panel: Axes, chart: Chart, ends: tuple[float, float], look: Look) -> None:
    low, peak = ends
    panel.set_title(chart.title)
    pairs = list(zip(chart.places(), chart.series, strict=True))
    if chart.bars:
        _bars(panel, chart, pairs, look.paper)
    else:
        for place, series in pairs:
            _line(panel, chart, series, place)
        panel.set_xlabel(chart.axis_title)
        if chart.log:
            panel.set_xscale("log")
        if chart.x is not None and not chart.dense:
            panel.set_xticks(chart.x, chart.axis)
            panel.set_xticks([], minor=True)
        elif chart.x is None:
            panel.set_xticks(range(len(chart.axis)), chart.axis)
    beyond = 1.06 if chart.top is None else 1.02
    span = (low * beyond, (peak or (0.0 if low < 0 else 1.0)) * beyond)
    if _lies(chart):
        panel.set_xlim(span)
        panel.set_xlabel(chart.unit)
        panel.xaxis.set_major_formatter(_signed if low < 0 else _GROUPED)
    else:
        panel.set_ylim(span)
        panel.set_ylabel(chart.unit)
        panel.yaxis.set_major_formatter(_signed if low < 0 else _GROUPED)
    if low < 0:
        _zero(panel.axvline if _lies(chart) else panel.axhline)
    if look.grid:
        panel.grid(axis="x" if _lies(chart) else "y")


def _signed(value: float, _: float) -> str:
    """Of values on both sides of zero, with a true minus sign."""
    return f"{value:+,.10g}".replace("-", "\N{MINUS SIGN}") if value else "0"


def _zero(line: Callable[..., object]) -> None:
    from matplotlib import rcParams

    line(0.0, color=rcParams["axes.edgecolor"], linewidth=1.0, zorder=1.5)


def _line(panel: Axes, chart: Chart, series: Series, place: int) -> None:
    places = chart.x if chart.x is not None else tuple(map(float, range(len(chart.axis))))
    means = [math.nan if value is None else value.mean * chart.factor for value in series.values]
    halves = [_half(value) * chart.factor for value in series.values]
    style: dict[str, Any] = (
        {} if chart.dense else {"marker": _MARKERS[colour(place)], "linestyle": _DASHES[dash(place)]}
    )
    if row(place) % 2:
        style["fillstyle"] = "none"
    panel.plot(places, means, color=_COLOURS[colour(place)], label=series.name, **style)
    low = [mean - half for mean, half in zip(means, halves, strict=True)]
    high = [mean + half for mean, half in zip(means, halves, strict=True)]
    panel.fill_between(places, low, high, color=_COLOURS[colour(place)], alpha=0.15, linewidth=0)


def _half(value: Estimate | None) -> float:
    return 0.0 if value is None or value.half_width is None else value.half_width


def _bars(panel: Axes, chart: Chart, pairs: Sequence[tuple[int, Series]], paper: str) -> None:
    from matplotlib import rcParams

    width = 0.8 / len(pairs)
    groups = range(len(chart.axis))
    lies = _lies(chart)
    whiskers = {"linewidth": 0.7, "ecolor": rcParams["text.color"]}
    for index, (place, series) in enumerate(pairs):
        means = [0.0 if value is None else value.mean * chart.factor for value in series.values]
        halves = [_half(value) * chart.factor for value in series.values]
        at = [group + (index - (len(pairs) - 1) / 2) * width for group in groups]
        look: dict[str, Any] = {"color": _COLOURS[colour(place)], "label": series.name, "error_kw": whiskers}
        if pattern(place):
            look |= {"hatch": _HATCHES[pattern(place)], "edgecolor": paper, "linewidth": 0}
        if lies:
            panel.barh(at, means, width, xerr=halves, **look)
        else:
            panel.bar(at, means, width, yerr=halves, **look)
    if lies:
        panel.set_yticks(groups, chart.axis)
        panel.margins(y=0.02)
        panel.invert_yaxis()
    else:
        panel.set_xticks(groups, chart.axis)
        panel.set_xlabel(chart.axis_title)
