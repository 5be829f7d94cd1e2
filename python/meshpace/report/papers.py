"""Figures for papers: the report's views as PDF. Equal data give equal bytes: no time of day goes in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from meshpace.files import replacing
from meshpace.report.figures import appearance, views
from meshpace.report.model import View
from meshpace.report.panels import Look, figure, require_matplotlib
from meshpace.study.outcome import Outcome

_LOOK = Look(
    style={
        "font.size": 8.0,
        "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
        "pdf.fonttype": 42,  # fonts as most journals want them
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 8.0,
        "lines.markersize": 3.5,
        "lines.linewidth": 1.2,
    },
    panel=(3.0, 2.2), columns=3, key=1.9, key_high=0.17, above=False,
)  # fmt: skip


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
    from matplotlib.backends.backend_pdf import FigureCanvasPdf, PdfPages

    title = views[0].name if len(views) == 1 else None
    with (
        mpl.rc_context(_LOOK.style),
        PdfPages(path, metadata={"Title": title, "CreationDate": None}) as pages,
    ):
        for view in views:
            drawn = figure(view, _LOOK, view.name if len(views) > 1 else "")
            FigureCanvasPdf(drawn)
            pages.savefig(drawn)
