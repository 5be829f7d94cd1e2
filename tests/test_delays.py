"""Delays of tables: over packets, without flows that starve, flow by flow, and of echoes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import meshpace
from commanding import CHAIN, Cli
from meshpace.study import quantities
from meshpace.sweeps import delays, fairness

ECHO = CHAIN + '\n[[flow]]\nid = "ping"\nfrom = "n0"\nto = "n2"\napp = "echo"\npacket = 56\ninterval = "100ms"\n'


def flow(name: str, goodput: float, sent: int, delay: float, app: str = "ftp", lost: float = 0.0) -> Any:
    return {
        "id": name, "from": "a", "to": "b", "app": app, "goodput_bps": goodput, "segments_sent": sent,
        "loss_ratio": lost, "delay_mean_s": delay, "delay_p50_s": delay, "delay_p95_s": 2 * delay,
        "delay_p99_s": 3 * delay, "srtt_s": 2 * delay, "delivered_bytes": 0,
    }  # fmt: skip


def run(*flows: Any) -> Any:
    return {"flows": list(flows)}


def test_a_handful_of_packets_does_not_make_the_mean() -> None:
    slow = run(flow("1", 4e5, 3000, 0.04), flow("2", 3e5, 2000, 0.03), flow("3", 1e4, 10, 10.0))
    value = delays.DELAY(slow)
    assert value == pytest.approx((3000 * 0.04 + 2000 * 0.03 + 10 * 10.0) / 5010)
    assert [q(slow) for q in delays.DELAYS[1:]] == pytest.approx([0.04, 0.08, 0.12]), "the median flow's"
    assert delays.left_out([slow]) == []


def test_what_arrived_counts_not_what_was_sent() -> None:
    assert delays.packets(flow("1", 1e5, 400, 0.1, lost=0.25)) == 300
    half = run(flow("1", 1e5, 400, 0.1, lost=0.75), flow("2", 1e5, 100, 0.3))
    assert delays.DELAY(half) == pytest.approx(0.2)


def test_a_starved_flow_is_listed_and_not_averaged_in() -> None:
    fed = (flow("1", 4e5, 3000, 0.04), flow("2", 3e5, 2000, 0.03))
    starving = run(*fed, flow("3", 2e3, 900, 10.0))
    assert delays.DELAY(starving) == delays.DELAY(run(*fed))
    assert delays.left_out([starving]) == ["flow 3  a → b: 2.0 kbit/s"]
    (told,) = delays.told([("NewReno", [starving, run(*fed)])])
    assert told.endswith("left out of delays: NewReno: flow 3  a → b: 2.0 kbit/s in 1 of 2 runs.")
    # Nothing at all is less than 1 %, and a call gets what it asks for, which is little.
    assert delays.left_out([run(*fed, flow("3", 0.0, 0, 1.0))]) != []
    call = flow("call", 2e3, 3000, 0.2, app="cbr")
    assert delays.left_out([run(*fed, call)]) == []
    assert delays.left_out([run(flow("1", 0.0, 5, 1.0))]) == [], "alone it starves beside nobody"


def test_echoes_have_a_row_of_their_own() -> None:
    both = run(flow("1", 4e5, 3000, 0.04), flow("ping", 2e3, 300, 0.5, app="echo"))
    assert (delays.DELAY(both), delays.ECHO(both)) == (0.04, 0.5)


def test_an_echo_on_the_command_line(cli: Cli, chain: Path) -> None:
    chain.write_text(ECHO)
    (result,) = json.loads(cli("run", chain, "--seeds", 1, "--json").stdout)["runs"]
    bulk, ping = result["flows"]
    assert (ping["app"], ping["hops"]) == ("echo", 2)
    # There and back beside a bulk flow: longer than its packets take one way.
    assert ping["delay_p50_s"] <= ping["delay_p95_s"] <= ping["delay_p99_s"]
    assert ping["srtt_s"] == pytest.approx(ping["delay_mean_s"], rel=0.5)
    table = cli("run", chain).stdout
    assert "Delays of echoes are round trips." in table
    assert "99 %" in table
    compared = cli("compare", chain, "--scheme", "newreno,tcp-ap", "--seeds", 2, "--flows").stdout
    assert "round trip of echoes, 99 % ms" in compared
    assert "ping  n0 → n2" in compared
    assert bulk["delay_p99_s"] >= bulk["delay_p95_s"]


def test_a_scenario_without_a_flow_says_so(cli: Cli, chain: Path) -> None:
    done = cli("run", chain, "--set", "flow=[]")
    assert done.returncode == 0
    assert "No [[flow]]: nothing is sent" in done.stdout


def test_flow_by_flow_from_python(tmp_path: Path) -> None:
    scenario = meshpace.Scenario(ECHO)
    found = meshpace.sweep(scenario, scheme=["newreno", "tcp-ap"], seeds=3, store=tmp_path / "store")
    rows = found.flows().to_pylist()
    assert [(row["scheme"], row["flow"]) for row in rows] == [
        ("newreno", "1"), ("newreno", "ping"), ("tcp-ap", "1"), ("tcp-ap", "ping")
    ]  # fmt: skip
    runs = meshpace.run(scenario, scheme="newreno", seeds=3)
    mean = sum(one["flows"][0]["delay_p99_s"] for one in runs) / 3
    assert rows[0]["delay_p99_s"] == pytest.approx(mean)
    assert rows[0]["delay_p99_s_ci95"] > 0
    assert runs.flows().to_pylist()[1]["goodput_bps"] == pytest.approx(rows[1]["goodput_bps"])
    found.save(tmp_path / "latency.svg")
    drawn = (tmp_path / "latency.svg").read_text()
    assert drawn.startswith("<svg")
    assert "Latency under load" in drawn
    found.save(tmp_path / "sweep.html")
    page = (tmp_path / "sweep.html").read_text()
    assert "Latency under load" in page
    assert "By flow" in page


def test_a_comparison_is_no_sweep(cli: Cli, chain: Path) -> None:
    done = cli("compare", chain, "--scheme", "newreno,tcp-ap", "--seeds", 2, "--report", "c.html", "--svg", "c.svg")
    assert done.returncode == 0, done.stderr
    page = (chain.parent / "c.html").read_text()
    assert "<title>NewReno compared with TCP-AP" in page
    assert "Differences are to NewReno, paired by seed" in page
    assert "Sweep of" not in page
    assert (chain.parent / "c.svg").read_text().startswith("<svg")


def test_responsiveness_under_load() -> None:
    """The scenario as flent has it, short: short queues keep echoes and calls quick."""
    scenario = meshpace.Scenario.load(Path(__file__).parent.parent / "scenarios/rrul.toml")
    scenario.set("measure", {"duration": "25s", "warmup": "5s"})
    found = {scheme: meshpace.run(scenario, scheme=scheme) for scheme in ("cubic", "cubic-fq-codel")}
    apps = [one["app"] for one in found["cubic"]["flows"]]
    assert apps == ["ftp"] * 8 + ["echo", "cbr", "cbr"]
    assert delays.ECHO(found["cubic-fq-codel"].result) < 0.8 * delays.ECHO(found["cubic"].result)  # type: ignore[operator]


def test_fairness_is_of_flows_that_take_what_they_can_get() -> None:
    def mixed(*pairs: tuple[float, str]) -> Any:
        return {**run(*(flow(str(n), g, 100, 0.1, app=app) for n, (g, app) in enumerate(pairs))), "jain": 0.7}

    beside = mixed((4e5, "ftp"), (2e5, "http"), (2e3, "echo"), (64e3, "cbr"))
    assert fairness.JAIN(beside) == pytest.approx(36 / (2 * 20))
    assert fairness.SHARE(beside) == pytest.approx(1 / 3)
    assert fairness.quantities_of([beside["flows"]]) == (fairness.JAIN, fairness.SHARE)
    alike = [mixed((4e5, app), (2e5, app))["flows"] for app in ("ftp", "cbr")]
    for flows in alike:
        assert fairness.quantities_of([flows]) == (quantities.JAIN, quantities.SHARE)
    alone = [mixed((4e5, "ftp"))["flows"], mixed((4e5, "ftp"), (2e3, "echo"))["flows"]]
    assert fairness.quantities_of(alone) == (), "nobody shares"
    assert (fairness.JAIN(mixed((0.0, "ftp"), (0.0, "ftp"))), fairness.SHARE(mixed((0.0, "ftp")))) == (None, None)


def test_tables_without_flows_say_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text(CHAIN.partition("[[flow]]")[0])
    for command in (("sweep",), ("compare", "--scheme", "newreno,tcp-ap")):
        done = cli(command[0], "none.toml", *command[1:], "--seeds", 1)
        assert "No [[flow]]: nothing is sent" in done.stdout, done.stderr
    assert "No [[flow]]" not in cli("sweep", "none.toml", "--set", 'flow=[{from="n0",to="n2"}]', "--seeds", 1).stdout
