"""Studies as data, and their commands."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commanding import CHAIN, Cli, taken
from meshpace import engine
from meshpace.study import registry
from meshpace.study.decide import BLOCK
from meshpace.study.model import AODV, CONDITIONS, RFC3561, ROUTING_NAMES, STATIC, Cell, Effort
from meshpace.study.record import simulate
from meshpace.study.runner import tasks
from study_child import small


def test_every_study_can_be_run() -> None:
    """The engine takes each, under each condition and at each point that sets something."""
    seen = set()
    for effort in Effort:
        for study in registry.STUDIES:
            for cell in study.cells(effort):
                place = (study.name, cell.condition, cell.point if study.axis.points[0].settings else "")
                if place not in seen:
                    seen.add(place)
                    job = study.job(cell, 1, effort)
                    assert taken(job)["flows"] or job.emulated, place
    # Some are made of others' runs alone.
    assert {name for name, _, _ in seen} == {study.name for study in registry.STUDIES if any(map(study.runs, Effort))}


def test_runs_are_counted_without_a_job() -> None:
    """Those that draw by the seed, that have real hosts, that have schemes without an axis; the others are alike."""
    peculiar = [s for s in registry.STUDIES if s.drawn is not None or s.hosts is not None or s.level]
    assert len({(s.drawn is None, s.hosts is None, bool(s.level)) for s in peculiar}) >= 3
    for study in (*peculiar, *registry.STUDIES[::10]):
        distinct = {job for _, job in study.jobs(Effort.QUICK)}
        assert study.runs(Effort.QUICK) == len(distinct), study.name


def test_the_paper_is_run_as_it_was() -> None:
    """55,000 packets, 11 batches, its schemes, its routing and static routes, both models of reception."""
    for study in registry.find(["gap-chain", "gap-parallel", "gap-54mbps", "gap-cross", "gap-random", "gap-http"]):
        assert set(study.schemes) - {"tcp-gap-nogc"} == {"newreno", "tcp-gap"}
        pairs = {(condition.routing, condition.reception) for condition in study.conditions}
        assert pairs >= {(r, m) for r in ("aodv", "static") for m in ("ns2-capture", "sinr")}
        for _, job in study.jobs(Effort.FULL):
            assert {"measure.packets=55000", "measure.batches=11"} <= set(job.overrides)


def test_conditions_are_made_of_the_engines_protocols() -> None:
    reception = ("radio.reception", "ns2-capture")
    protocol, profile = ("routing.protocol", "aodv"), "routing.profile"
    assert AODV.settings == (protocol, (profile, "ns2"), reception)
    assert RFC3561.settings == (protocol, (profile, "rfc3561"), reception)
    assert STATIC.settings == (("routing.protocol", "static"), reception)
    assert ROUTING_NAMES["rfc3561"] == "AODV after RFC 3561"
    known = {(row["protocol"], row["profile"]) for row in engine.routings()}
    for condition in CONDITIONS:
        resolved = engine.resolve(
            engine.Job("mesh.toml", CHAIN.encode(), tuple("=".join(s) for s in condition.settings))
        )
        routing = resolved["routing"]
        assert isinstance(routing, dict)
        known.discard((routing["protocol"], routing["profile"]))
    assert known == set()


DIRECTIONS = {
    "gap-responsiveness": ["B>A1", "B>A2", "B>A2"],
    "gap-54mbps-ofdm": ["B>A1", "B>A2"],
    "gap-parallel-mix": ["B>A1", "A2>B"],
    "gap-link-drops": ["B>A1", "A2>B"],
    "gap-cross-mix": ["A1>B1", "B2>A2", "A3>B3", "B4>A4"],
    "gap-http-parallel": ["B>A1", "B>A2"],
}


@pytest.mark.parametrize(("name", "flows"), DIRECTIONS.items())
def test_flows_go_the_way_that_is_printed(name: str, flows: list[str]) -> None:
    study = next(study for study in registry.STUDIES if study.name == name)
    resolved = engine.resolve(study.job(next(study.cells(Effort.FULL)), 1, Effort.FULL))
    assert [f"{flow['from']}>{flow['to']}" for flow in resolved["flows"]] == flows


def test_random_meshes_draw_the_gateway_and_four_flows_each_way() -> None:
    gateways = set()
    for name, down, up in (("gap-random", 4, 4), ("gap-http-random", 4, 0)):
        study = next(study for study in registry.STUDIES if study.name == name)
        for seed in range(1, 4):
            resolved = engine.resolve(study.job(next(study.cells(Effort.FULL)), seed, Effort.FULL))
            ways = [(flow["from"] == "B", flow["to"] == "B") for flow in resolved["flows"]]
            assert ways == [(True, False)] * down + [(False, True)] * up
            ends = {flow["to"] if flow["from"] == "B" else flow["from"] for flow in resolved["flows"]}
            assert len(ends) == down + up, "all different"
            gateways |= {node["id"] for node in resolved["mesh"] if node["gateway"]}
    assert len(gateways) > 1, gateways


def test_a_job_carries_condition_and_point() -> None:
    study = small()
    job = study.job(Cell(STATIC, "tcp-gap", "3"), 5, Effort.QUICK)
    assert job.command() == (
        "meshpace run scenarios/gap-fig08-chain-up.toml --set measure.duration=8s --set measure.warmup=1s "
        "--set radio.reception=ns2-capture --set routing.protocol=static --set topology.hops=3 --scheme tcp-gap "
        "--seed 5"
    )


def test_switching_to_what_is_there_costs_no_run() -> None:
    (study,) = registry.find(["gap-switches-chain-up"])
    static = study.job(Cell(STATIC, "newreno", "as it is"), 1, Effort.QUICK)
    assert study.job(Cell(STATIC, "newreno", "static routes"), 1, Effort.QUICK) == static
    assert study.job(Cell(AODV, "newreno", "static routes"), 1, Effort.QUICK) == static
    assert study.job(Cell(AODV, "newreno", "as it is"), 1, Effort.QUICK) != static


def test_another_schemes_parameters_cost_no_run() -> None:
    """TCP-GAP's law changed, NewReno runs as it is, and neither knows a scheme that the study does not run."""
    (study,) = registry.find(["gap-switches-chain-up"])
    plain = study.job(Cell(AODV, "newreno", "as it is"), 1, Effort.FULL)
    assert study.job(Cell(AODV, "newreno", "10 samples"), 1, Effort.FULL) == plain
    assert "scheme.tcp-gap.history=10" in study.job(Cell(AODV, "tcp-gap", "10 samples"), 1, Effort.FULL).overrides
    old = study.job(Cell(AODV, "newreno", "integer-valued window cut"), 1, Effort.FULL)
    assert [pair for pair in old.overrides if pair.startswith("scheme")] == ["scheme.newreno.window_cut=integer"]


