"""Latency under load over time: what is drawn is what was measured, a column a scheme, a scale a unit."""

from __future__ import annotations

from pathlib import Path

import pytest

import meshpace
from meshpace.report.model import Chart, Series, View
from meshpace.report.panels import _arranged, figure
from meshpace.report.picture import _look
from meshpace.stats import Estimate
from meshpace.sweeps import over_time
from meshpace.sweeps.make import Swept

SCHEMES = ["cubic", "cubic-fq-codel"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Swept:
    mesh = meshpace.Scenario.load("scenarios/rrul.toml")
    mesh.set("measure", {"duration": "14s", "warmup": "4s"}).set("flow.0.count", 1).set("flow.1.count", 2)
    return meshpace.sweep(mesh, scheme=SCHEMES, seeds=1, store=tmp_path_factory.mktemp("store")).swept


def means(series: Series) -> list[float]:
    return [value.mean for value in series.values if value is not None]


def test_it_is_what_was_measured(swept: Swept) -> None:
    view = over_time.view(swept)
    assert view is not None
    assert [chart.title for chart in view.charts] == [
        "CUBIC: goodput", "CUBIC: round trips", "CUBIC over FQ-CoDel: goodput", "CUBIC over FQ-CoDel: round trips",
    ]  # fmt: skip
    assert list(view.series) == ["up", "down", "echoes"]
    assert len(set(view.series.values())) == 3, "each has a look of its own"
    for (goodput, latency), (run,) in zip(
        (view.charts[:2], view.charts[2:]), swept.runs.values(), strict=True
    ):  # fmt: skip
        assert (goodput.x or ())[0] == 5.0, "the first second after the warm-up"
        assert (goodput.x or ())[-1] == 14.0
        for series, flows in zip(goodput.series, (run["flows"][:1], run["flows"][1:3]), strict=True):
            got = sum(flow["goodput_bps"] for flow in flows)
            assert sum(means(series)) / len(means(series)) == pytest.approx(got, rel=1e-6)
        (echo,) = (flow for flow in run["flows"] if flow["app"] == "echo")
        (trips,) = latency.series
        assert len(latency.axis) == 40
        # Four samples a second of five echoes.
        assert echo["delay_mean_s"] is not None
        assert sum(means(trips)) / len(means(trips)) == pytest.approx(echo["delay_mean_s"], rel=0.15)
        assert trips.commands[0].endswith(f"--scheme {run['scheme']} --seed 1")


def test_only_where_somebody_asks_and_nothing_varies(tmp_path: Path) -> None:
    mesh = meshpace.Scenario.load("scenarios/rrul.toml").set("measure", {"duration": "3s", "warmup": "1s"})
    varied = meshpace.sweep(mesh, {"radio.rate": ["2Mbps", "11Mbps"]}, seeds=1, store=tmp_path)
    assert over_time.view(varied.swept) is None
    nobody = mesh.copy().set("flow", [{"from": "n0", "to": "B"}])
    assert over_time.view(meshpace.sweep(nobody, scheme=SCHEMES, seeds=1, store=tmp_path).swept) is None


def test_it_is_the_first_figure_and_a_section_of_the_page(swept: Swept, tmp_path: Path) -> None:
    found = meshpace.api.SweepResult(swept)
    found.save(tmp_path / "rrul.svg")
    assert f'aria-label="{over_time.NAME}"' in (tmp_path / "rrul.svg").read_text()
    found.save(tmp_path / "rrul.html")
    assert f"<h2>{over_time.NAME}</h2>" in (tmp_path / "rrul.html").read_text()
    assert f'alt="{over_time.NAME}"' in found._repr_html_()


def charts(count: int, unit: str, value: float) -> list[Chart]:
    estimate = Estimate(value, None, 1)
    return [
        Chart(f"{unit} {n}", ("1", "2"), "time, s", unit, (Series(f"in {unit}", (estimate, estimate)),), x=(1.0, 2.0))
        for n in range(count)
    ]


def test_charts_that_belong_together_stand_over_each_other() -> None:
    pairs = [chart for pair in zip(charts(4, "kbit/s", 9), charts(4, "ms", 70), strict=True) for chart in pair]
    titles, columns = _arranged(View("", tuple(pairs[:6]), over=2), 2)
    assert ([chart.title for chart in titles], columns) == (
        ["kbit/s 0", "kbit/s 1", "kbit/s 2", "ms 0", "ms 1", "ms 2"], 3
    )  # fmt: skip
    assert _arranged(View("", tuple(pairs), over=2), 2) == (pairs, 2), "too many for a column each: a row each"
    assert _arranged(View("", tuple(pairs)), 3) == (pairs, 3)


def test_a_scale_a_unit_and_one_legend_of_all() -> None:
    view = View("", (*charts(1, "kbit/s", 9), *charts(1, "ms", 70), *charts(1, "kbit/s", 30)), shared=True)
    drawn = figure(view, _look())
    assert [panel.get_ylim()[1] for panel in drawn.axes] == pytest.approx([31.8, 74.2, 31.8])
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["in kbit/s", "in ms"]
