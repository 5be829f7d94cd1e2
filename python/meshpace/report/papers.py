"""Figures for papers: the report's views as PDF. Equal data give equal bytes: no time of day goes in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meshpace.files import replacing
from meshpace.report.errors import MissingPackageError
from meshpace.report.figures import appearance, views
from meshpace.report.looks import colour, dash, pattern
from meshpace.report.model import Chart, Series, View
from meshpace.stats import Estimate
from meshpace.study.outcome import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#c2452d", "#8a6d00", "#0f6f8f", "#6b4fa0", "#1d7a46", "#a0346f")
_MARKERS = ("o", "s", "D", "^", "P", "X")
_DASHES = ("-", "--", ":", "-.", (0, (8, 2)), (0, (8, 2, 1, 2)))
_HATCHES = ("", "---", "|||", "+++", "...")
_PANEL_IN = (3.0, 2.2)
_WIDE_IN = 6.0
"""Of a panel with names of two lines."""
_COLUMNS = 3
_KEY_IN = 1.9
"""Width of an entry of the legend, roughly."""
_KEY_HIGH_IN = 0.17
_KEYS = 5
"""A legend of more rows than this makes the figure higher."""
_MANY_BARS = 6
"""Names of more groups of bars than this stand beside bars that lie."""
_STYLE: Any = {
    "font.size": 8.0,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "pdf.fonttype": 42,  # fonts as most journals want them
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8.0,
    "lines.markersize": 3.5,
    "lines.linewidth": 1.2,
}


def write_figures(folder: Path, outcomes: Sequence[Outcome], progress: Callable[[int], None] | None = None) -> int:
    """Writes every view of every study to a PDF of its own, and returns their number.

    Raises:
        MissingPackageError: matplotlib is not installed.
        OSError: a file cannot be written.
    """
    require_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    count, order = 0, appearance(outcomes)
    for outcome in outcomes:
        for view in views(outcome, order):
            write_view(folder / f"{outcome.study.name}-{_slug(view.name)}.pdf", view)
            count += 1
            if progress is not None:
                progress(count)
    return count


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("'", "")).strip("-")


def write_view(path: Path, view: View) -> None:
    """Writes one view: a panel a chart, one legend.

    Raises:
        MissingPackageError: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    with replacing(path) as draft:
        write_pages(draft, [view])


def write_pages(path: Path, views: Sequence[View]) -> None:
    """Writes views to one file, a page each.

    Raises:
        MissingPackageError: matplotlib is not installed.
        OSError: the file cannot be written.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.backends.backend_pdf import PdfPages

    title = views[0].name if len(views) == 1 else None
    with mpl.rc_context(_STYLE), PdfPages(path, metadata={"Title": title, "CreationDate": None}) as pages:
        for view in views:
            pages.savefig(_figure(view, titled=len(views) > 1))


def _figure(view: View, *, titled: bool) -> Figure:
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    wide = any("\n" in name for chart in view.charts for name in chart.axis)
    columns = 1 if wide else min(_COLUMNS, len(view.charts))
    width = columns * (_WIDE_IN if wide else _PANEL_IN[0])
    rows = math.ceil(len(view.charts) / columns)
    height = rows * _PANEL_IN[1] * (1.8 if any(map(_lies, view.charts)) else 1.0)
    keys = math.ceil(max((len(chart.series) for chart in view.charts), default=0) / int(width / _KEY_IN))
    figure = Figure(figsize=(width, height + 0.3 + max(0, keys - _KEYS) * _KEY_HIGH_IN), layout="constrained")
    FigureCanvasPdf(figure)
    panels = figure.subplots(rows, columns, squeeze=False)
    peak = max((chart.peak() for chart in view.charts), default=0.0)
    for panel, chart in zip(panels.flat, view.charts, strict=False):
        _draw(panel, chart, peak if view.shared else chart.peak())
    for panel in panels.flat[len(view.charts) :]:
        panel.remove()
    if titled:
        figure.suptitle(view.name, fontsize=8.0)
    _legend(figure, panels.flat[0], int(width / _KEY_IN))
    return figure


def require_matplotlib() -> None:
    """Raises MissingPackageError where it is not installed, before anything is computed."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise MissingPackageError("a figure as PDF", "matplotlib", "papers") from error


def _legend(figure: Figure, panel: Axes, columns: int) -> None:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def _lies(chart: Chart) -> bool:
    return chart.bars and len(chart.axis) > _MANY_BARS


def _draw(panel: Axes, chart: Chart, peak: float) -> None:
    panel.set_title(chart.title)
    pairs = list(zip(chart.places(), chart.series, strict=True))
    if chart.bars:
        _bars(panel, chart, pairs)
    else:
        for place, series in pairs:
            _line(panel, chart, series, place)
        panel.set_xlabel(chart.axis_title)
        if chart.log:
            panel.set_xscale("log")
        if chart.x is not None and not chart.dense:
            panel.set_xticks(chart.x, chart.axis)
            panel.set_xticks([], minor=True)
    end = (peak or 1.0) * (1.06 if chart.top is None else 1.02)
    if _lies(chart):
        panel.set_xlim(0, end)
        panel.set_xlabel(chart.unit)
    else:
        panel.set_ylim(0, end)
        panel.set_ylabel(chart.unit)


def _line(panel: Axes, chart: Chart, series: Series, place: int) -> None:
    places = chart.x if chart.x is not None else tuple(map(float, range(len(chart.axis))))
    means = [math.nan if value is None else value.mean * chart.factor for value in series.values]
    halves = [_half(value) * chart.factor for value in series.values]
    style: dict[str, Any] = (
        {} if chart.dense else {"marker": _MARKERS[colour(place)], "linestyle": _DASHES[dash(place)]}
    )
    if pattern(place) % 2:
        style["fillstyle"] = "none"
    panel.plot(places, means, color=_COLOURS[colour(place)], label=series.name, **style)
    low = [mean - half for mean, half in zip(means, halves, strict=True)]
    high = [mean + half for mean, half in zip(means, halves, strict=True)]
    panel.fill_between(places, low, high, color=_COLOURS[colour(place)], alpha=0.15, linewidth=0)


def _half(value: Estimate | None) -> float:
    return 0.0 if value is None or value.half_width is None else value.half_width


def _bars(panel: Axes, chart: Chart, pairs: Sequence[tuple[int, Series]]) -> None:
    width = 0.8 / len(pairs)
    groups = range(len(chart.axis))
    lies = _lies(chart)
    for index, (place, series) in enumerate(pairs):
        means = [0.0 if value is None else value.mean * chart.factor for value in series.values]
        halves = [_half(value) * chart.factor for value in series.values]
        at = [group + (index - (len(pairs) - 1) / 2) * width for group in groups]
        look: dict[str, Any] = {"color": _COLOURS[colour(place)], "label": series.name, "error_kw": {"linewidth": 0.7}}
        if pattern(place):
            look |= {"hatch": _HATCHES[pattern(place)], "edgecolor": "white", "linewidth": 0}
        if lies:
            panel.barh(at, means, width, xerr=halves, **look)
        else:
            panel.bar(at, means, width, yerr=halves, **look)
    if lies:
        panel.set_yticks(groups, chart.axis)
        panel.invert_yaxis()
    else:
        panel.set_xticks(groups, chart.axis)
