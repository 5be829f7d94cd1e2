"""Scenarios as ns-2 scripts: what is written, what is refused, and that both simulators agree."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commanding import CHAIN, Cli
from judging import schema_keys, toml
from meshpace import engine
from meshpace.judges.figures import BrokenRunError
from meshpace.judges.keys import unknown
from meshpace.judges.powers import two_ray_power_w
from meshpace.judges.refusals import NotExpressibleError, Refusal
from meshpace.judges.routes import Route, minimum_hop_route, within_range
from meshpace.ns2.express import _agent, express
from meshpace.ns2.keys import EXPRESSED
from meshpace.ns2.model import Ns2Scenario
from meshpace.ns2.parse import parse_run
from meshpace.ns2.script import write_script
from meshpace.ns3.keys import EXPRESSED as EXPRESSED_BY_NS3

needs_ns2 = pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2.35 is not installed (Debian package ns2)")

GATEWAY = """\
[measure]
duration = "30s"
warmup = "5s"
[topology]
kind = "chain"
hops = 2
[routing]
protocol = "static"
[defaults]
scheme = "newreno"
[[flow]]
from = "n0"
to = "B"
[[flow]]
from = "B"
to = "n1"
app = "cbr"
rate = "100kbps"
packet = 500
"""


def resolve(text: str, *settings: str, scheme: str | None = None) -> Ns2Scenario:
    return express(engine.Job("test.toml", text.encode(), settings, scheme))


def test_thresholds_are_the_powers_at_the_ranges() -> None:
    assert two_ray_power_w(250) == pytest.approx(3.6526e-10, rel=1e-4)  # schemes.md 17.1
    assert two_ray_power_w(550) == pytest.approx(1.5592e-11, rel=1e-4)
    script = write_script(resolve(CHAIN))
    assert "RXThresh_ 3.652e-10" in script
    assert "CSThresh_ 1.559e-11" in script


@pytest.mark.parametrize("metres", [251, 283, 300, 361, 400, 412, 549, 600])
def test_who_is_at_exactly_the_range_hears_in_ns2_too(metres: int) -> None:
    """400 m is two hops of a chain: 5.57346e-11 W, which is more than arrives there, made every second node deaf."""
    script = write_script(resolve(CHAIN, f"radio.cs_range={metres}m"))
    (written,) = (float(line.split()[-1]) for line in script.splitlines() if "CSThresh_" in line)
    assert 0 < 1 - written / two_ray_power_w(metres) < 2e-6


@pytest.mark.parametrize(("rts", "threshold"), [("always", "0"), ("never", "1000000"), ("500", "524")])
def test_rts_threshold_counts_the_plcp_as_ns2_does(rts: str, threshold: str) -> None:
    assert f"RTSThreshold_ {threshold}\n" in write_script(resolve(CHAIN, f"radio.rts={rts}"))


def test_static_routes_are_a_taught_dsdv_and_its_ip_header_is_given_away() -> None:
    script = write_script(resolve(CHAIN))
    assert "set routing DSDV" in script
    assert "set idle [static_routes {{0 1 2} {2 1 0}}]" in script
    assert "tcpip_base_hdr_size_ 20" in script
    aodv = write_script(resolve(CHAIN, "routing.protocol=aodv"))
    assert "set routing AODV" in aodv
    assert "static_routes" not in aodv
    assert "tcpip_base_hdr_size_" not in aodv


GRID = (
    CHAIN.replace('kind = "chain"\nhops = 2', 'kind = "grid"\nrows = 3\ncols = 3')
    .replace('"n0"', '"g2_2"')
    .replace('"n2"', '"g0_0"')
)
"""Nine nodes in rows from the south, with several shortest routes between the corners."""


def test_ties_between_shortest_routes_are_broken_as_the_engine_does() -> None:
    # crates/routing/src/static_routes.rs, ties_go_to_the_lowest_index: the way back is another.
    assert resolve(GRID).routes == ((0, 1, 2, 5, 8), (8, 5, 2, 1, 0))
    assert resolve(GRID, "flow.0.from=g2_0", "flow.0.to=g0_2").routes == ((2, 1, 0, 3, 6), (6, 3, 0, 1, 2))
    neighbours = within_range([(0.0, 0.0), (200.0, 0.0), (200.0, 200.0), (0.0, 200.0)], 250)
    assert neighbours == [[1, 3], [0, 2], [1, 3], [0, 2]]
    assert minimum_hop_route(neighbours, 0, 2) == Route((0, 1, 2), unique=False)
    assert minimum_hop_route(neighbours, 0, 1) == Route((0, 1), unique=True)
    assert minimum_hop_route([[], []], 0, 1) is None


@needs_ns2
def test_ns2_forwards_over_the_routes_of_the_engine(tmp_path: Path) -> None:
    # Flows that cross, share nodes and ends, and go to a wired host; g1_1 is the gateway.
    flows = (("g0_0", "g3_3"), ("g3_0", "g0_3"), ("g3_3", "g0_1"), ("g0_2", "B"))
    text = GRID.replace("rows = 3\ncols = 3", "rows = 4\ncols = 4").partition("[[flow]]")[0]
    text += "".join(f'[[flow]]\nfrom = "{a}"\nto = "{b}"\n' for a, b in flows)
    scenario = resolve(text, "defaults.window=1", "measure.duration=20s")
    told = {(at, route[-1]): following for route in scenario.routes for at, following in itertools.pairwise(route)}
    assert len(told) > 20
    (tmp_path / "s.tcl").write_text(write_script(scenario).replace("-routerTrace OFF", "-routerTrace ON"))
    subprocess.run(["ns", "s.tcl", "1", "routers.tr"], cwd=tmp_path, check=True, capture_output=True)
    # s TIME _NODE_ RTR --- UID tcp SIZE [MAC] ------- [SOURCE:PORT DESTINATION:PORT TTL NEXT] ...
    line = re.compile(r"[sf] \S+ _(\d+)_ RTR .* \[\d+:\d+ (\d+):\d+ \d+ (\d+)\]")
    taken: dict[tuple[int, int], set[int]] = {}
    for found in filter(None, map(line.match, (tmp_path / "routers.tr").open())):
        at, to, following = map(int, found.groups())
        taken.setdefault((at, to), set()).add(following)
    assert taken == {key: {following} for key, following in told.items()}


def test_the_window_is_set_after_the_agent_is_made() -> None:
    # The class default of 20 stays the initial slow-start threshold.
    script = write_script(resolve(CHAIN))
    assert script.index("[new Agent/TCP/Newreno]") < script.index("$src(0) set window_ 64")
    assert "Agent/TCP set window_" not in script


def test_wired_hosts_hang_on_the_gateways_ports() -> None:
    scenario = resolve(GATEWAY)
    assert scenario.gateway == "n2"
    script = write_script(scenario)
    assert len(re.findall(r"new DelayLink", script)) == 6  # three links, two directions
    assert "$node(2) attach $dst(0) 1001" in script
    assert "[$node(2) set dmux_] install 1001 $q(2," in script
    assert "$dst(0) target $q(" in script


@pytest.mark.parametrize(
    ("settings", "scheme", "key"),
    [
        (("radio.standard=802.11g",), None, "radio.standard"),
        (("radio.reception=sinr",), None, "radio.reception"),
        (("radio.propagation=ranges",), None, "radio.propagation"),
        (("radio.mac_overhead=28",), None, "radio.mac_overhead"),
        (("radio.backoff_range=standard",), None, "radio.backoff_range"),
        (("radio.arp=false",), None, "radio.arp"),
        (("radio.preamble=short",), None, "radio.preamble"),
        (("routing.protocol=aodv", "routing.profile=rfc3561"), None, "routing.profile"),
        (("mobility.model=random-waypoint",), None, "mobility.model"),
        (("flow.0.app=transfer", "flow.0.bytes=1000"), None, "flow[0].app"),
        ((), "tcp-gap", "flow[0].scheme"),
        (("scheme.newreno.rto_min=1s",), None, "scheme.newreno.rto_min"),
        (("scheme.newreno.ack_policy=dynamic-delayed",), None, "scheme.newreno.ack_policy"),
        (("scheme.newreno.ack_policy=delayed", "scheme.newreno.ack_delay=50ms"), None, "scheme.newreno.ack_delay"),
        (("scheme.mine.base=tcp-ap",), "mine", "scheme.mine.pacing"),
        (("radio.retry_long=0",), None, "radio.retry_long"),
        (("radio.ack_timeout=100us",), None, "radio.ack_timeout"),
        (('flow.0.path=["n0", "n1", "n2"]',), None, "flow[0].path"),
    ],
)
def test_what_ns2_cannot_express_is_named(settings: tuple[str, ...], scheme: str | None, key: str) -> None:
    with pytest.raises(NotExpressibleError) as refusal:
        resolve(CHAIN, *settings, scheme=scheme)
    assert refusal.value.key == key
    told = rf"test\.toml: {re.escape(key)} = .+: ns-2.35 cannot express it, .+; allowed: .+"
    assert re.fullmatch(told, str(refusal.value).splitlines()[0])


def test_a_refusal_shows_values_as_files_have_them() -> None:
    with pytest.raises(NotExpressibleError, match=r"(?m)newreno\.ecn = true: .+; allowed: false$"):
        resolve(CHAIN, "scheme.newreno.ecn=true")
    with pytest.raises(NotExpressibleError, match=r'(?m)newreno\.relay = "fq-codel": .+; allowed: "drop-tail"$'):
        resolve(CHAIN, "scheme.newreno.relay=fq-codel")


def test_everything_that_cannot_be_expressed_is_named_at_once() -> None:
    with pytest.raises(NotExpressibleError) as refusal:
        resolve(
            CHAIN, "radio.standard=802.11g", "radio.reception=sinr", "flow.0.scheme=tcp-gap", "radio.ack_timeout=9us"
        )
    keys = [one.key for one in refusal.value.refusals]
    assert {"radio.standard", "radio.reception", "flow[0].scheme", "radio.ack_timeout"} <= set(keys)
    assert len(keys) == len(set(keys)) == len(str(refusal.value).splitlines())


def test_cubic_is_that_of_linux() -> None:
    script = write_script(resolve(CHAIN, scheme="cubic"))
    assert "new Agent/TCP/Linux" in script
    assert "select_ca cubic" in script
    assert "new Agent/TCPSink/Sack1/DelAck" in script
    with pytest.raises(NotExpressibleError, match="relay"):
        resolve(CHAIN, scheme="cubic-fq-codel")


@needs_ns2
def test_cubic_gets_what_it_gets_there(cli: Cli, chain: Path) -> None:
    chain.write_text(CHAIN.replace('"4s"', '"40s"').replace('"1s"', '"10s"'))
    done = cli("crosscheck", chain, "--scheme", "cubic", "--seeds", 2, "--json")
    assert done.returncode == 0, done.stderr
    first = next(row for row in json.loads(done.stdout)["rows"] if row["quantity"].startswith("goodput"))
    assert first["ratio"] == pytest.approx(1.0, abs=0.05)


def test_batch_means_are_refused_unless_a_duration_replaces_them() -> None:
    batches = CHAIN.replace('duration = "4s"\nwarmup = "1s"', "packets = 100")
    with pytest.raises(NotExpressibleError, match=r"measure\.packets = 100"):
        resolve(batches)
    assert write_script(resolve(batches, "measure.duration=4s", "measure.warmup=1s")) == write_script(resolve(CHAIN))


def test_a_scheme_is_expressed_by_its_parameters_whatever_its_name() -> None:
    script = write_script(resolve(CHAIN))
    assert write_script(resolve(CHAIN, "scheme.mine.base=newreno", scheme="mine")) == script
    delayed = write_script(resolve(CHAIN, scheme="newreno-delack"))
    assert "Agent/TCPSink/DelAck" in delayed
    assert write_script(resolve(CHAIN, "scheme.newreno.ack_policy=delayed")) == delayed
    assert write_script(resolve(CHAIN, "scheme.mine.base=tahoe", scheme="mine")) == write_script(
        resolve(CHAIN, scheme="tahoe")
    )


def test_what_acts_at_the_gateway_is_refused_even_where_no_flow_has_it() -> None:
    # The flows are NewReno's, but the mesh's gateway would pace them.
    with pytest.raises(NotExpressibleError, match=r'mesh\.scheme = "tcp-gap": .* gateway = ') as refusal:
        resolve(GATEWAY, "mesh.scheme=tcp-gap")
    assert refusal.value.allowed == 'a scheme with gateway = "none"'
    assert write_script(resolve(GATEWAY, "mesh.scheme=tahoe")) == write_script(resolve(GATEWAY))
    adhoc = GATEWAY.replace('to = "B"', 'to = "n1"').replace('from = "B"', 'from = "n2"')
    assert resolve(adhoc, "mesh.scheme=tcp-gap", "topology.wired=false").gateway is None


@pytest.mark.parametrize("expressed", [EXPRESSED, EXPRESSED_BY_NS3], ids=["ns2", "ns3"])
def test_every_key_of_the_schema_is_expressed_or_refused(expressed: dict[str, str]) -> None:
    keys = {key for key, _ in schema_keys()}
    assert len(keys) > 100
    assert set(expressed) <= keys, "the table has keys that no scenario can have"
    plain = engine.Job("test.toml", CHAIN.encode())
    assert unknown(plain, expressed) == []
    for key in sorted(keys - set(expressed)):
        if key.startswith("scheme."):
            continue
        path = key.replace("[]", ".0")
        (refusal,) = unknown(plain._replace(overrides=(f"{path}=1",)), expressed)
        assert (refusal.key, refusal.found) == (key.replace("[]", "[0]"), "1")
        table: Any = 1
        for word in reversed(key.split(".")):
            table = {word.removesuffix("[]"): [table] if word.endswith("[]") else table}
        refusal, *_ = unknown(plain._replace(text=toml(table).encode()), expressed)
        assert refusal.key == key.replace("[]", "[0]")


def test_every_parameter_of_a_scheme_is_expressed_or_refused() -> None:
    table = {row["name"]: row["parameters"] for row in engine.schemes()}
    every = sorted({key for parameters in table.values() for key in parameters})
    assert len(every) > 30
    for name in ("newreno", "newreno-delack", "tahoe"):
        _agent("flow[0].scheme", name, table[name])
        for key in every:
            other = {**table[name], key: "other"}
            with pytest.raises(Refusal) as refusal:
                _agent("flow[0].scheme", name, other)
            assert refusal.value.key == f"scheme.{name}.{key}"


OTHERS = {
    "measure.duration": "9s", "measure.warmup": "2s", "radio.rate": "2Mbps", "radio.basic_rate": "2Mbps",
    "radio.preamble": "short", "radio.rts": "never", "radio.retry_short": "3", "radio.retry_long": "3",
    "radio.queue": "9", "radio.capture_threshold_db": "7", "radio.tx_range": "240m", "radio.cs_range": "500m",
    "topology.hops": "3", "topology.spacing": "190m", "topology.wired_rate": "9Mbps", "topology.wired_delay": "9ms",
    "topology.wired_queue": "9", "topology.wired_hops": "2", "routing.protocol": "aodv", "defaults.segment": "1000",
    "defaults.window": "9", "defaults.start_jitter": "0s", "defaults.scheme": "tahoe", "flow.0.segment": "999",
    "flow.0.window": "8", "flow.0.start": "1s", "flow.0.stop": "3s", "flow.0.start_jitter": "2s", "flow.0.from": "n1",
    "flow.0.scheme": "newreno-delack", "flow.0.count": "2", "flow.1.rate": "90kbps", "flow.1.packet": "400",
    "flow.1.udp_header": "0", "flow.1.to": "n0", "scenario.name": "other",
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), OTHERS.items())
def test_what_is_expressed_is_in_the_script(key: str, value: str) -> None:
    assert re.sub(r"\.\d+\.", "[].", key) in EXPRESSED
    base = ("radio.basic_rate=2Mbps",) if key == "radio.preamble" else ()
    assert write_script(resolve(GATEWAY, *base, f"{key}={value}")) != write_script(resolve(GATEWAY, *base))


def test_the_script_has_the_timers_of_the_schemes_it_stands_for() -> None:
    script = write_script(resolve(CHAIN))
    for name in ("newreno", "tahoe"):
        parameters = next(row["parameters"] for row in engine.schemes() if row["name"] == name)
        for ours, theirs in (("rto_min", "minrto_"), ("rto_max", "maxrto_"), ("rto_initial", "rtxcur_init_")):
            (value,) = re.findall(rf"Agent/TCP set {theirs} (\S+)", script)
            assert float(value) == parameters[ours]


def test_refusals_on_the_command_line(cli: Cli, chain: Path) -> None:
    done = cli("crosscheck", chain, "--scheme", "tcp-gap", "--script", "s.tcl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f'{chain}: flow[0].scheme = "tcp-gap": ns-2.35 cannot express it, ')
    assert '; allowed: "newreno", "newreno-delack", "tahoe"' in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (chain.parent / "s.tcl").exists()
    done = cli("crosscheck", chain, "--scheme", "tcp-gap", "--set", "radio.arp=false")
    assert [line.split(" = ")[0] for line in done.stderr.splitlines()] == [
        f"{chain}: radio.arp",
        f"{chain}: flow[0].scheme",
    ]


def test_only_the_script(cli: Cli, chain: Path) -> None:
    assert cli("crosscheck", chain, "--script", "s.tcl").returncode == 0
    assert (chain.parent / "s.tcl").read_text().endswith("$ns run\n")


def test_counters_and_drops_are_read_within_the_interval() -> None:
    scenario = resolve(CHAIN)
    output = """\