def test_schemes_that_the_axis_does_not_concern_run_once() -> None:
    (study,) = registry.find(["gap-oracle-4"])
    plan = study.quick
    level = len(study.level) * len(study.conditions) * plan.seeds
    swept = len(study.points(Effort.QUICK)) * len(study.conditions) * plan.seeds
    assert len(tasks([study], Effort.QUICK)) == level + swept


def test_studies_share_runs() -> None:
    one, other = registry.find(["gap-oracle"])
    shared = dataclasses.replace(one, name="other")
    assert len(tasks([one, shared], Effort.QUICK)) == len(tasks([one], Effort.QUICK))
    assert len(tasks([one, other], Effort.QUICK)) == sum(len(tasks([study], Effort.QUICK)) for study in (one, other))


def test_a_study_of_others_brings_them() -> None:
    found = [study.name for study in registry.find(["gap-overall"])]
    assert found[-1] == "gap-overall"
    assert {"gap-chain-up", "gap-random", "gap-http-parallel"} < set(found)
    assert not any("switches" in name for name in found)


def test_names_and_beginnings_of_names() -> None:
    assert [study.name for study in registry.find(["gap-chain", "gap-chain-up"])] == ["gap-chain-up", "gap-chain-down"]
    assert registry.find(["gap"]) == tuple(study for study in registry.STUDIES if study.name.startswith("gap-"))
    assert registry.find(["all"]) == registry.STUDIES
    assert registry.groups()["gap"] == len(registry.find(["gap"]))
    assert [study.name for study in registry.find(["gap-http-parallel"])] == ["gap-http-parallel"]
    assert [study.name for study in registry.find(["gap-switches-http"])] == ["gap-switches-http"]
    assert "gap-switches-http" not in registry.groups()
    with pytest.raises(registry.UnknownStudyError):
        registry.find(["gap-c"])


