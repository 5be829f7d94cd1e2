"""A report as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from meshpace.report import embedded, topology, verdicts
from meshpace.report.chart import draw
from meshpace.report.embedded import chart_json
from meshpace.report.looks import style
from meshpace.report.model import Chart, Film, Report, Section, Table, View
from meshpace.report.numbers import numbers

_LONG = 6
"""A list of contents with so many lines is folded."""


def render(report: Report) -> str:
    """The page: one file without references to anything outside it.

    Raises:
        MissingPackageError: the report is to be interactive, and the library for that is not installed.
    """
    facts = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in report.facts)
    claims = verdicts.overview(report.sections) + verdicts.in_full(report.claims) if _judged(report) else ""
    claims = f'<section id="claims"><h2>Verdicts</h2>{claims}</section>' if claims else ""
    sections = "".join(_section(f"s{i}", section) for i, section in enumerate(report.sections))
    notes = "".join(f"<p>{escape(note)}</p>" for note in report.notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.title)}</title>{embedded.style()}</head><body>"
        f'<header><h1>{escape(report.title)}</h1><p class="lead">{escape(report.lead)}</p>'
        f'<dl class="facts">{facts}</dl></header>{_contents(report)}<main>'
        f"{claims}{sections}</main>"
        f"<footer>{notes}</footer>{_scripts(report)}</body></html>\n"
    )


def _judged(report: Report) -> bool:
    """Whether there is anything to judge: a sweep has no claims."""
    return bool(report.claims) or any(section.claims for section in report.sections)


def _contents(report: Report) -> str:
    links = "".join(f'<a href="#s{i}">{escape(s.title)}</a>' for i, s in enumerate(report.sections))
    first = '<a href="#claims">Verdicts</a>' if _judged(report) else ""
    nav = f'<nav aria-label="Contents">{first}{links}</nav>'
    if len(report.sections) < _LONG:
        return f'<div class="contents">{nav}</div>'
    # The verdicts stay on the first screen.
    return f'<details class="contents"><summary>Contents: {len(report.sections)} sections</summary>{nav}</details>'


def _scripts(report: Report) -> str:
    parts = []
    if report.interactive:
        views = {f"s{i}": _views_json(section) for i, section in enumerate(report.sections) if section.views}
        parts += [embedded.data("views", views), embedded.plotly(), embedded.script("unpack.js", "plots.js")]
    films = {
        f"s{i}": [{"title": film.title, **film.shots} for film in section.films]
        for i, section in enumerate(report.sections)
        if section.films
    }
    if films:
        parts += [embedded.data("films", films), embedded.script("film.js", "film_drawing.js", "film_player.js")]
    return "".join(parts)


def _views_json(section: Section) -> list[embedded.Json]:
    """The views for the plotting script. Commands are in the page once, a line each: charts name them by line."""
    lines = {command: line for line, command in enumerate(section.commands)}
    return [
        {"name": view.name, "shared": view.shared, "charts": [chart_json(chart, lines) for chart in view.charts]}
        for view in section.views
    ]


def _section(anchor: str, section: Section) -> str:
    parts = [f'<section id="{anchor}"><h2>{escape(section.title)}</h2><p>{escape(section.lead)}</p>']
    if section.topology is not None:
        caption = f"<figcaption>{escape(section.topology.caption)}</figcaption>"
        parts.append(f'<figure class="map scroll">{topology.draw(section.topology)}{caption}</figure>')
    if section.films:
        parts.append(_films(section.films))
    if section.views:
        parts.append(_views(section.views))
    parts.append(verdicts.in_full(section.claims))
    parts += map(_table, section.tables)
    if section.downloads:
        parts.append(f'<p class="downloads">{" ".join(map(embedded.download, section.downloads))}</p>')
    if section.commands:
        commands = escape("\n".join(section.commands))
        parts.append(
            f"<details><summary>The {len(section.commands)} commands that repeat these runs</summary>"
            f'<pre class="commands">{commands}</pre></details>'
        )
    parts += [f'<p class="note">{escape(note)}</p>' for note in section.notes]
    return "".join([*parts, "</section>"])


def view_as_html(view: View) -> str:
    """One view with its legend, drawn without scripts."""
    return _views((view,))


def _views(views: Sequence[View]) -> str:
    """The first view drawn; a script offers the others."""
    first = views[0]
    peak = max((chart.peak() for chart in first.charts), default=0.0) if first.shared else None
    figures = "".join(_figure(chart, peak) for chart in first.charts)
    return f'<div class="views">{_legend(first.charts[0])}<div class="grid-of">{figures}</div></div>'


def _legend(chart: Chart) -> str:
    pairs = zip(chart.places(), chart.series, strict=True)
    items = (f'<li class="{style(place)}"><i></i>{escape(series.name)}</li>' for place, series in pairs)
    return f'<ul class="legend">{"".join(items)}</ul>'


def _figure(chart: Chart, peak: float | None) -> str:
    unit = f" <small>{escape(chart.unit)}</small>" if chart.unit else ""
    caption = f"<figcaption>{escape(chart.title)}{unit}</figcaption>"
    return f'<figure class="card">{caption}<div class="plot">{draw(chart, peak)}</div></figure>'


def _films(films: Sequence[Film]) -> str:
    """The stage; a script plays on it."""
    commands = "".join(f"<li>{escape(film.title)}: <code>{escape(film.command)}</code></li>" for film in films)
    return (
        '<div class="film"><noscript><p>The animation needs a script.</p></noscript></div>'
        f'<ul class="film-commands">{commands}</ul>'
    )


def _table(table: Table) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=key' if i < table.keys else ''}>{numbers(escape(c)).replace(chr(10), '<br>')}</{tag}>"
            for i, c in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    whole = (
        f'<div class="scroll"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{row(table.head, 'th')}</tr></thead><tbody>{body}</tbody></table></div>"
    )
    if not table.folded:
        return whole
    return f"<details><summary>{escape(table.title)}</summary>{whole}</details>"
