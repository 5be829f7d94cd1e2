"""A report as one HTML file: what the templates are given."""

from __future__ import annotations

from markupsafe import Markup

from meshpace.report import embedded, templates, topology, verdicts
from meshpace.report.embedded import chart_json
from meshpace.report.errors import MissingPackageError
from meshpace.report.looks import style
from meshpace.report.model import Report, Section, Topology, View

_LONG = 6
"""A list of contents with so many lines is folded."""


def render(report: Report) -> str:
    """The page: one file without references to anything outside it.

    Raises:
        MissingPackageError: the report is to be interactive, and the library for that is not installed.
    """
    numbered = {f"s{index}": section for index, section in enumerate(report.sections)}
    return templates.render(
        "page.html",
        report=report,
        long=_LONG,
        judged=bool(report.claims) or any(section.claims for section in report.sections),
        views_json={anchor: _views_json(section) for anchor, section in numbered.items() if section.views},
        films_json={
            anchor: [{"title": film.title, **film.shots} for film in section.films]
            for anchor, section in numbered.items()
            if section.films
        },
        interactive=report.interactive,
        still=_still,
        style=style,
        plotly=embedded.plotly,
        pack=embedded.pack,
        draw_topology=_drawn_topology,
        **verdicts.HELPERS,
    )


def _views_json(section: Section) -> list[embedded.Json]:
    """The views for the plotting script. Commands are in the page once, a line each: charts name them by line."""
    lines = {command: line for line, command in enumerate(section.commands)}
    return [
        {"name": view.name, "shared": view.shared, "charts": [chart_json(chart, lines) for chart in view.charts]}
        for view in section.views
    ]


def _still(view: View) -> Markup:
    """A view as a picture, or what it takes to have one."""
    from meshpace.report.picture import inline

    try:
        return Markup(inline(view))  # noqa: S704 - it escapes its names
    except MissingPackageError as error:
        return Markup('<p class="note">{}</p>').format(error)


def _drawn_topology(what: Topology) -> Markup:
    return Markup(topology.draw(what))  # noqa: S704 - it escapes its names