def test_list(cli: Cli) -> None:
    done = cli("study", "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(study.name in done.stdout for study in registry.STUDIES)
    listed = json.loads(cli("study", "list", "--json").stdout)
    assert [study["name"] for study in listed["studies"]] == [study.name for study in registry.STUDIES]
    first = listed["studies"][0]
    assert (first["paper"], first["figures"]) == ("gap", ["Fig. 8"])
    assert {"8.1", "8.2", "8.3", "8.4"} <= set(first["claims"])
    oracle = next(study for study in listed["studies"] if study["name"] == "gap-oracle-4")
    assert oracle["runs"]["quick"] == len(tasks(registry.find(["gap-oracle-4"]), Effort.QUICK))


def test_run_and_run_again(cli: Cli, tmp_path: Path) -> None:
    done = cli("study", "run", "gap-oracle-4", "--quick", "--store", "s")
    assert done.returncode == 0
    assert "96 runs made, 0 were in s" in done.stdout
    assert "Over 4 hops no fixed interval" in done.stdout
    path = tmp_path / "s" / "tables" / "gap-oracle-4-quick.parquet"
    before, stored = path.read_bytes(), sorted((tmp_path / "s" / "runs").iterdir())
    rows = pq.read_table(path).to_pylist()
    by_place = Counter((row["routing"], row["scheme"], row["point"]) for row in rows)
    assert len(by_place) == 2 * 4 * 9  # conditions, schemes, rates
    assert set(by_place.values()) == {4, 4 + 2 * BLOCK}, "the plan's seeds, and at the best point what it lacks"
    assert all(row["goodput"] > 0 for row in rows)
    again = cli("study", "run", "gap-oracle-4", "--store", "s", "--output", "verdicts.md")
    made = sum(pq.read_metadata(file).num_rows for file in stored)
    assert f"0 runs made, {made} were in s" in again.stdout
    assert again.stdout.splitlines()[1:] == done.stdout.splitlines()[1:]
    assert (path.read_bytes(), sorted((tmp_path / "s" / "runs").iterdir())) == (before, stored)
    page = (tmp_path / "verdicts.md").read_text()
    assert "`meshpace study run gap-oracle-4 --quick`" in page
    (row,) = (line for line in page.splitlines() if "| Over 4 hops no fixed interval" in line)
    measured = re.findall(r"[+-][0-9.]+ ± [0-9.]+ %", row)
    assert len(measured) == 2
    assert all(number in done.stdout for number in measured), "the page says what the terminal says"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("gap-chian-up",), "no study 'gap-chian-up': did you mean gap-chain-up"),
        (("zzz",), "no study 'zzz': meshpace study list shows them all"),
        (("gap", "--quick", "--full"), "--quick and --full exclude each other"),
        (("gap", "--budget", "2h"), "--budget: found 2h without --decide; allowed: both, or neither"),
        (("gap", "--decide", "--budget", "soon"), "--budget: found 'soon'; allowed: a number and s, min or h"),
        (("gap", "--executor", "magic"), "--executor: found 'magic'; allowed: threads, processes, dask://HOST:PORT"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], expected: str, cli: Cli, tmp_path: Path) -> None:
    done = cli("study", "run", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert expected in line
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_store(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("mine")
    done = cli("study", "run", "gap-oracle-4", "--store", "s")
    assert (done.returncode, done.stdout) == (2, "")
    assert (tmp_path / "s").read_text() == "mine"


def test_a_stored_run_is_repeated_by_its_command(cli: Cli, tmp_path: Path) -> None:
    job = small(duration=3).job(Cell(AODV, "tcp-gap", "3"), 2, Effort.QUICK)
    record = simulate(job)
    _, *words = shlex.split(job.command())
    (tmp_path / "scenarios").mkdir()
    (tmp_path / job.name).write_bytes(job.text)
    again = json.loads(cli(*words, "--json").stdout)
    again["wall_s"] = record.wall_s
    assert again == record.run()
