"""Nodes of several radios, as users see them: results, `--why`, films, captures, advice."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

import browser
from browser import Page
from commanding import Cli
from meshpace import engine
from meshpace.advice.traffic import reach
from meshpace.engine import Job
from meshpace.project import scenario_directory
from meshpace.report.films import filmed
from meshpace.report.model import Film, Report, Section
from meshpace.report.page import render
from meshpace.report.places import reach_in_words
from meshpace.report.still import still
from meshpace.why import way

ROOFS = scenario_directory() / "two-radios.toml"
SHORT = ("measure.duration=2s", "measure.warmup=1s")
ARGUMENTS = [word for pair in SHORT for word in ("--set", pair)]
HOPS = [("home", "roof", 36), ("roof", "school", 40), ("school", "tower", 44), ("tower", "hall", 36)]


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser.page(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def film() -> Film:
    return filmed(Job("two-radios.toml", ROOFS.read_bytes(), SHORT), "two radios")


def test_each_hop_is_on_its_channel(cli: Cli) -> None:
    run = json.loads(cli("run", ROOFS, *ARGUMENTS, "--json").stdout)
    both_ways = {hop for source, target, number in HOPS for hop in ((source, target, number), (target, source, number))}
    carried = {(link["from"], link["to"], link["channel"]) for link in run["links"] if link.get("attempts")}
    assert carried == both_ways
    assert {link["frequency_hz"] for link in run["links"] if link.get("channel") == 44} == {5_220_000_000}
    wired = [link for link in run["links"] if "internet" in (link["from"], link["to"])]
    assert wired
    assert not any("channel" in link for link in wired)
    assert way(run["links"][0]).endswith(", channel 36")
    assert "home → roof, channel 36" in cli("run", ROOFS, *ARGUMENTS, "--why").stdout


def test_one_channel_is_told_of_nowhere(cli: Cli, chain: Path) -> None:
    run = json.loads(cli("run", chain, "--json").stdout)
    assert not any("channel" in link or "frequency_hz" in link for link in run["links"])
    assert way(run["links"][0]) == f"{run['links'][0]['from']} → {run['links'][0]['to']}"


def test_a_capture_has_an_interface_a_channel(cli: Cli, tmp_path: Path) -> None:
    cli("run", ROOFS, *ARGUMENTS, "--pcap", tmp_path / "air.pcapng")
    data = (tmp_path / "air.pcapng").read_bytes()
    at, described, used = 0, 0, set()
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        described += kind == 1
        if kind == 6:
            interface = struct.unpack_from("<I", data, at + 8)[0]
            mhz = struct.unpack_from("<H", data, at + 28 + 18)[0]
            used.add((interface, mhz))
        at += length
    assert (described, used) == (3, {(0, 5180), (1, 5200), (2, 5220)})


def test_a_film_tells_channels_apart(film: Film) -> None:
    assert [channel["number"] for channel in film.shots["channels"]] == [36, 40, 44]
    nodes, frames = [node["id"] for node in film.shots["nodes"]], film.shots["frames"]
    senders = {(channel, nodes[source]) for channel, source in zip(frames["channel"], frames["from"], strict=True)}
    expected = {
        (0, "home"),
        (0, "roof"),
        (1, "roof"),
        (1, "school"),
        (2, "school"),
        (2, "tower"),
        (0, "tower"),
        (0, "hall"),
    }
    assert senders == expected
    drawn = still("Roofs", [film])
    assert all(f">channel {number}</text>" in drawn for number in (36, 40, 44))
    assert {f"var(--s{place})" in drawn for place in range(3)} == {True}


@pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed: make setup as root")
def test_the_film_of_a_page_has_lines_of_channels(tab: Page, film: Film, tmp_path: Path) -> None:
    page = render(Report("Roofs", "", (), (), (Section("Roofs", "lead", films=(film,)),)))
    (tmp_path / "film.html").write_text(page)
    tab.open(tmp_path / "film.html")
    legend = tab.ask("[...document.querySelectorAll('.film .legend li')].map((item) => item.textContent)")
    assert legend[-3:] == ["channel 36", "channel 40", "channel 44"]
    lines = tab.ask("""(() => {
      const { film, drawing } = document.querySelector('.film').player.stages[0];
      const seen = new Set();
      const stroke = drawing.context.stroke.bind(drawing.context);
      drawing.context.stroke = () => {
        seen.add(`${drawing.context.strokeStyle} ${drawing.context.getLineDash()}`);
        stroke();
      };
      for (const frame of film.frames.slice(0, 200)) drawing.draw((frame.start + frame.end) / 2);
      return film.channels.map(({ colour, dash }) => {
        const context = document.createElement('canvas').getContext('2d');
        context.strokeStyle = drawing.colour(colour);
        return seen.has(`${context.strokeStyle} ${dash}`);
      });
    })()""")
    assert lines == [True, True, True]
    told = tab.ask("document.querySelector('.film').player.moments.map((moment) => moment.text)")
    assert any("home → roof: DATA on channel 36" in text for text in told)


def test_who_is_on_which_channel_is_told_and_heeded() -> None:
    resolved = engine.resolve(Job("two-radios.toml", ROOFS.read_bytes(), ()))
    assert "; channel 40: roof, school; " in reach_in_words(resolved)
    ids, heard = reach(resolved).ids, reach(resolved).neighbours
    hops = {(source, target) for source, target, _ in HOPS}
    pairs = {(ids[here], ids[other]) for here, others in enumerate(heard) for other in others}
    assert pairs == hops | {(target, source) for source, target in hops}
    apart = engine.resolve(
        Job(
            "two-radios.toml",
            ROOFS.read_bytes(),
            ("node.0.radio.0.channel=44", "topology.kind=explicit", "topology.connected=false"),
        )
    )
    assert not reach(apart).neighbours[0], "nobody near home is on channel 44"


def test_other_simulators_do_not_get_such_a_mesh(cli: Cli) -> None:
    for judge in ("ns2", "ns3"):
        done = cli("crosscheck", ROOFS, "--with", judge)
        assert (done.returncode, done.stdout) == (2, "")
        assert "node[0].radio[0].channel" in done.stderr
