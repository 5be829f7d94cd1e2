"""The report of the studies: its numbers are the store's, and it stands alone."""

from __future__ import annotations

import base64
import csv
import dataclasses
import gzip
import html
import io
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commanding import Cli
from meshpace.cli.tables import show
from meshpace.report import command as report_command
from meshpace.report.command import build, write_verdicts
from meshpace.report.errors import MissingPackageError, VerdictsLostError
from meshpace.report.figures import command, views
from meshpace.report.model import MeshNode, Topology
from meshpace.report.numbers import numbers
from meshpace.report.page import render
from meshpace.report.papers import write_figures, write_view
from meshpace.report.templates import as_json
from meshpace.report.topology import draw
from meshpace.study.held import read
from meshpace.study.model import AODV, STATIC, Effort, scheme_name
from meshpace.study.outcome import Outcome, to_table
from meshpace.study.page import MARK
from meshpace.study.quantities import GOODPUT
from meshpace.study.record import running
from meshpace.study.registry import STUDIES
from meshpace.study.store import Store
from reported import SEEDS, Reported
from test_report import Balance

LIBRARY = re.compile(r'<script type="application/octet-stream" id="plotly".*?</script>', re.DOTALL)


def carried(page: str, name: str) -> Any:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def section(reported: Reported, name: str) -> tuple[str, str]:
    """A study's anchor and its HTML."""
    index = 1 + next(i for i, o in enumerate(reported.outcomes) if o.study.name == name)
    found = re.search(rf'<section id="s{index}">.*?</section>', reported.page, re.DOTALL)
    assert found is not None
    return f"s{index}", found[0]


def downloads(text: str) -> dict[str, list[dict[str, str]]]:
    links = re.findall(r'download="([^"]+)\.gz" href="data:application/gzip;base64,([^"]+)"', text)
    files = ((name, gzip.decompress(base64.b64decode(packed)).decode()) for name, packed in links)
    return {name: list(csv.DictReader(io.StringIO(content))) for name, content in files}


def outcome_of(reported: Reported, name: str) -> Outcome:
    return next(o for o in reported.outcomes if o.study.name == name)


@pytest.mark.xdist_group("reported")
def test_every_point_of_every_chart_is_the_mean_of_what_the_store_holds(reported: Reported) -> None:
    outcome = outcome_of(reported, "gap-chain-up")
    anchor, text = section(reported, "gap-chain-up")
    lines = re.search(r'<pre class="commands">(.*?)</pre>', text, re.DOTALL)
    assert lines is not None
    commands = html.unescape(lines[1]).split("\n")
    seen = 0
    for quantity, view in zip(outcome.study.quantities, carried(reported.page, "views")[anchor], strict=True):
        by_place = {
            (chart["title"], series["name"], point): (series["mean"][i], series["half"][i], series["runs"][i],
                                                      commands[series["commands"][i]], chart["factor"])
            for chart in view["charts"] for series in chart["series"] for i, point in enumerate(chart["axis"])
        }  # fmt: skip
        for cell, records in outcome.records.items():
            # From the stored text, by another way than the report's.
            runs = [json.loads(record.result) for record in records if record is not None]
            values = [value for value in map(quantity.take, runs) if value is not None]
            drawn = by_place.pop((cell.condition.name, scheme_name(cell.scheme), cell.point))
            if not values:
                assert drawn[:3] == (None, None, None)
                continue
            assert drawn[0] == pytest.approx(statistics.fmean(values), rel=1e-12)
            # Student's t for one degree of freedom.
            assert drawn[1] == pytest.approx(12.7062 * statistics.stdev(values) / math.sqrt(SEEDS), rel=1e-4, abs=1e-12)
            assert drawn[2:] == (SEEDS, command(outcome, cell), quantity.factor)
            seen += 1
        assert not by_place
    assert seen > 80


@pytest.mark.xdist_group("reported")
def test_every_form_of_chart_carries_what_the_views_have(reported: Reported) -> None:
    held = carried(reported.page, "views")
    for index, outcome in enumerate(reported.outcomes):
        expected = [
            [[None if v is None else v.mean for v in series.values] for series in chart.series]
            for view in views(outcome)
            for chart in view.charts
        ]
        found = [
            [series["mean"] for series in chart["series"]] for view in held[f"s{index + 1}"] for chart in view["charts"]
        ]
        assert found == expected
        assert any(value for chart in found for series in chart for value in series if value)


