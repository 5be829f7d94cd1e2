"""The report in a browser: it draws, plays, answers and saves, without complaint and without network."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser
from browser import Page
from meshpace.report.figures import command, views
from meshpace.report.model import Chart, Report, Section, Series, View
from meshpace.report.page import render
from meshpace.stats import Estimate
from meshpace.study.outcome import to_table
from reported import Reported

pytestmark = [
    pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed: make setup as root"),
    pytest.mark.xdist_group("reported"),  # four studies are run and reported once
]

MANY = 8
DESKTOP, PHONE = (1280, 900), (390, 844)
PLAYER = "document.querySelector('.film').player"
EVERY_PLOT_LIVE = "document.querySelectorAll('.plot').length === document.querySelectorAll('.plot.live').length"
"""Once each has been in sight."""
SCROLL_THROUGH = """(async () => {
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
    scrollTo(0, y);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
  for (const grid of document.querySelectorAll('.views .grid-of')) {
    grid.scrollIntoView();
    for (let x = 0; x < grid.scrollWidth; x += 100) {
      grid.scrollTo(x, 0);
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
  }
})()"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser.page(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def shown(tab: Page, reported: Reported) -> Iterator[Page]:
    """The report on a desktop; whatever a test does, nothing may complain or ask the network."""
    tab.look(*DESKTOP)
    tab.open(reported.path)
    yield tab
    tab.ask("new Promise((done) => setTimeout(done, 50))")
    assert tab.complaints == []
    assert {url for url in tab.requests if not url.startswith(("data:", "blob:"))} == {reported.path.as_uri()}


def first_charts(reported: Reported) -> int:
    """How many charts stand on the page before anything is chosen: those of each study's first view."""
    return sum(len(views(outcome)[0].charts) for outcome in reported.outcomes)


def see(page: Page, selector: str) -> None:
    page.ask(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")


def seen(page: Page, plot: str) -> None:
    """Brings a plot into sight and waits until it is drawn."""
    see(page, plot)
    page.wait(f"document.querySelector({json.dumps(plot)}).querySelector('.main-svg') !== null")


def choose(page: Page, selector: str, value: str) -> None:
    """Chooses an option of a list."""
    page.ask(
        f"(() => {{ const list = document.querySelector({json.dumps(selector)}); list.value = {json.dumps(value)};"
        "list.dispatchEvent(new Event('change')); })()"
    )


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_every_chart_draws(shown: Page, reported: Reported, size: tuple[int, int], tmp_path: Path) -> None:
    shown.look(*size, touch=size is PHONE)
    shown.ask(SCROLL_THROUGH)
    shown.wait(EVERY_PLOT_LIVE)
    drawn = (
        "[...document.querySelectorAll('.plot')].map((plot) => plot.querySelectorAll('.point path, .js-line').length)"
    )
    counts = shown.ask(drawn)
    assert len(counts) == first_charts(reported)
    assert min(counts) > 0
    assert shown.ask("document.documentElement.scrollWidth") <= size[0], "nothing sticks out"
    shown.screenshot(tmp_path / "report.png")
    assert (tmp_path / "report.png").stat().st_size > 20_000, "not blank"


def test_every_bar_has_its_colour_under_its_pattern(tab: Page, tmp_path: Path) -> None:
    value = (Estimate(2.0, 0.5, 5),)
    bars = Chart("a", ("one",), "", "ms", tuple(Series(f"scheme {n}", value) for n in range(MANY)), bars=True)
    page = tmp_path / "bars.html"
    section = Section("Bars", "", views=(View("a", (bars,)),))
    page.write_text(render(Report("t", "", (), (), (section,), interactive=True)))
    tab.look(*DESKTOP)
    tab.open(page)
    seen(tab, ".plot")
    found = tab.ask(
        "[...document.querySelectorAll('.plot .point path')].map((bar) => {"
        '  const fill = getComputedStyle(bar).fill, id = fill.match(/#([^")]+)/);'
        "  return id ? getComputedStyle(document.getElementById(id[1]).querySelector('rect')).fill : fill; })"
    )
    colours = tab.ask(
        "[...Array(6).keys()].map((n) => { const probe = document.createElement('i');"
        "  probe.style.color = `var(--s${n})`; document.body.append(probe); return getComputedStyle(probe).color; })"
    )
    tab.requests.clear()  # of another page than the report
    assert found == [colours[n % 6] for n in range(MANY)]


def test_charts_draw_the_numbers_of_the_store(shown: Page, reported: Reported) -> None:
    seen(shown, "#s1 .plot")
    drawn = shown.ask("document.querySelector('#s1 .plot').data.filter((t) => t.customdata).map((t) => t.y)")
    chart = views(reported.outcomes[0])[0].charts[0]
    expected = [[None if v is None else v.mean * chart.factor for v in series.values] for series in chart.series]
    assert drawn == [[None if v is None else pytest.approx(v) for v in series] for series in expected]


def test_a_click_on_a_point_tells_the_command_that_repeats_it(shown: Page, reported: Reported) -> None:
    seen(shown, "#s1 .plot")
    points = "document.querySelector('#s1 .plot').querySelectorAll('.points path')"
    place = shown.ask(
        f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({points}[3].getBoundingClientRect())"
    )
    shown.click(*place)
    shown.wait("document.querySelector('#s1 .repeat code') !== null")
    outcome = reported.outcomes[0]
    told = shown.ask("document.querySelector('#s1 .repeat code').textContent")
    # The second scheme's first point, which no other covers.
    cell = next(cell for cell in outcome.records if (cell.scheme, cell.point) == ("tcp-gap", "1"))
    assert told == command(outcome, cell)


def test_another_quantity_is_shown_on_demand(shown: Page, reported: Reported) -> None:
    seen(shown, "#s1 .plot")
    outcome = reported.outcomes[0]
    names = shown.ask("[...document.querySelectorAll('#s1 .picker option')].map((option) => option.textContent)")
    assert names == [view.name for view in views(outcome)]
    choose(shown, "#s1 select", "1")
    seen(shown, "#s1 .plot")
    chart = views(outcome)[1].charts[0]
    drawn = shown.ask("document.querySelector('#s1 .plot').data.filter((t) => t.customdata).map((t) => t.y)")
    assert drawn[0] == [None if v is None else pytest.approx(v.mean * chart.factor) for v in chart.series[0].values]
    assert chart.unit in shown.ask("document.querySelector('#s1 figcaption').textContent")


def test_a_scheme_can_be_hidden(shown: Page) -> None:
    seen(shown, "#s1 .plot")
    traces = "document.querySelector('#s1 .plot').data.filter((t) => t.customdata).map((t) => t.name)"
    before = shown.ask(traces)
    shown.ask("document.querySelector('#s1 .legend button').click()")
    shown.wait(f"{traces}.length === {len(before) - 1}")
    assert shown.ask(traces) == before[1:]
    assert shown.ask("document.querySelector('#s1 .legend button').getAttribute('aria-pressed')") == "false"


def test_files_are_saved_as_the_store_has_them(shown: Page, reported: Reported, tmp_path: Path) -> None:
    shown.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    see(shown, "#s2 .download")
    shown.ask("document.querySelectorAll('#s2 .download')[1].click()")
    target = tmp_path / "gap-parallel-mix-runs.csv"
    until = time.monotonic() + 20
    while not target.exists():
        assert time.monotonic() < until, list(tmp_path.iterdir())
        time.sleep(0.05)
    lines = target.read_text().splitlines()
    assert len(lines) == 1 + to_table(reported.outcomes[1]).num_rows
    assert lines[1].split(",")[0].strip('"') == to_table(reported.outcomes[1])["key"][0].as_py()


def picture(page: Page) -> Any:
    """The first film's picture as data."""
    return page.ask("document.querySelector('.film figure canvas').toDataURL()")


def test_the_animation_plays_pauses_and_steps(shown: Page) -> None:
    see(shown, ".film figure canvas")
    shown.wait(f"{PLAYER}.now > 1e6")  # it begins when it comes into sight
    before = picture(shown)
    shown.ask("document.querySelector('.film .play').click()")
    at = shown.ask(f"{PLAYER}.now")
    time.sleep(0.2)
    assert shown.ask(f"{PLAYER}.now") == at, "paused"
    assert shown.ask("document.querySelector('.film .play').textContent") == "Play"
    shown.ask("[...document.querySelectorAll('.film button')].find((b) => b.textContent === 'Step ▶').click()")
    assert shown.ask(f"{PLAYER}.now") > at
    assert shown.ask("document.querySelector('.film .told').textContent") != ""
    assert picture(shown) != before
    shown.ask("document.querySelector('.film .play').click()")
    shown.wait(f"{PLAYER}.now > {at} + 2e6")
    choose(shown, ".film select", "20000000")
    # Seen from inside, where a busy machine's slow frames do not count: at 2 ms a second no frame is so long.
    longest = shown.ask(f"""(async () => {{
      let [longest, before] = [0, {PLAYER}.now];
      for (let frame = 0; frame < 20; frame++) {{
        await new Promise((done) => requestAnimationFrame(done));
        longest = Math.max(longest, {PLAYER}.now - before);
        before = {PLAYER}.now;
      }}
      return longest;
    }})()""")
    assert longest > 0.2e6, "more than 100 ms of watching at 2 ms a second, the most that counts of a frame"


def test_the_animation_ends_and_begins_again(shown: Page) -> None:
    see(shown, ".film figure canvas")
    shown.wait(f"{PLAYER}.playing")
    shown.ask(f"{PLAYER}.seek({PLAYER}.length - 1e5)")
    shown.wait(f"!{PLAYER}.playing")
    assert shown.ask(f"{PLAYER}.now === {PLAYER}.length")
    shown.ask("document.querySelector('.film .play').click()")
    assert shown.ask(f"{PLAYER}.now < 1e8 && {PLAYER}.playing")


def test_keys_play_and_step(shown: Page) -> None:
    see(shown, ".film figure canvas")
    shown.ask(f"{PLAYER}.pause(); {PLAYER}.begun = true; document.querySelector('.film figure canvas').focus()")
    shown.press("Home")
    assert shown.ask(f"{PLAYER}.now") == 0
    shown.press("ArrowRight")
    first = shown.ask(f"{PLAYER}.now")
    shown.press("ArrowRight")
    second = shown.ask(f"{PLAYER}.now")
    assert second > first > 0
    shown.press("ArrowLeft")
    assert shown.ask(f"{PLAYER}.now") == first
    shown.press(" ")
    assert shown.ask(f"{PLAYER}.playing")


def test_steps_tell_every_loss_and_count_it(shown: Page, reported: Reported) -> None:
    films = [film.shots for film in reported.report.sections[0].films]
    shown.ask(f"{PLAYER}.pause(); {PLAYER}.begun = true; {PLAYER}.seek(0)")
    told = shown.ask(f"""(() => {{
      const [player, texts] = [{PLAYER}, []];
      for (let before = -1; before !== player.now; ) {{
        before = player.now;
        player.step(1);
        if (player.now !== before) texts.push(player.told.textContent);
      }}
      return texts;
    }})()""")
    lost = sum(text.count("lost to an overlapping frame") + text.count("missed: the receiver") for text in told)
    assert lost == sum(len(film["losses"]["frame"]) for film in films)
    assert sum(text.count("→") for text in told) >= sum(len(film["frames"]["kind"]) for film in films)
    counts = shown.ask("[...document.querySelectorAll('.film figcaption small')].map((small) => small.textContent)")
    for film, count in zip(films, counts, strict=True):
        assert count.endswith(f"frames lost: {len(set(film['losses']['frame']))}")


def test_less_motion_means_steps_only(shown: Page, reported: Reported) -> None:
    see(shown, ".film figure canvas")
    shown.wait(f"{PLAYER}.playing")
    shown.look(*DESKTOP, still=True)
    shown.wait(f"!{PLAYER}.playing")  # at once, also when it is playing
    shown.open(reported.path)
    see(shown, ".film figure canvas")
    time.sleep(0.3)
    assert shown.ask(f"{PLAYER}.playing") is False
    assert shown.ask(f"{PLAYER}.now") == 0
    assert shown.ask("document.querySelector('.film .play').checkVisibility()") is False
    before = picture(shown)
    shown.ask("document.querySelector('.film figure canvas').focus()")
    shown.press(" ")
    assert shown.ask(f"{PLAYER}.playing") is False
    shown.press("ArrowRight")
    assert picture(shown) != before


def test_dark_and_light_follow_the_system(shown: Page) -> None:
    seen(shown, "#s1 .plot")
    ink = "getComputedStyle(document.querySelector('#s1 .plot .xtick text')).fill"
    paper = "getComputedStyle(document.body).backgroundColor"
    light = shown.ask(f"[{paper}, {ink}]")
    shown.look(*DESKTOP, dark=True)
    shown.wait(f"{ink} !== {json.dumps(light[1])}")
    assert shown.ask(paper) != light[0]


def test_what_was_never_in_sight_is_printed(shown: Page, reported: Reported) -> None:
    seen(shown, "#s1 .plot")  # the library is unpacked
    assert shown.ask("document.querySelectorAll('.plot.live').length") < first_charts(reported)
    shown.call("Page.printToPDF")
    shown.wait(EVERY_PLOT_LIVE)
    assert shown.ask("[...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('.main-svg'))")


def test_without_scripts_tables_and_topologies_remain(shown: Page, reported: Reported) -> None:
    shown.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        shown.open(reported.path)
        assert "need a script" in shown.ask("document.querySelector('#s1 .views noscript').textContent")
        assert shown.ask("document.querySelectorAll('#s1 table').length") > 0
        assert shown.ask("document.querySelectorAll('svg.topology').length") == len(reported.outcomes)
        assert shown.ask("document.querySelectorAll('.plot.live').length") == 0
        assert not shown.ask("document.querySelector('#s1 .plot').checkVisibility()"), "no empty frame is left"
        assert "needs a script" in shown.ask("document.querySelector('.film').textContent")
    finally:
        shown.call("Emulation.setScriptExecutionDisabled", value=False)
