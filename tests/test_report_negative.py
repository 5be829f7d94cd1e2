"""Charts of what may fall below zero, on a screen and still: the whole band is in sight, and where zero is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import browser
from meshpace.report.model import Chart, Report, Section, Series, View
from meshpace.report.page import render
from meshpace.report.panels import figure
from meshpace.report.picture import _look
from meshpace.stats import Estimate


def chart(*means: float, bars: bool = False) -> Chart:
    values = tuple(Estimate(mean, 0.05, 5) for mean in means)
    names = tuple(map(str, range(len(means))))
    return Chart("Gain", names, "hops", "%", (Series("static routes", values),), factor=100.0, bars=bars)


def test_what_must_fit_in() -> None:
    assert chart(-0.3, 0.4).low() == pytest.approx(-35)
    assert chart(0.01, 0.4).low() == 0.0, "a band alone does not move the ground"
    assert Chart("", (), "", "", ()).low() == 0.0


@pytest.mark.parametrize("bars", [False, True])
def test_a_still_shows_it(bars: bool) -> None:
    mpl: Any = pytest.importorskip("matplotlib")
    look = _look()
    with mpl.rc_context(look.style):
        drawn = figure(View("", (chart(-0.3, 0.4, bars=bars), chart(0.1, 0.5, bars=bars)), shared=True), look)
        for panel in drawn.axes:
            low, high = panel.get_ylim()
            assert low <= -35
            assert high >= 55
            words = [panel.yaxis.get_major_formatter()(value, 0) for value in (-20.0, 0.0, 20.0)]
            assert words == ["\N{MINUS SIGN}20", "0", "+20"]
        apart = figure(View("", (chart(0.1, 0.5, bars=bars), chart(-0.3, -0.2, bars=bars))), look)
        (above, below) = (panel.get_ylim() for panel in apart.axes)
        assert above[0] == 0.0
        assert (below[0] <= -35, below[1]) == (True, 0.0)


@pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed: make setup as root")
def test_a_page_shows_it(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    view = View("Gain", (chart(-0.3, 0.4), chart(0.1, 0.5)), shared=True)
    (tmp_path / "page.html").write_text(
        render(Report("t", "lead", (), (), (Section("One", "lead", (view,)),), interactive=True))
    )
    with browser.page(tmp_path / "profile") as page:
        page.look(1280, 1200)
        page.open(tmp_path / "page.html")
        page.wait("document.querySelectorAll('.plot.live .main-svg').length >= 2")
        ends = page.ask("[...document.querySelectorAll('.plot')].map((plot) => plot._fullLayout.yaxis.range)")
        assert page.complaints == []
    for low, high in ends:
        assert low <= -35
        assert high >= 55