@pytest.mark.xdist_group("reported")
def test_seconds_are_means_over_the_seeds(reported: Reported) -> None:
    outcome = outcome_of(reported, "gap-responsiveness")
    chart = views(outcome)[0].charts[0]
    cell = next(cell for cell in outcome.records if scheme_name(cell.scheme) == chart.title)
    kept = [record.goodput_series() for record in outcome.records[cell] if record is not None]
    assert len(kept) == SEEDS
    for series in chart.series:
        flow = series.name.removeprefix("flow ")
        for index, value in enumerate(series.values):
            assert value is not None
            assert value.mean == pytest.approx(statistics.fmean(flows[flow][index] for flows in kept))
    assert max(v.mean for series in chart.series for v in series.values if v is not None) > 1e5


@pytest.mark.xdist_group("reported")
def test_the_tables_show_the_same_numbers(reported: Reported) -> None:
    outcome = outcome_of(reported, "gap-parallel-mix")
    _, text = section(reported, "gap-parallel-mix")
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", text)]
    cells = list(outcome.records)
    assert len(rows) == len(cells)
    for cell, row in zip(cells, rows, strict=True):
        assert scheme_name(cell.scheme) in row
        shown = [numbers(show(outcome.estimate(cell, q), (q.factor, q.decimals))) for q in outcome.study.quantities]
        assert row[-len(shown) :] == shown


@pytest.mark.xdist_group("reported")
def test_the_files_to_download_are_the_stores_runs_and_their_means(reported: Reported) -> None:
    outcome = outcome_of(reported, "gap-parallel-mix")
    _, text = section(reported, "gap-parallel-mix")
    files = downloads(text)
    runs, means = files["gap-parallel-mix-runs.csv"], files["gap-parallel-mix-means.csv"]
    stored = to_table(outcome).to_pylist()
    assert [(row["key"], int(row["seed"])) for row in runs] == [(row["key"], row["seed"]) for row in stored]
    assert [float(row["goodput"]) for row in runs] == [row["goodput"] for row in stored]
    by_cell = {
        (row["routing"], row["reception"], row["scheme"], row["quantity"]): float(row["mean"]) for row in means
    }  # fmt: skip
    for cell in outcome.records:
        found = outcome.estimate(cell, GOODPUT)
        assert found is not None
        key = (cell.condition.routing, cell.condition.reception, cell.scheme, "goodput")
        assert by_cell[key] == found.mean


@pytest.mark.xdist_group("reported")
def test_the_command_of_a_point_repeats_it(reported: Reported, cli: Cli) -> None:
    outcome = outcome_of(reported, "gap-switches-chain-up")
    cell = list(outcome.records)[-1]
    words = shlex.split(command(outcome, cell))
    root = Path(__file__).resolve().parents[1]
    assert words[:2] == ["meshpace", "run"]
    done = cli("run", root / words[2], *words[3:], "--json")
    assert done.returncode == 0, done.stderr
    found = outcome.estimate(cell, GOODPUT)
    assert found is not None
    goodputs = [run["aggregate_goodput_bps"] for run in json.loads(done.stdout)["runs"]]
    assert len(goodputs) == SEEDS
    assert statistics.fmean(goodputs) == pytest.approx(found.mean, rel=1e-12)


@pytest.mark.xdist_group("reported")
def test_the_verdicts_go_below_what_somebody_wrote(reported: Reported, tmp_path: Path) -> None:
    page = tmp_path / "gap.md"
    page.write_text(f"# A paper\n\nProse.\n\n{MARK}\n\nOld verdicts.\n", encoding="utf-8")
    assert write_verdicts(tmp_path, reported.outcomes, running()) == [page]
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# A paper\n\nProse.\n\n{MARK}\n\n## Verdicts\n")
    assert "Old verdicts" not in text
    judged = [claim for part in reported.report.sections for claim in part.claims]
    assert all(text.count(f"| {claim.id} | {claim.statement} |") == 1 for claim in judged)
    findings = [finding for claim in judged for finding in claim.findings]
    assert f"{len(judged)} claims, {len(findings)} verdicts" in text
    for condition in (AODV, STATIC):
        count = sum(finding.condition == condition.name for finding in findings)
        assert f"| {condition.short} | {count}: " in text
    assert "| gap-chain-up | quick | 2 | duration 8s, warmup 2s | 1, 4, 6 |" in text
    write_verdicts(tmp_path, reported.outcomes, running())
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.xdist_group("reported")
def test_the_front_page_has_each_verdict_with_both_numbers(reported: Reported) -> None:
    claims = [claim for part in reported.report.sections for claim in part.claims]
    assert claims
    front = re.search(r'<section id="claims">.*?</section>', reported.page, re.DOTALL)
    assert front is not None
    chips = re.findall(r'<td data-condition="([^"]+)"[^>]*><span class="verdict (\w+)">.*?</td>', front[0])
    findings = [finding for claim in claims for finding in claim.findings]
    assert len(chips) == len(findings) >= 4
    shown = html.unescape(front[0])
    for claim in claims:
        assert numbers(claim.statement) in shown
        assert numbers(claim.printed) in shown
        for finding in claim.findings:
            assert numbers(finding.measured) in shown
            assert finding.verdict.capitalize() in shown


