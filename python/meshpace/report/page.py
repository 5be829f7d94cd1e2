"""A report as one HTML file."""

from __future__ import annotations

from html import escape
from pathlib import Path

from meshpace.report.chart import draw
from meshpace.report.model import Chart, Claim, Report, Section, Table, Verdict

_VERDICT_CLASS = {Verdict.HOLDS: "holds", Verdict.PART: "part", Verdict.FAILS: "fails", Verdict.OPEN: "open"}


def render(report: Report) -> str:
    """The page: one file without references to anything outside it."""
    style = Path(__file__).with_name("style.css").read_text()
    links = "".join(f'<a href="#s{i}">{escape(s.title)}</a>' for i, s in enumerate(report.sections))
    facts = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in report.facts)
    claims = "".join(map(_claim, report.claims))
    sections = "".join(_section(f"s{i}", section) for i, section in enumerate(report.sections))
    notes = "".join(f"<p>{escape(note)}</p>" for note in report.notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.title)}</title><style>{style}</style></head><body>"
        f'<header><h1>{escape(report.title)}</h1><p class="lead">{escape(report.lead)}</p>'
        f'<dl class="facts">{facts}</dl><nav><a href="#claims">Verdicts</a>{links}</nav></header><main>'
        f'<section id="claims"><h2>Verdicts</h2>{claims}</section>{sections}</main>'
        f"<footer>{notes}</footer></body></html>\n"
    )


def _claim(claim: Claim) -> str:
    findings = "".join(
        f'<li><span class="verdict {_VERDICT_CLASS[f.verdict]}">{escape(f.verdict.capitalize())}</span> '
        f'<span class="condition">{escape(f.condition)}:</span> {escape(f.reason)}</li>'
        for f in claim.findings
    )
    return (
        f'<article class="claim"><p>{escape(claim.statement)} <small>{escape(claim.source)}</small></p>'
        f"<ul>{findings}</ul></article>"
    )


def _section(anchor: str, section: Section) -> str:
    parts = [f'<section id="{anchor}"><h2>{escape(section.title)}</h2><p>{escape(section.lead)}</p>']
    if section.charts:
        parts.append(_legend(section.charts[0]))
        parts.append(f'<div class="grid-of">{"".join(map(_figure, section.charts))}</div>')
    parts += map(_table, section.tables)
    if section.commands:
        commands = escape("\n".join(section.commands))
        parts.append(
            f"<details><summary>Commands that repeat these {len(section.commands)} runs</summary>"
            f"<pre>{commands}</pre></details>"
        )
    return "".join([*parts, "</section>"])


def _legend(chart: Chart) -> str:
    items = (f'<li class="s{i}"><i></i>{escape(series.name)}</li>' for i, series in enumerate(chart.series))
    return f'<ul class="legend">{"".join(items)}</ul>'


def _figure(chart: Chart) -> str:
    unit = f" <small>{escape(chart.unit)}</small>" if chart.unit else ""
    caption = f"<figcaption>{escape(chart.title)}{unit}</figcaption>"
    return f'<figure class="card">{caption}{draw(chart)}</figure>'


def _table(table: Table) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=key' if i < table.keys else ''}>{escape(c).replace(chr(10), '<br>')}</{tag}>"
            for i, c in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    return (
        f'<div class="scroll"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{row(table.head, 'th')}</tr></thead><tbody>{body}</tbody></table></div>"
    )
