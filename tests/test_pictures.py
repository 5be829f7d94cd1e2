"""The pictures of the documents are what today's code makes of what today's engine gives.

Each is made by a command that stands beside it: README's `meshpace demo --picture ... --film ...`, and a how-to's.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from documents import ROOT
from meshpace.demo import command
from meshpace.demo.plan import HOPS
from meshpace.report.model import Chart, Series
from meshpace.report.picture import picture
from meshpace.stats import Estimate

PICTURES = ROOT / "docs" / "pictures"
MADE_BY = ".venv/bin/meshpace demo --picture docs/pictures/demo-chain.svg --film docs/pictures/demo-film.svg"
RRUL_BY = (
    ".venv/bin/meshpace compare scenarios/rrul.toml --scheme cubic,cubic-fq-codel,tcp-gap --seeds 5 --svg "
    "docs/pictures/rrul.svg"
)
AGAIN = f"not what it would be today: {MADE_BY}"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawing() -> ElementTree.Element:
    return ElementTree.parse(PICTURES / "demo-chain.svg").getroot()


@pytest.fixture(scope="module")
def carried(drawing: ElementTree.Element) -> dict[str, Any]:
    """What the picture says that it was made of."""
    found: dict[str, Any] = json.loads(drawing.findtext(f"{SVG}metadata") or "")
    return found


def shape(root: ElementTree.Element) -> list[tuple[str, str]]:
    """Kinds of elements in order, and their words: other versions of matplotlib and of fonts move them only."""
    marks = {f"{SVG}{name}" for name in ("text", "path", "use", "rect")}
    return [(element.tag, (element.text or "").strip()) for element in root.iter() if element.tag in marks]


def test_every_picture_has_its_command() -> None:
    assert MADE_BY in (ROOT / "README.md").read_text()
    kept = [path.name for path in PICTURES.iterdir() if path.suffix != ".html"]  # the film is made, not kept
    assert sorted(kept) == ["calm.svg", "demo-chain.svg", "demo-film.svg", "rrul.svg"]
    assert RRUL_BY in (ROOT / "docs" / "howto" / "latency-under-load.md").read_text()


def test_the_chart_is_drawn_as_today(drawing: ElementTree.Element, carried: dict[str, Any]) -> None:
    charts = [
        Chart(
            one["title"], tuple(one["axis"]), one["axisTitle"], one["unit"],
            tuple(
                Series(
                    series["name"],
                    tuple(map(Estimate, series["mean"], series["half"], series["runs"])),
                    tuple(carried["commands"][line] for line in series["commands"]),
                    series["colour"],
                )
                for series in one["series"]
            ),
            one["factor"], one["decimals"], x=tuple(one["x"]),
        )
        for one in carried["charts"]
    ]  # fmt: skip
    again = picture(drawing.attrib["aria-label"], charts, {name: carried[name] for name in ("made by", "engine")})
    assert shape(drawing) == shape(ElementTree.fromstring(again)), AGAIN


def test_the_chart_is_of_the_demo(carried: dict[str, Any]) -> None:
    assert carried["made by"] == "meshpace demo --seeds 5 --picture docs/pictures/demo-chain.svg"
    assert len(carried["charts"]) == 2, "each way"
    for chart in carried["charts"]:
        assert chart["x"] == [hops for hops in HOPS if hops > 1], "one hop has nothing to pace for"
        assert [series["name"] for series in chart["series"]] == ["AODV as in ns-2", "static routes"]


@pytest.mark.parametrize(("chart", "series", "point"), [(0, 1, 1), (1, 0, 4)])
def test_its_numbers_are_the_engines(carried: dict[str, Any], chart: int, series: int, point: int) -> None:
    drawn = carried["charts"][chart]["series"][series]
    words = shlex.split(carried["commands"][drawn["commands"][point]])
    assert words[:2] == ["meshpace", "compare"]
    # A headline's best point has seeds of its own beyond those of the command.
    words[words.index("--seeds") + 1] = str(drawn["runs"][point])
    at = words.index("--scheme")
    before, after = (
        goodput([*words[2:at], "--scheme", scheme, *words[at + 2 :]]) for scheme in words[at + 1].split(",")
    )
    gains = [with_it / without - 1 for without, with_it in zip(before, after, strict=True)]
    assert sum(gains) / len(gains) == pytest.approx(drawn["mean"][point], rel=1e-9), AGAIN


def goodput(words: list[str]) -> list[float]:
    """Of each seed."""
    done = subprocess.run(
        [sys.executable, "-m", "meshpace", "run", *words, "--json"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return [run["aggregate_goodput_bps"] for run in json.loads(done.stdout)["runs"]]


def test_the_films_moment_is_todays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    still = Path("docs/pictures/demo-film.svg")
    (tmp_path / still.parent).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    command.write_film(still)
    # Nothing in it depends on fonts or on another's library.
    assert re.sub(r"\s+", " ", still.read_text()) == re.sub(r"\s+", " ", (ROOT / still).read_text()), AGAIN
    page = still.with_suffix(".html").read_text()
    assert "TCP-GAP" in page
    assert "<script" in page, "it plays"


def test_latency_under_load_is_todays(tmp_path: Path) -> None:
    """Drawn again of one seed: it shows no more."""
    words = [*shlex.split(RRUL_BY)[1:], "--store", str(tmp_path / "store")]
    words[words.index("--seeds") + 1], words[words.index("--svg") + 1] = "1", str(tmp_path / "rrul.svg")
    subprocess.run([sys.executable, "-m", "meshpace", *words], cwd=ROOT, check=True, capture_output=True, timeout=300)
    kept, again = (ElementTree.parse(folder / "rrul.svg").getroot() for folder in (PICTURES, tmp_path))
    assert shape(kept) == shape(again), RRUL_BY
    (before, now) = (json.loads(root.findtext(f"{SVG}metadata") or "") for root in (kept, again))
    assert before["charts"] == now["charts"], RRUL_BY


def test_calm_s_picture_has_the_points_that_readme_tells_and_the_command_that_makes_it() -> None:
    text = (PICTURES / "calm.svg").read_text()
    root = ElementTree.fromstring(text)
    readme = (ROOT / "README.md").read_text()
    made = root.findtext(f"{SVG}metadata")
    assert made == "made by bench/calm_picture.py docs/pictures/calm.svg --seeds 3"
    assert ".venv/bin/python bench/calm_picture.py docs/pictures/calm.svg" in readme
    points = root.findall(f"{SVG}circle")
    names = [element.text for element in root.findall(f"{SVG}text")]
    assert [point.get("class") for point in points].count("calm") == 1
    assert {"calm", "CUBIC", "BBR", "TCP-GAP", "TCP-AP", "Copa", "Vegas", "LEDBAT++"} <= set(names)
    # Of all of them calm has most goodput: it is the highest.
    assert min(points, key=lambda point: float(point.get("cy", "inf"))).get("class") == "calm"
