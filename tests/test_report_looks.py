"""Any number of schemes can be told apart, whatever they are called."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from colour_vision import DEUTERANOPIA, PROTANOPIA, apart
from meshpace.report import looks
from meshpace.report.embedded import chart_json
from meshpace.report.figures import appearance, views
from meshpace.report.model import Chart, Report, Section, Series, View
from meshpace.report.page import render
from meshpace.report.panels import _bars, _line
from meshpace.report.papers import write_view
from meshpace.report.sections import study_section
from meshpace.report.templates import beside
from meshpace.stats import Estimate
from meshpace.study.executors import workers
from meshpace.study.model import STATIC, Axis, Effort, Plan, Point, Study, timed
from meshpace.study.outcome import load
from meshpace.study.quantities import DELAY, GOODPUT, JAIN_1S
from meshpace.study.runner import make, tasks
from meshpace.study.store import Store

MANY = 25


def chart(bars: bool) -> Chart:
    series = tuple(Series(f"scheme {i}", (Estimate(1 + i, 0.1, 3), Estimate(2 + i, None, 1))) for i in range(MANY))
    return Chart("Goodput", ("1", "2"), "hops", "kbit/s", series, bars=bars, x=None if bars else (1.0, 2.0))


def test_no_two_of_many_look_alike() -> None:
    pairs = [(looks.colour(i), looks.pattern(i)) for i in range(MANY)]
    assert len(set(pairs)) == MANY
    assert len({(looks.colour(i), looks.dash(i)) for i in range(MANY)}) == MANY
    assert pairs[:6] == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 0)], "neighbours differ in both"
    assert len({looks.style(i) for i in range(MANY)}) == MANY


@pytest.mark.parametrize("sight", [DEUTERANOPIA, PROTANOPIA], ids=["deuteranopia", "protanopia"])
def test_colours_are_apart_without_red_and_green(sight: tuple[tuple[float, float, float], ...]) -> None:
    """The first two had been 7.9 apart; 2.3 is what can just be told side by side."""
    style = beside("style.css")
    light, dark = (re.findall(r"--s\d: (#[0-9a-f]{6})", block) for block in style.split("@media", 1))
    for palette in (light, dark[:6]):
        assert len(palette) == looks.COLOURS
        assert min(apart(one, other, sight) for one, other in itertools.combinations(palette, 2)) > 30
    # What the simulation does to one who sees all is nothing: red and green are apart.
    assert apart("#ff0000", "#00ff00", ((1, 0, 0), (0, 1, 0), (0, 0, 1))) == pytest.approx(170.6, abs=0.5)


@pytest.mark.parametrize("bars", [False, True])
def test_the_page_draws_each_in_its_own_way(bars: bool) -> None:
    section = Section("One", "lead", (View("v", (chart(bars),)),))
    page = render(Report("t", "lead", (), (), (section,), interactive=True))
    assert len(re.findall(r'<li class="s\d(?: p\d)?"><i></i>scheme', page)) == MANY
    style = re.search("<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    for name in {word for place in range(MANY) for word in looks.style(place).split()}:
        assert f".{name}" in style[1], name
    held = chart_json(chart(bars), {})["series"]
    assert len({(one["colour"], one["pattern"]) for one in held}) == MANY
    assert len({(one["colour"], one["dash"]) for one in held}) == MANY


def test_a_scheme_looks_the_same_throughout(tmp_path: Path) -> None:
    def study(name: str, schemes: tuple[str, ...]) -> Study:
        plan = Plan(1, timed(2, 1))
        axis = Axis("hops", "", tuple(Point(str(h), (("topology.hops", str(h)),), float(h)) for h in (1, 2)))
        return Study(
            name=name, title=name, figures=(), source="tests", shows="A chain.", scenario="demo-chain.toml", axis=axis,
            schemes=schemes, conditions=(STATIC,), quick=plan, full=plan, quantities=(GOODPUT, DELAY, JAIN_1S),
        )  # fmt: skip

    # Schemes that no table of names knows.
    chosen = [study("one", ("newreno", "tahoe-rfc", "tcp-ap")), study("two", ("tcp-ap-ns2-2005", "tcp-ap", "cubic"))]
    store = Store(tmp_path / "store")
    with workers("threads", 2) as hands:
        make(tasks(chosen, Effort.QUICK), store, hands)
    outcomes = load(store, chosen, Effort.QUICK)
    order = appearance(outcomes)
    assert order == ["newreno", "tahoe-rfc", "tcp-ap", "tcp-ap-ns2-2005", "cubic"]
    named = {
        series.name: place
        for outcome in outcomes
        for view in study_section(outcome, (), order).views
        for one in view.charts
        for series, place in zip(one.series, one.places(), strict=True)
    }
    assert named == {"NewReno": 0, "tahoe-rfc": 1, "TCP-AP": 2, "tcp-ap-ns2-2005": 3, "CUBIC": 4}
    # By itself a study begins with the first look.
    assert views(outcomes[1])[0].charts[0].places() == [0, 1, 2]


@pytest.mark.parametrize("bars", [False, True])
def test_figures_for_papers_draw_each_in_its_own_way(bars: bool, tmp_path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    panel, many = figure.subplots(), chart(bars)
    if bars:
        _bars(panel, many, list(enumerate(many.series)), "#ffffff")
        drawn = [(bar[0].get_facecolor(), bar[0].get_hatch()) for bar in panel.containers if hasattr(bar, "patches")]
    else:
        for place, series in enumerate(many.series):
            _line(panel, many, series, place)
        drawn = [
            (one.get_color(), str(one._dash_pattern), one.get_marker(), one.get_fillstyle()) for one in panel.lines
        ]
    assert len(drawn) == MANY
    assert all(a != b for a, b in itertools.combinations(drawn, 2))
    write_view(tmp_path / "many.pdf", View("many", (many,)))
    assert (tmp_path / "many.pdf").read_bytes().startswith(b"%PDF")


def test_each_way_to_lose_a_frame_has_a_sign_of_its_own() -> None:
    kinds = re.findall(r'name: "([^"]+)", colour: "([^"]+)", shape: "([^"]+)"', beside("film.js"))
    assert len(kinds) > 6
    assert len({(colour, shape) for _, colour, shape in kinds}) == len(kinds)
    drawn = set(re.findall(r"^    (\w+)\(c, r\)", beside("mesh_drawing.js"), re.MULTILINE))
    assert {shape for _, _, shape in kinds} <= drawn
