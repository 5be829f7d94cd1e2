"""`meshpace advise`: traffic that stands for a mesh's, what is said of it, and that the papers' verdicts agree."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest

import meshpace
from commanding import Cli
from documents import ROOT
from meshpace.advice import make
from meshpace.advice.errors import AdviceError
from meshpace.advice.instead import best_gateway
from meshpace.advice.show import in_words
from meshpace.advice.traffic import Reach, patterns, sample
from meshpace.advice.weigh import Benefit, Effect, Movement, Shift, Weighed, way
from meshpace.advice.weigh import effect as weigh
from meshpace.advice.where import CALM, DEPLOYABLE, Where, places
from test_bad_input import expect_refusal

CHAIN = """\
[measure]
duration = "40s"
warmup = "10s"

[topology]
kind = "chain"
hops = {hops}

[routing]
protocol = "{routing}"

[[flow]]
from = "n0"
to = "B"
"""
LINE = (
    "".join(f'[[node]]\nid = "{name}"\n\n' for name in "abcde")
    + """\
[[node]]
id = "net"
role = "wired"

[[link]]
a = "e"
b = "net"
rate = "10Mbps"
delay = "10ms"

[measure]
duration = "14s"
warmup = "4s"

[routing]
protocol = "static"

[[flow]]
from = "a"
to = "net"
"""
)
LINKS = "".join(f'\n[[radio_link]]\nfrom = "{one}"\nto = "{other}"\n' for one, other in ("ab", "bc", "cd", "de"))


def line(count: int, gateway: int = 0) -> Reach:
    near = tuple(tuple(n for n in (i - 1, i + 1) if 0 <= n < count) for i in range(count))
    return Reach(tuple(f"n{i}" for i in range(count)), (gateway,), near)


def test_nodes_that_stand_for_the_others() -> None:
    assert sample(line(5), 3) == [("n2", 2), ("n3", 3), ("n4", 4)], "nobody beside the gateway if there is a choice"
    assert sample(line(2), 3) == [("n1", 1)]
    assert sample(line(5), 2, but={"n4"}) == [("n2", 2), ("n3", 3)]
    assert sample(line(100), 3)[-1] == ("n99", 99)


def test_patterns_of_traffic() -> None:
    found = patterns([("n2", 2), ("n3", 3), ("n4", 4)], "B")
    assert [pattern.name for pattern in found] == [
        "n2 → B", "n3 → B", "n4 → B", "B → n2", "B → n3", "B → n4", "3 nodes → B", "B → 3 nodes", "oncoming",
    ]  # fmt: skip
    assert found[-1].flows == (("n2", "B"), ("B", "n3"), ("n4", "B"))
    assert found[0].setting == '[{from = "n2", to = "B"}]'
    (*_, both) = patterns([("n1", 1)], "B")
    assert both.flows == (("n1", "B"), ("B", "n1"))


def test_the_best_gateway_is_in_the_middle() -> None:
    assert best_gateway(line(5)) == 2
    assert best_gateway(line(5, gateway=2)) is None
    assert best_gateway(line(4, gateway=1)) is None, "as good as n2"


def by(*parts: float | None, margin: float = 0.02) -> Weighed:
    """A quantity of 1 that changes by these parts, seed by seed."""
    return Weighed(tuple(None if part is None else (1.0 + part, 1.0) for part in parts), margin)


def effect(goodput: Weighed, fairness: Weighed) -> Effect:
    differences = Weighed(fairness.pairs, fairness.margin, ratio=False)
    return Effect(goodput, goodput, differences, by(-0.5, 0.5, 0.1))


def test_two_tiny_flows_that_double_are_not_the_mesh() -> None:
    """Percentages averaged over patterns said +171 % where the sums of the same table said +45 %."""

    def runs(*goodputs: float) -> Any:
        flows = [
            {"id": str(n), "app": "ftp", "goodput_bps": g, "segments_sent": 100, "loss_ratio": 0.0, "delay_mean_s": 0.1}
            for n, g in enumerate(goodputs)
        ]
        return [{"flows": flows, "aggregate_goodput_bps": sum(goodputs), "jain": 0.5}] * 3

    big = (runs(1.1e6, 0.9e6, 0.8e6), runs(1.0e6, 0.9e6, 0.8e6))
    tiny = (runs(90e3), runs(15e3))
    found = weigh([big, tiny, tiny])
    goodput, middle = found.goodput.change(), found.median_flow.change()
    assert goodput is not None
    assert goodput.mean == pytest.approx((2.8e6 + 2 * 90e3) / (2.7e6 + 2 * 15e3) - 1)
    assert goodput.low == pytest.approx(goodput.mean), "every seed says the same"
    assert middle is not None
    assert middle.mean == pytest.approx(0.1), "the median of 1.1, 1, 1, 6, 6"
    assert found.delay.way() is Movement.SAME


def test_intervals_of_ratios_come_from_their_logarithms() -> None:
    found = Weighed(((2.0, 1.0), (1.0, 1.0), (4.0, 1.0)), 0.02).change()
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.mean == pytest.approx(1.0), "the geometric mean"
    assert (1 + found.low) * (1 + found.high) == pytest.approx((1 + found.mean) ** 2)
    assert found.low > -1, "less than nothing there is not"


def test_nothing_arrives() -> None:
    gone = Weighed(((0.0, 1.0), (0.0, 2.0)), 0.02)
    assert (gone.change(), gone.way()) == (Shift(-1.0, -1.0, -1.0), Movement.LESS)
    some = Weighed(((0.0, 1.0), (1.0, 1.0)), 0.02)
    assert (some.change(), some.way()) == (Shift(-0.5, None, None), Movement.OPEN)
    assert Weighed(((0.0, 0.0), (0.0, 0.0)), 0.02).change() is None, "nor did it without"


def test_whose_machines_it_takes() -> None:
    linux = {"congestion": "cubic", "tcp_profile": "rfc", "pacing": "none", "ack_policy": "delayed"}
    linux |= {"relay": "fq-codel", "gateway": "none"}
    assert places({**linux, "gateway": "pacing"}, linux) == (Where.GATEWAY,)
    assert places({**linux, "gateway": "pacing", "pacing": "wireless-khd"}, linux) == (Where.GATEWAY, Where.HOSTS)
    assert Where.SERVERS in places({**linux, "pacing": "khd"}, linux), "TCP-AP paces senders, servers among them"
    assert places({**linux, "relay": "llap"}, linux) == (Where.ROUTERS,)


def test_which_way() -> None:
    def at(mean: float, width: float | None) -> Movement:
        return way(Shift(mean, None, None) if width is None else Shift(mean, mean - width, mean + width), 0.02)

    assert at(0.05, 0.04) is Movement.MORE
    assert at(-0.05, 0.04) is Movement.LESS
    assert at(0.01, 0.005) is Movement.SAME, "certain, and too little to matter"
    assert at(0.01, 0.04) is Movement.OPEN
    assert at(0.5, None) is Movement.OPEN, "a single run says nothing"


@pytest.mark.parametrize(
    ("goodput", "fairness", "expected"),
    [
        (0.1, None, Benefit.YES), (0.1, 0.0, Benefit.YES), (0.1, -0.2, Benefit.TRADE), (-0.1, 0.2, Benefit.TRADE),
        (0.0, 0.2, Benefit.FAIRER), (0.0, 0.0, Benefit.NO), (-0.1, None, Benefit.NO), (-0.1, -0.1, Benefit.NO),
    ],
)  # fmt: skip
def test_answers(goodput: float, fairness: float | None, expected: Benefit) -> None:
    def weighed(value: float | None, margin: float) -> Weighed:
        return by(*(None, None) if value is None else (value, value, value + 1e-9), margin=margin)

    assert effect(weighed(goodput, 0.02), weighed(fairness, 0.01)).answer is expected
    unsure = by(-0.5, 0.5, 0.1)
    assert effect(unsure, weighed(None, 0.01)).answer is Benefit.OPEN
    assert effect(unsure, weighed(0.0, 0.01)).answer is Benefit.OPEN
    # What is plainly worse is said, whatever is not known of the other.
    assert effect(weighed(-0.58, 0.02), unsure).answer is Benefit.COSTS
    assert effect(unsure, weighed(-0.2, 0.01)).answer is Benefit.COSTS


def test_the_answer_says_what_falls() -> None:
    less, more, unsure = by(-0.5, -0.5, -0.50001), by(0.5, 0.5, 0.50001), by(-0.5, 0.5, 0.1)
    assert in_words(effect(less, more)) == "It trades goodput for fairness."
    assert in_words(effect(more, less)) == "It trades fairness for goodput."
    assert in_words(effect(less, unsure)).startswith("No, or a trade: goodput falls for certain")
    assert in_words(effect(unsure, less)).startswith("No, or a trade: flows share less equally for certain")


def advice(cli: Cli, mesh: Path, *options: object) -> Any:
    done = cli("advise", mesh, "--scheme", "tcp-gap", "--baseline", "newreno", "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def of_paper(name: str, routing: str, duration: str) -> meshpace.Scenario:
    mesh = meshpace.Scenario.load(ROOT / "scenarios" / name)
    return mesh.set("routing.protocol", routing).set("measure", {"duration": duration, "warmup": "10s"})


def test_the_answer_says_that_packets_take_longer() -> None:
    more, longer, same = by(0.5, 0.5, 0.50001), by(2.0, 2.0, 2.001), by(0.0, 0.0, 0.001)
    assert in_words(Effect(more, more, same, longer)) == "Yes, but packets take longer."
    assert in_words(Effect(more, more, same, by(-0.5, -0.5, -0.501))) == "Yes."
    assert in_words(Effect(same, same, more, longer)).endswith("share more equally, but packets take longer.")


def forty() -> str:
    """Two rows of twenty roofs, each some metres off its place; the farthest is thirteen hops from the gateway."""
    places = (
        f"m{n},{180 * (n // 2) + 37 * n % 41 - 20},{150 * (n % 2) + 53 * n % 61 - 30},{'yes' * (n == 12)}"
        for n in range(40)
    )
    return "\n".join(["id,x,y,gateway", *places, ""])


@pytest.fixture
def schemes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Advice that tries nothing else: what would help instead takes two of three runs, and not every test asks."""
    monkeypatch.setattr(make, "changes", lambda *_: ())


