"""The report as laid out by a browser, on a desk and on a phone, light and dark: nothing overlaps, nothing is cut."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import browser
from browser import Page
from meshpace.report.model import Claim, Finding, MeshNode, Report, Section, Topology, Verdict
from meshpace.report.numbers import numbers
from meshpace.report.page import render
from reported import Reported

pytestmark = [
    pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed: make setup as root"),
    pytest.mark.xdist_group("reported"),  # four studies are run and reported once
]
DESK, PHONE = (1440, 900), (390, 844)

OVERLAPPING = """(() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg.topology')) {
    // Of wired nodes names stand in boxes, under which arrows pass.
    const wired = new Set([...svg.querySelectorAll('.wired + text')].map((t) => t.textContent));
    const texts = [...svg.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([a, p], i) => texts.slice(i + 1).forEach(([b, q]) => {
      const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (wide > 1 && high > 1) found.push(`${a} over ${b}`);
    }));
    const box = svg.getBoundingClientRect();
    for (const path of svg.querySelectorAll('.flow path:not(.tip)')) {
      const length = path.getTotalLength();
      for (let at = 0; at <= length; at += 2) {
        const { x, y } = path.getPointAtLength(at).matrixTransform(path.getScreenCTM());
        const under = texts.find(([, r]) => r.left < x && x < r.right && r.top + 2 < y && y < r.bottom - 2);
        if (under && !wired.has(under[0])) { found.push(`an arrow over ${under[0]}`); break; }
      }
    }
    texts.forEach(([a, p]) => { if (p.left < box.left - 1 || p.right > box.right + 1) found.push(`${a} is cut`); });
  }
  return found;
})()"""
CUT = """[...document.querySelectorAll('h1, h2, h3, p, dd, td, th, figcaption, .legend li, .tally li')]
  .filter((e) => e.offsetParent !== null && !e.closest('.scroll, nav, details, .views .grid-of'))
  .filter((e) => { const r = e.getBoundingClientRect(); return r.left < -1 || r.right > innerWidth + 1; })
  .map((e) => e.textContent.slice(0, 40))"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser.page(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(params=[(DESK, False), (DESK, True), (PHONE, False), (PHONE, True)], ids=str)
def shown(tab: Page, reported: Reported, request: pytest.FixtureRequest) -> Page:
    size, dark = request.param
    tab.look(*size, dark=dark)
    tab.open(reported.path)
    return tab


def box(page: Page, expression: str) -> dict[str, float]:
    found: dict[str, Any] = page.ask(f"{expression}.getBoundingClientRect().toJSON()")
    return found