@pytest.mark.xdist_group("reported")
def test_the_page_stands_alone(reported: Reported) -> None:
    without = LIBRARY.sub("", reported.page)
    assert len(re.findall(LIBRARY, reported.page)) == 1
    parser = Balance()
    parser.feed(without)
    assert parser.open == []
    assert all(reference.startswith(("#", "data:")) for reference in parser.references)
    assert not re.search(r"https?://|@import|url\(|\beval\b|new Function|document\.write|innerHTML", without)
    assert len(reported.page) < 6_000_000


@pytest.mark.xdist_group("reported")
def test_equal_stores_give_equal_pages(reported: Reported) -> None:
    assert render(reported.report) == reported.page


def test_what_is_carried_cannot_end_its_element() -> None:
    text = as_json({"a": "</script><!--", "b": "ü"})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--", "b": "ü"}


def test_a_topology_shows_every_node_link_and_flow() -> None:
    nodes = (MeshNode("a<", 0, 0, False), MeshNode("b", 200, 0, False), MeshNode("g", 400, 0, True))
    svg = draw(Topology("three", nodes, 250, 550, (("g", "R"), ("R", "B")), (("a<", "B"), ("B", "b"))))
    assert svg.count('class="node"') == 2
    assert svg.count('class="gateway"') == 1
    assert svg.count('class="wired"') == 2
    assert svg.count('class="wire"') == 2
    assert svg.count('class="edge"') == 2, "a and the gateway are out of range of each other"
    assert svg.count('class="flow') == 2
    assert "a&lt;" in svg
    places = {name: float(x) for x, name in re.findall(r'<text x="([\d.]+)"[^>]*>([^<]+)</text>', svg)}
    assert places["a&lt;"] < places["b"] < places["g"] < places["R"] < places["B"]
    assert places["b"] - places["a&lt;"] == pytest.approx(places["g"] - places["b"], abs=0.2)


@pytest.mark.xdist_group("reported")
def test_films_are_of_the_same_chain_and_bounded(reported: Reported) -> None:
    films = carried(reported.page, "films")["s0"]
    assert [film["title"] for film in films] == ["NewReno", "TCP-GAP"]
    assert films[0]["nodes"] == films[1]["nodes"]
    for film in films:
        frames = film["frames"]
        assert 200 < len(frames["kind"]) <= 2000
        assert {"rts", "cts", "data", "ack"} <= set(frames["kind"])
        assert all(len(column) == len(frames["kind"]) for column in frames.values())
        assert film["losses"]["frame"], "a chain of 7 hops has hidden senders"
        assert film["ends"] == [7]


@pytest.mark.xdist_group("reported")
def test_figures_are_pdfs_with_the_same_bytes_each_time(reported: Reported, tmp_path: Path) -> None:
    outcome = outcome_of(reported, "gap-parallel-mix")
    count = write_figures(tmp_path / "one", [outcome])
    written = sorted((tmp_path / "one").iterdir())
    assert len(written) == count == len(views(outcome))
    for path in written:
        assert path.read_bytes().startswith(b"%PDF")
        assert b"CreationDate" not in path.read_bytes()
    # In a process of its own, whose sets and dictionaries have another order of hashes.
    code = (
        "import sys; from pathlib import Path; from meshpace.report.model import *; from meshpace.report import papers;"
        "from meshpace.stats import Estimate; s = lambda n, c: Series(n, (Estimate(1, .1, 2), None), place=c);"
        "papers.write_view(Path(sys.argv[1]), View('v', (Chart('t', ('1', '2'), 'x', 'kbit/s', (s('a', 0), s('b', 2)),"
        "x=(1., 2.)), Chart('t', tuple('abcdefgh'), 'x', '', (Series('a', (Estimate(2, None, 1),) * 8),), bars=True))))"
    )
    files = [tmp_path / "a.pdf", tmp_path / "b.pdf"]
    for seed, path in enumerate(files):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}  # matplotlib finds its list of fonts by HOME
        subprocess.run([sys.executable, "-c", code, path], env=environment, check=True)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_no_two_figures_of_the_registry_share_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from meshpace.report import figures, papers

    written: list[Path] = []
    monkeypatch.setattr(papers, "write_view", lambda path, _: written.append(path))
    # A file is named after study and figure. The commands that repeat 100,000 runs take ten times as long as all names.
    monkeypatch.setattr(figures, "command", lambda *_: "")
    empty = [({cell: [] for cell in study.cells(Effort.QUICK)}, study) for study in STUDIES]
    write_figures(tmp_path / "figures", [Outcome(study, Effort.QUICK, cells, {}) for cells, study in empty])
    assert len(set(written)) == len(written) > 100