@pytest.mark.usefixtures("schemes_alone")
def test_forty_nodes_are_told_what_their_own_people_can_switch_on(tmp_path: Path) -> None:
    """The headline was a mean of percentages, and of a scheme that servers in the Internet would have to run."""
    (tmp_path / "forty.csv").write_text(forty())
    found = meshpace.advise(
        tmp_path / "forty.csv", routing="aodv", scheme=["tcp-ap", "tcp-gap"], baseline="newreno", nodes=1, seeds=2,
        precision="900%", store=tmp_path / "store",
    )  # fmt: skip
    assert found.advice.patterns[0].hops == (13,)
    assert found.best == "tcp-gap", "what the gateway and the mesh can do, whatever TCP-AP gives"
    first, second, *_ = found.told
    assert first.startswith("Would pacing help? ")
    assert "TCP-GAP (switched on at the gateway and mesh hosts): goodput " in first
    assert second.startswith("TCP-AP, which mesh hosts and Internet servers would have to run: goodput ")

    def sums(scheme: str) -> list[float]:
        cells = [found.advice.cell(pattern, scheme) for pattern in found.advice.patterns]
        by_seed = zip(*(found.advice.schemes.runs[cell] for cell in cells), strict=True)
        return [sum(run["aggregate_goodput_bps"] for run in runs) for runs in by_seed]

    # The ratio of sums, seed by seed, from the runs themselves.
    ratios = [one / other for one, other in zip(sums("tcp-gap"), sums("newreno"), strict=True)]
    told = found.as_json()["schemes"]["tcp-gap"]["goodput"]["mean"]
    assert 1 + told == pytest.approx(geometric_mean(ratios))