num_nodes is set 3
idle 120.0
begin 0 15000 12 1 0
second 121 0 15000
second 122 0 165000
second 123 0 165000
end 0 315000 220 4 1
rtt 0 3.0 10
finished
"""
    drops = [
        "D 120.500000000 _1_ MAC  COL 0 RTS 44 [79a 1 0 0] ",
        "D 121.500000000 _1_ MAC  COL 0 RTS 44 [79a 1 0 0] ",
        "D 121.600000000 _1_ MAC  COL 0 AODV 106 [0 ffffffff 2 800] ",  # a broadcast: nobody's frame
        "D 122.000000000 _0_ MAC  RET 7 tcp 1558 [13a 1 0 800] ",
        "D 122.100000000 _0_ MAC  RET 0 RTS 44 [79a 1 0 0] ",
        "D 122.500000000 _2_ IFQ  --- 8 ack 40 [0 0 1 800] ",
        "D 122.600000000 _0_ IFQ  ARP 9 tcp 1500 [0 0 1 800] ",
        "D 125.000000000 _1_ MAC  COL 0 RTS 44 [79a 1 0 0] ",
    ]
    figures = parse_run(scenario, output, drops)
    (flow,) = figures.flows
    assert flow.delivered_bytes == 200 * 1460  # 300,000 bytes with headers of 40 in packets of 1500
    assert flow.goodput_bps == pytest.approx(200 * 1460 * 8 / 3)
    assert (flow.segments_sent, flow.retransmits, flow.timeouts, flow.srtt_s) == (208, 3, 1, 0.3)
    assert (figures.collisions, figures.data_drops, figures.ack_drops, figures.queue_drops) == (1, 1, 0, 1)
    assert figures.arp_drops == 1
    assert figures.jain is None


def test_a_script_that_stops_early_is_an_error() -> None:
    with pytest.raises(BrokenRunError, match="invalid command"):
        parse_run(resolve(CHAIN), "invalid command name\n", [])


@needs_ns2
def test_both_simulators_agree_on_a_chain_and_through_the_gateway(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "gateway.toml").write_text(GATEWAY)
    done = cli("crosscheck", "gateway.toml", "--seeds", 2, "--json")
    assert done.returncode == 0, done.stderr
    rows = {(row["flow"], row["quantity"]): row for row in json.loads(done.stdout)["rows"]}
    assert rows["1", "goodput"]["ratio"] == pytest.approx(1, abs=0.1)
    assert rows["2", "goodput"]["ns2"]["mean"] == pytest.approx(100e3, rel=0.02)
    assert rows["2", "goodput"]["ratio"] == pytest.approx(1, abs=0.02)
    assert rows[None, "aggregate goodput"]["ratio"] == pytest.approx(1, abs=0.1)


def test_what_a_wired_queue_drops_is_not_given_up_by_a_mac() -> None:
    from meshpace.cli.judge import _NETWORK

    text = GATEWAY.replace("hops = 2", "hops = 2\nwired_queue = 2")
    run = engine.run_many([engine.Job("test.toml", text.encode(), ("flow.0.from=B", "flow.0.to=n0"))])[0]
    wired = [link for link in run["links"] if link["from"] == "B"]
    assert sum(link["data_drops"] for link in wired) > 0
    total = {name: take(run) for name, _, take, _ in _NETWORK}
    given_up = total["data packets given up"]
    assert given_up == sum(link["data_drops"] for link in run["links"] if link["retry_drops"])
    assert given_up < sum(link["data_drops"] for link in run["links"])


@needs_ns2
def test_the_table_has_both_and_the_ratio(cli: Cli, chain: Path) -> None:
    done = cli("crosscheck", chain, "--seeds", 2)
    assert done.returncode == 0, done.stderr
    for word in ("meshpace", "ns-2.35", "ratio", "goodput", "collisions"):
        assert word in done.stdout


def test_without_ns2_one_message(
    chain: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from meshpace.cli import main

    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("sys.argv", ["meshpace", "crosscheck", str(chain)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert 'no "ns"' in captured.err