def test_a_missing_package_is_named_and_nothing_made(
    monkeypatch: pytest.MonkeyPatch, reported: Reported, tmp_path: Path
) -> None:
    monkeypatch.setattr(report_command, "STUDIES", [outcome.study for outcome in reported.outcomes[:1]])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Exception, match=r"matplotlib: pip install 'meshpace\[papers\]'"):
        write_view(tmp_path / "x.pdf", views(reported.outcomes[0])[0])
    with pytest.raises(MissingPackageError):
        report_command.report(reported.store.directory, tmp_path / "x.html", tmp_path / "figures")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_ends_with_one_line_and_no_file(cli: Cli, tmp_path: Path) -> None:
    done = cli("report", "--store", tmp_path / "none", "-o", "report.html")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "meshpace study run" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_page_and_figures(
    reported: Reported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report_command, "STUDIES", [outcome.study for outcome in reported.outcomes[:1]])
    report_command.report(reported.store.directory, tmp_path / "page.html", tmp_path / "figures")
    figures = list((tmp_path / "figures").glob("*.pdf"))
    assert len(figures) == len(views(reported.outcomes[0]))
    assert f"{len(figures)} PDF" in capsys.readouterr().out
    page = (tmp_path / "page.html").read_text()
    assert carried(page, "views")["s1"] == carried(reported.page, "views")["s1"]


@pytest.mark.xdist_group("reported")
def test_runs_that_are_missing_are_told(reported: Reported, tmp_path: Path) -> None:
    full = outcome_of(reported, "gap-parallel-mix")
    part = Store(tmp_path / "part")
    part.add(full.all_records()[:-3])
    (found,) = read(part, [full.study])
    assert found.missing == 3
    page = render(build([found]))
    assert f"Incomplete: 3 of {len(full.all_records())} runs" in page


@pytest.mark.xdist_group("reported")
def test_verdicts_that_the_store_does_not_hold_are_kept(
    reported: Reported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_command, "find", lambda *_: tuple(outcome.study for outcome in reported.outcomes))
    page = tmp_path / "gap.md"
    before = f"# A paper\n\n{MARK}\n\n## gap-chain-up (full)\n\n## gap-random (quick)\n\n## gap-gone (quick)\n"
    page.write_text(before, encoding="utf-8")
    with pytest.raises(VerdictsLostError, match=r"found verdicts in gap\.md of gap-random, which the store"):
        report_command.report(
            reported.store.directory, tmp_path / "report.html", None, verdicts=tmp_path, own=["gap-chain-up"]
        )
    assert page.read_text(encoding="utf-8") == before
    assert not (tmp_path / "report.html").exists()


@pytest.mark.xdist_group("reported")
def test_a_section_names_the_open_decisions_that_its_study_turns(reported: Reported) -> None:
    notes = {section.title: section.notes for section in reported.report.sections}
    switches = next(found for title, found in notes.items() if title.startswith("Ingredients changed"))
    (told,) = [note for note in switches if note.startswith("Open decisions that it turns: ")]
    assert "O24 (reception by SINR; reception as in ns-2; any overlapping frame within 550 m destroys)" in told
    chains = next(found for title, found in notes.items() if title.startswith("Chain, wireless to wired"))
    assert "Open decisions that it turns: O1." in chains


@pytest.mark.xdist_group("reported")
def test_the_page_says_whose_experiments_it_has_and_how_flows_weigh_in_delays(reported: Reported) -> None:
    assert reported.report.title == "TCP-GAP, figure by figure"
    assert any("mean of the flows' means" in note for note in reported.report.notes)
    (outcome, *_) = reported.outcomes
    others = [
        dataclasses.replace(outcome, study=dataclasses.replace(outcome.study, paper=name)) for name in ("llap", "gap")
    ]
    title, lead = report_command._headed(others)
    assert title == "llap, gap, figure by figure"
    assert lead.startswith("The experiments of llap, gap, run again")
