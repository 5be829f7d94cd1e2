"""The demo: what it runs, judges, prints and writes."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from meshpace.demo import command
from meshpace.demo.claims import CLAIMS
from meshpace.demo.plan import studies
from meshpace.study.model import Effort
from test_report import Balance


def test_it_judges_what_it_ran_and_writes_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = studies(2, hops=(1, 4), measure=(("measure.duration", "12s"), ("measure.warmup", "2s")))
    command.show(chosen, tmp_path / "report.html", seeds=2, threads=None, most_seeds=12, drawing=tmp_path / "c.svg")
    out = capsys.readouterr().out
    assert "TCP-GAP delivers up to 41 % more than NewReno" in out
    assert re.search(r"holds|does not hold|undecided", out)
    assert f"{len(CLAIMS)} claims, {2 * len(CLAIMS)} verdicts" in out
    page = (tmp_path / "report.html").read_text()
    plan = 2 * (2 * 6 * 2 * 2) + 3 * (6 * 2 * 2)  # ways, hops, schemes, conditions, seeds; parallel chains
    best = 2 * 2 * 2 * 8  # ways, conditions, schemes: eight seeds more at the best length; a block more would be 14
    assert f"<dd>{plan + best}</dd>" in page
    shown = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    parser = Balance()
    parser.feed(shown)
    assert parser.open == []
    assert all(reference.startswith(("#", "data:application/gzip")) for reference in parser.references)
    order = [
        shown.index(part)
        for part in ('class="tally"', 'class="film"', 'class="topology"', 'class="plot"', 'class="download"')
    ]
    assert order == sorted(order), "it opens with its verdicts, then what there is to see, to ask and to take along"
    assert ' id="plotly"' in page
    assert shown.count("<svg") == 2, "topologies"
    assert shown.count('<div class="plot">') == 2 + 8 + 12, "charts that a script draws"
    assert "meshpace run scenarios/demo-chain.toml --set measure.duration=12s --set measure.warmup=2s --set " in page
    assert len(page) < 3_000_000
    drawing = (tmp_path / "c.svg").read_text()
    words = [text.text for text in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]
    assert {"AODV as in ns-2", "static routes", "wireless to wired", "wired to wireless"} <= set(words)
    assert "prefers-color-scheme: dark" in drawing
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\((?!#)", drawing)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.svg", "report.html"]


def test_a_moment_of_the_film_and_the_page_that_plays_it(tmp_path: Path) -> None:
    command.write_film(tmp_path / "film.svg")
    drawing = (tmp_path / "film.svg").read_text()
    tree = ElementTree.fromstring(drawing)
    words = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("n7") == 2 * 2, "in the mesh and at its lane, for each scheme"
    assert {"NewReno", "TCP-GAP", "RTS", "lost to an overlapping frame"} <= set(words)
    assert "prefers-color-scheme: dark" in drawing
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", drawing)
    width, height = (float(tree.attrib[side]) for side in ("width", "height"))
    places = [
        (float(text.attrib["x"]), float(text.attrib["y"])) for text in tree.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in places), "nothing is cut"
    page = (tmp_path / "film.html").read_text()
    assert not re.search(r"https?://|@import|url\(", page), "it fetches nothing"
    assert "FilmPlayer" in page
    assert "plotly" not in page
    with pytest.raises(command.OutputError, match=r"found '\.png'; allowed: \.svg"):
        command.demo(tmp_path / "report.html", 2, 1, film=tmp_path / "film.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["film.html", "film.svg"]


def test_it_runs_the_scenario_files_as_they_are() -> None:
    for study in studies(1):
        for _, job in study.jobs(Effort.QUICK):
            assert not any(override.startswith("measure.") for override in job.overrides)


def test_every_claim_has_its_study() -> None:
    names = {study.name for study in studies(1)}
    assert all(set(claim.studies) <= names for claim in CLAIMS)