def test_nothing_is_cut_and_no_label_lies_on_another(shown: Page) -> None:
    assert shown.ask("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    assert shown.ask(CUT) == []
    assert shown.ask(OVERLAPPING) == []


TOLD = """[...document.querySelectorAll('.claim li, .overview td:not(.empty)')].flatMap((row) => {
  const boxes = [...row.children].map((e) => {
    const text = document.createRange();
    text.selectNodeContents(e);
    return [e.textContent, text.getBoundingClientRect()];
  });
  const end = row.getBoundingClientRect().right + 1;
  const found = boxes.filter(([, r]) => r.right > end).map(([text]) => `${text} sticks out`);
  boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
    const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (getComputedStyle(row).display === 'grid' && wide > 1 && high > 1) found.push(`${a} over ${b}`);
  }));
  return found;
})"""


@pytest.mark.parametrize("size", [DESK, PHONE], ids=str)
def test_the_longest_verdicts_have_room(tab: Page, size: tuple[int, int], tmp_path: Path) -> None:
    findings = tuple(
        Finding(condition, Verdict.PART, "1 hop -8.4 ± 0.1 %; 2 hops +6.9 ± 3.1 %", note="at 12 of 13, short")
        for condition in ("AODV as in ns-2, ns-2 capture", "static routes, cumulative interference")
    )
    section = Section("One", "lead", claims=(Claim("It holds.", "source", findings, printed="-3 %"),))
    (tmp_path / "page.html").write_text(render(Report("t", "lead", (), (), (section,))))
    tab.look(*size)
    tab.open(tmp_path / "page.html")
    assert tab.ask(TOLD) == []
    assert tab.ask("document.documentElement.scrollWidth <= innerWidth")
    assert tab.ask(CUT) == []


def test_names_before_the_lanes_of_a_film_have_room(tab: Page, reported: Reported) -> None:
    tab.look(*DESK)
    tab.open(reported.path)
    widths = tab.ask("""(() => {
      const { drawing } = document.querySelector('.film').player.stages[0];
      drawing.film.nodes[3].id = 'schoolhouse';
      drawing.resize();
      drawing.draw(0);
      drawing.context.font = '11px system-ui, sans-serif';
      return [drawing.context.measureText('schoolhouse').width, drawing.label];
    })()""")
    assert widths[0] + 6 <= widths[1]


def test_a_wired_node_with_a_long_name_keeps_it_in_its_box(tab: Page, tmp_path: Path) -> None:
    nodes = tuple(MeshNode(name, 200.0 * i, 30.0 * i, name == "d") for i, name in enumerate("abcd"))
    for place, gateway in (("edge", "d"), ("inside", "b")):
        mesh = tuple(dataclasses.replace(node, gateway=node.name == gateway) for node in nodes)
        links = ((gateway, "exchange"), ("exchange", "internet"))
        drawn = Topology("caption", mesh, 250.0, 550.0, links, (("a", "internet"), ("internet", "d")))
        page = render(Report("t", "lead", (), (), (Section("One", "lead", topology=drawn),)))
        (tmp_path / f"{place}.html").write_text(page)
        tab.look(*DESK)
        tab.open(tmp_path / f"{place}.html")
        assert tab.ask(OVERLAPPING) == []
        assert tab.ask("""[...document.querySelectorAll('.wired')].every((box) => {
          const [b, t] = [box, box.nextElementSibling].map((e) => e.getBoundingClientRect());
          return b.left < t.left && t.right < b.right && b.right <= box.ownerSVGElement.getBoundingClientRect().right;
        })""")
        assert tab.ask("""[...document.querySelectorAll('.flow path')].every((path) => {
          const [p, s] = [path, path.ownerSVGElement].map((e) => e.getBoundingClientRect());
          return p.top >= s.top && p.bottom <= s.bottom;
        })""")


def test_the_tally_is_in_proportion(shown: Page, reported: Reported) -> None:
    findings = [
        finding for section in reported.report.sections for claim in section.claims for finding in claim.findings
    ]
    whole = box(shown, "document.querySelector('.tally .shares')")["width"]
    parts = shown.ask("[...document.querySelectorAll('.tally .shares i')].map((i) => i.getBoundingClientRect().width)")
    counts = shown.ask("[...document.querySelectorAll('.tally li b')].map((b) => Number(b.textContent))")
    assert sum(counts) == len(findings)
    assert parts == pytest.approx([whole * count / len(findings) for count in counts], abs=1.0)


def test_the_contents_stay_in_sight(shown: Page) -> None:
    shown.ask("scrollTo(0, document.documentElement.scrollHeight / 2)")
    shown.wait("scrollY > 200")
    placed = box(shown, "document.querySelector('.contents')")
    assert 0 <= placed["top"] < 2
    assert placed["right"] <= shown.ask("innerWidth") + 1
    background = shown.ask("getComputedStyle(document.querySelector('.contents')).backgroundColor")
    assert background == shown.ask("getComputedStyle(document.body).backgroundColor"), "text would shine through"


def test_the_first_column_stays_where_a_table_scrolls(shown: Page) -> None:
    shown.ask("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    wide = shown.ask(
        "(() => { const all = [...document.querySelectorAll('.scroll:has(table)')];"
        "const one = all.find((s) => s.scrollWidth > s.clientWidth + 40); if (!one) return null;"
        "one.scrollLeft = one.scrollWidth; const key = one.querySelector('tbody .key:first-child');"
        "return [key.getBoundingClientRect().left - one.getBoundingClientRect().left, one.scrollLeft]; })()"
    )
    if wide is None:
        assert shown.ask("innerWidth") > PHONE[0], "on a phone some table is wider than the screen"
        return
    assert wide[0] == pytest.approx(0, abs=1.5)
    assert wide[1] > 0


def test_buttons_of_a_chart_stand_above_its_data(tab: Page, reported: Reported) -> None:
    # A browser without a screen has no mouse, and charts have buttons only where there is one.
    mouse = "(() => { const plain = matchMedia; window.matchMedia = (query) => query.includes('pointer: fine') ? "
    mouse += "{ matches: true, addEventListener() {} } : plain(query); })()"
    added = tab.call("Page.addScriptToEvaluateOnNewDocument", source=mouse)
    try:
        tab.look(*DESK)
        tab.open(reported.path)
        tab.ask("document.querySelector('.plot').scrollIntoView({block: 'center'})")
        tab.wait("document.querySelector('.plot .modebar-group') !== null")
        buttons, data = (
            box(tab, f"document.querySelector('.plot {part}')") for part in (".modebar-group", ".nsewdrag")
        )
        assert buttons["bottom"] <= data["top"] + 1
    finally:
        tab.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("-6.4 %", "−6.4\u00a0%"),
        ("from -2 to 3", "from −2 to 3"),
        ("54.5 ± 158.9 %", "54.5\u00a0±\u00a0158.9\u00a0%"),
        ("tcp-ap-n4 at 802.11-2007", "tcp-ap-n4 at 802.11-2007"),
        ("2005-11-07", "2005-11-07"),
        ("starved with 41% of it", "starved with 41\u00a0% of it"),
        ("over 4 hops at 11 Mbit/s", "over 4\u00a0hops at 11\u00a0Mbit/s"),
    ],
)
def test_numbers_as_printed(text: str, printed: str) -> None:
    assert numbers(text) == printed