@pytest.mark.usefixtures("schemes_alone")
def test_calm_at_the_gateway_is_weighed_unless_somebody_says_what_and_is_the_composition_s(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(CHAIN.format(hops=2, routing="static"))
    found = meshpace.advise(
        tmp_path / "short.toml", baseline="linux-cubic", nodes=1, seeds=2, precision="900%", store=tmp_path / "store"
    )
    told = found.as_json()["schemes"]
    assert list(told) == list(DEPLOYABLE)
    assert told[CALM]["where"] == ["the gateway"]
    advice = found.advice
    (down,) = (pattern for pattern in advice.patterns if pattern.name == "B → n0")
    scenario = meshpace.Scenario.load(tmp_path / "short.toml").set("flow", [{"from": "B", "to": "n0"}])
    # As the composition calm-gateway, whose senders are linux-cubic.
    for seed, run in enumerate(advice.schemes.runs[advice.cell(down, CALM)], 1):
        assert run["aggregate_goodput_bps"] == meshpace.run(scenario, "calm-gateway", seed)["aggregate_goodput_bps"]
    assert any("Pacing by delay at the gateway" in line and 'flow_law = "delay-rate"' in line for line in found.told)


@pytest.mark.usefixtures("schemes_alone")
def test_it_agrees_with_the_paper_on_parallel_chains(tmp_path: Path) -> None:
    """docs/reproduction/gap.md, 10.4, 11.4 and delay-parallel-down, ns-2's AODV: +7.7 %, +22.8 %, +735 %."""
    mesh = of_paper("demo-parallel.toml", "aodv", "60s")
    found = meshpace.advise(
        mesh, scheme="tcp-gap", baseline="newreno", nodes=("A1", "A2"), seeds=5, precision="50%", store=tmp_path
    )
    assert (found.answer, found.best) == ("yes", "tcp-gap")
    change = {p["name"]: p["schemes"]["tcp-gap"]["change"] for p in found.as_json()["patterns"]}
    for pattern, printed in (("2 nodes → B", 0.077), ("B → 2 nodes", 0.228)):
        goodput = change[pattern]["goodput"]
        assert goodput["way"] == "more", pattern
        assert abs(goodput["mean"] - printed) < goodput["ci95"], pattern
    assert change["B → 2 nodes"]["delay"]["way"] == "more"
    rows = found.table().to_pylist()
    assert len(rows) == len(change) + 1
    assert rows[-1]["pattern"] is None
    assert (rows[5]["pattern"], rows[5]["goodput"]) == ("B → 2 nodes", change["B → 2 nodes"]["goodput"]["mean"])
    assert "<th>median flow %</th>" in found._repr_html_()
    found.save(tmp_path / "advice.json")
    assert json.loads((tmp_path / "advice.json").read_text()) == found.as_json()


@pytest.mark.usefixtures("schemes_alone")
def test_it_agrees_with_the_paper_on_the_cross(tmp_path: Path) -> None:
    """docs/reproduction/gap.md, 18.2, 19.2 and 20.1, static routes: -0.8 %, -4.7 %, Jain's index +0.402."""
    mesh = of_paper("gap-fig18-cross-up.toml", "static", "40s")
    four = ("A1", "A2", "A3", "A4")
    found = meshpace.advise(
        mesh, scheme="tcp-gap", baseline="newreno", nodes=four, seeds=3, precision="90%", store=tmp_path
    )
    change = {p["name"]: p["schemes"]["tcp-gap"]["change"] for p in found.as_json()["patterns"]}
    up, down = change["4 nodes → B1"]["goodput"], change["B1 → 4 nodes"]["goodput"]
    assert up["way"] in ("same", "undecided")
    assert abs(up["mean"] + 0.008) < up["ci95"]
    assert down["way"] == "less"
    assert change["oncoming"]["jain"]["way"] == "more"
    assert abs(change["oncoming"]["jain"]["mean"] - 0.402) < change["oncoming"]["jain"]["ci95"]
    assert found.answer == "a trade"


def test_it_agrees_with_the_paper_where_pacing_helps(cli: Cli, tmp_path: Path) -> None:
    """docs/reproduction/gap.md: 8.3, 9.3 hold under ns-2's AODV, and the gain is gone with routes that stay."""
    mesh = tmp_path / "long.toml"
    mesh.write_text(CHAIN.format(hops=6, routing="aodv"))
    found = advice(cli, mesh, "--nodes", 1, "--seeds", 6, "--precision", "10%")
    assert found["answer"] == "yes"
    down = next(pattern for pattern in found["patterns"] if pattern["name"] == "B → n0")
    assert down["schemes"]["tcp-gap"]["change"]["goodput"]["way"] == "more"
    assert down["schemes"]["tcp-gap"]["change"]["delay"]["way"] == "more", "packets wait at the gateway instead (7.)"
    routes = next(change for change in found["instead"] if change["settings"] == ["routing.protocol=static"])
    assert routes["goodput"]["way"] == "more"


def test_it_agrees_with_the_paper_where_pacing_does_not_help(cli: Cli, tmp_path: Path) -> None:
    """docs/reproduction/gap.md: three hops downward a quarter to a third is given away."""
    mesh = tmp_path / "short.toml"
    mesh.write_text(CHAIN.format(hops=3, routing="static"))
    found = advice(cli, mesh, "--nodes", 1, "--seeds", 4, "--precision", "10%")
    assert found["schemes"]["tcp-gap"]["goodput"]["way"] == "less"
    down = next(pattern for pattern in found["patterns"] if pattern["name"] == "B → n0")
    assert -0.4 < down["schemes"]["tcp-gap"]["change"]["goodput"]["mean"] < -0.1
    assert found["answer"] != "yes"


def test_what_else_would_help_and_that_nothing_is_run_twice(cli: Cli, tmp_path: Path) -> None:
    mesh = tmp_path / "line.toml"
    mesh.write_text(LINE + LINKS)
    options = ("--nodes", 2, "--seeds", 3, "--precision", "50%", "--set", "radio.rate=2Mbps")
    found = advice(cli, mesh, *options, "--threads", 1)
    what = {change["what"]: change for change in found["instead"]}
    moved = what["the gateway at c instead of e"]
    assert moved["goodput"]["way"] == "more"
    assert moved["settings"] == ["link.0.a=c"]
    assert "5.5Mbps instead of 2Mbps" in what
    assert all("c" not in (flow["from"], flow["to"]) for p in found["patterns"] for flow in p["flows"])
    assert [change["goodput"]["mean"] for change in found["instead"]] == sorted(
        (change["goodput"]["mean"] for change in found["instead"]), reverse=True
    )
    again = advice(cli, mesh, *options, "--threads", 2)
    assert again["runs"] == {"made": 0, "stored": found["runs"]["made"], "others": 0}
    fresh = advice(cli, mesh, *options, "--threads", 2, "--store", "fresh")
    assert fresh == found, "with any number of threads"
    repeated = cli("run", *_repeating(found), "--json")
    goodput = [run["aggregate_goodput_bps"] for run in json.loads(repeated.stdout)["runs"]]
    mean = found["patterns"][-1]["schemes"]["tcp-gap"]["quantities"]["goodput"]["mean"]
    assert sum(goodput) / len(goodput) == pytest.approx(mean)


def _repeating(found: Any) -> list[str]:
    import shlex

    words = shlex.split(found["patterns"][-1]["schemes"]["tcp-gap"]["command"])
    assert words[:2] == ["meshpace", "run"]
    return words[2:]


def test_of_what_another_tool_says_with_a_report(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,x,y,gateway\nroof,0,0,\ntower,200,0,\nshop,400,0,yes\n")
    done = cli("advise", "nodes.csv", "--seeds", 2, "--precision", "90%", "--set", "measure.duration=8s",
               "--set", "measure.warmup=2s", "--report", "advice.html")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Would pacing help?" in done.stdout
    assert "roof → internet" in done.stdout
    told = done.stdout
    assert told.index("What this cannot know of the mesh") < told.index("Would pacing help?")
    assert "meshpaced gateway" in told
    assert "It reckons with 802.11b at 11 Mbit/s, and static routes by hops." in told
    assert "CUBIC over FQ-CoDel" in told
    for what in ("drop-tail queues instead of FQ-CoDel", "RTS/CTS for every frame", "the gateway at tower"):
        assert what in told
    page = (tmp_path / "advice.html").read_text()
    told = ("Would pacing help?", '<svg class="topology"', "By pattern of traffic", "both ways")
    for text in (*told, "the gateway at tower instead of shop", "RTS/CTS for every frame", "meshpace run nodes.toml"):
        assert text in page


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--scheme", "newreno", "--baseline", "newreno"), "which is the baseline"),
        (("--baseline", "tcp-gap"), "which paces already"),
        (("--scheme", "tcp-ap,tcp-ap"), "each scheme once"),
        (("--scheme", "tcpgap"), "tcp-gap"),
        (("--precision", "3"), "--precision"),
        (("--gateway", "e"), "--gateway"),
        (("--routing", "aodv"), "allowed with a scenario: --set"),
        (("--nodes", "a,z"), "--nodes: found 'z'; allowed: nodes that reach e, each once: a, b, c, d"),
        (("--nodes", "a,a"), "found 'a' twice"),
        (("--nodes", "0"), "1 to 1000"),
        (("--nodes", "a,,b"), "commas between"),
        (("--set", "link=[]"), "wired"),
    ],
)
def test_what_no_advice_is_given_on(options: tuple[str, ...], expected: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(LINE + LINKS)
    assert expected in expect_refusal(cli, "advise", "line.toml", *options)


def test_a_mesh_without_a_gateway(cli: Cli, chain: Path) -> None:
    assert "found no gateway; allowed" in expect_refusal(cli, "advise", chain)


def test_a_formula_of_ones_own_and_files_of_other_tools_from_python(tmp_path: Path) -> None:
    class Paced(meshpace.Formula):
        interval = 0.03

        def on_ack(self, ack: Any) -> None:
            """Keeps to its interval."""

    links = tmp_path / "links.csv"
    links.write_text("from,to,loss\nhall,roof,0.1\nroof,tower,0.05\n")
    options: dict[str, Any] = {"nodes": 1, "seeds": 2, "precision": "90%", "store": tmp_path / "store"}
    found = meshpace.advise(links, gateway="hall", routing="aodv", scheme=["tcp-gap", Paced], **options)
    assert {row["scheme"] for row in found.table().to_pylist()} == {"tcp-gap", "paced"}
    resolved = found.advice.resolved
    assert isinstance(resolved["routing"], dict)
    assert resolved["routing"]["profile"] == "rfc3561"
    with pytest.raises(AdviceError, match=r"found '\.txt'; allowed: \.html, \.json"):
        found.save(tmp_path / "advice.txt")
    with pytest.raises(AdviceError, match="its settings"):
        meshpace.advise(meshpace.Scenario(LINE + LINKS), rate="2Mbps", **options)
