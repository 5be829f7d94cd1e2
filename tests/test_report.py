"""The report's page and charts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from meshpace.report.chart import draw
from meshpace.report.model import Chart, Claim, Finding, Report, Section, Series, Table, Verdict, View
from meshpace.report.page import render
from meshpace.stats import Estimate

VOID = {"meta", "line", "circle", "path", "rect", "polyline", "br"}


class Balance(HTMLParser):
    """Fails on tags that do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID, (tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_page(page: str) -> None:
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert all(reference.startswith("#") for reference in parser.references)
    assert not re.search(r"https?://|@import|url\(|<script", page)
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page


def chart(*values: Estimate | None, bars: bool = False, top: float | None = None) -> Chart:
    axis = tuple(str(i) for i in range(len(values)))
    return Chart("Goodput", axis, "hops", "kbit/s", (Series("A & B", values),), bars=bars, top=top)


def test_a_page_stands_alone_and_escapes_what_it_shows() -> None:
    section = Section(
        "One",
        "lead",
        (View("", (chart(Estimate(1, 0.1, 5)),)),),
        (Table("t", ("k", "v"), (("<b>", "1"),)),),
        ("run <x>",),
    )
    claim = Claim("It <holds>", "source", (Finding("AODV", Verdict.PART, "a < b"),))
    page = render(Report("T & t", "lead", (("engine", "1"),), (claim,), (section,), ("note",)))
    check_page(page)
    assert "&lt;b&gt;" in page
    assert "It &lt;holds&gt;" in page
    assert "Holds in part" in page


def test_values_stand_where_the_axis_says() -> None:
    svg = draw(chart(Estimate(0, None, 1), Estimate(50, None, 1), Estimate(100, None, 1), top=100))
    heights = [float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', svg)]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)
    assert heights[0] > heights[2]


@pytest.mark.parametrize(("log", "ratio"), [(False, 2.0), (True, 1.0)])
def test_labels_stand_to_scale_where_they_are_numbers(log: bool, ratio: float) -> None:
    values = (Estimate(1, None, 1), Estimate(1, None, 1), Estimate(1, None, 1))
    svg = draw(Chart("Goodput", ("2", "4", "8"), "hops", "kbit/s", (Series("A", values),), x=(2, 4, 8), log=log))
    first, second, third = (float(x) for x in re.findall(r'<circle cx="([\d.]+)"', svg))
    assert (third - second) / (second - first) == pytest.approx(ratio, abs=0.01)


def test_whiskers_only_where_there_is_an_interval_and_gaps_where_there_is_no_value() -> None:
    svg = draw(chart(Estimate(1, 0.5, 3), Estimate(2, None, 1), None))
    assert svg.count("whisker") == 1
    assert svg.count("<circle") == 2
    assert "A &amp; B, 0: 1.0 ± 0.5 kbit/s" in svg


@pytest.mark.parametrize(
    "values", [(None,), (Estimate(0, 0, 2),), (Estimate(1e-9, None, 1),), (Estimate(1e12, 1e11, 2),)]
)
def test_any_range_can_be_drawn(values: tuple[Estimate | None, ...]) -> None:
    for bars in (False, True):
        svg = draw(chart(*values, bars=bars))
        assert "nan" not in svg
        assert "inf" not in svg
