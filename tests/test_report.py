"""The report's page and charts."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from meshpace.report.model import Chart, Claim, Finding, Report, Section, Series, Table, Verdict, View
from meshpace.report.page import render
from meshpace.report.panels import _COLOURS
from meshpace.report.picture import _palette, inline, picture
from meshpace.stats import Estimate

VOID = {"meta", "line", "circle", "path", "rect", "polyline", "br", "use"}


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
    assert not re.search(r"https?://|@import|url\((?!#)|<script", page)
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


def drawn(what: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(inline(View("", (what,))))


def marks(what: Chart) -> list[tuple[float, float]]:
    """Where the values of the one series stand, in the picture's pixels; behind the markers comes the legend's."""
    uses = [use.attrib for use in drawn(what).iter("use") if "var(--s0)" in use.attrib["style"]]
    places = [(float(use["x"]), float(use["y"])) for use in uses]
    return [(x, y) for x, y in places if x > 0][:-1]  # the band is one from 0 on


def test_values_stand_where_the_axis_says() -> None:
    heights = [y for _, y in marks(chart(Estimate(0, None, 1), Estimate(50, None, 1), Estimate(100, None, 1), top=100))]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)
    assert heights[0] > heights[2]


@pytest.mark.parametrize(("log", "ratio"), [(False, 2.0), (True, 1.0)])
def test_labels_stand_to_scale_where_they_are_numbers(log: bool, ratio: float) -> None:
    values = (Estimate(1, None, 1), Estimate(1, None, 1), Estimate(1, None, 1))
    what = Chart("Goodput", ("2", "4", "8"), "hops", "kbit/s", (Series("A", values),), x=(2, 4, 8), log=log)
    first, second, third = (x for x, _ in marks(what))
    assert (third - second) / (second - first) == pytest.approx(ratio, abs=0.01)
    words = ["".join(text.itertext()) for text in drawn(what).iter("text")]
    assert [word for word in words if word in ("2", "4", "8")] == ["2", "4", "8"]


def test_a_value_that_is_not_there_is_a_gap() -> None:
    assert len(marks(chart(Estimate(1, 0.5, 3), Estimate(2, None, 1), None))) == 2


@pytest.mark.parametrize(
    "values", [(None,), (Estimate(0, 0, 2),), (Estimate(1e-9, None, 1),), (Estimate(1e12, 1e11, 2),)]
)
def test_any_range_can_be_drawn(values: tuple[Estimate | None, ...]) -> None:
    for bars in (False, True):
        assert not re.search(r"[^a-z](nan|inf)[^a-z]", inline(View("", (chart(*values, bars=bars),))))


def test_a_still_follows_its_reader_light_or_dark() -> None:
    assert tuple(code for name, code in _palette().items() if name.startswith("s") and name != "soft") == _COLOURS
    for bars in (False, True):
        what = chart(Estimate(1, 0.1, 3), bars=bars)
        shown = inline(View("", (what,)))
        assert not re.search(r"#[0-9a-f]{6}|black|white", shown), "colours go by name"
        assert "DejaVu" not in shown, "in the reader's fonts"
        alone = picture("A & B", [what], {"made by": "a test"})
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\((?!#)", alone)
        named = set(re.findall(r"var\(--([a-z0-9]+)\)", alone))
        for look in re.findall(r":root \{[^}]*\}", alone):
            assert named <= set(re.findall(r"--([a-z0-9]+):", look)), "each has both looks"
        assert alone.count(":root {") == 2
        assert alone == picture("A & B", [what], {"made by": "a test"}), "the same bytes"


def test_without_what_draws_a_page_says_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    section = Section("One", "lead", (View("", (chart(Estimate(1, 0.1, 5)),)),))
    page = render(Report("t", "lead", (), (), (section,)))
    check_page(page)
    assert "matplotlib: pip install &#39;meshpace[papers]&#39;" in page
