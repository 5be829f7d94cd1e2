"""Scenarios as descriptions for ns-3: what is written, what is refused, and that both simulators agree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from commanding import Cli
from documents import ROOT
from meshpace import engine
from meshpace.judges.figures import BrokenRunError
from meshpace.judges.refusals import NotExpressibleError, Refusal
from meshpace.judges.schemes import parameters_of
from meshpace.ns3.describe import write_description
from meshpace.ns3.express import express
from meshpace.ns3.keys import EXPRESSED
from meshpace.ns3.model import Ns3Scenario
from meshpace.ns3.parse import parse_run
from meshpace.ns3.run import VERSION, MissingNs3Error, find_program
from meshpace.ns3.tcp import tcp_of


def installed() -> bool:
    """Whether ns-3 of the version that is asked for can be compiled with."""
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        return False
    done = subprocess.run(["pkg-config", "--modversion", "ns3-wifi"], capture_output=True, text=True, check=False)
    return done.stdout.strip() == VERSION


needs_ns3 = pytest.mark.skipif(
    not installed(), reason=f"ns-{VERSION} is not installed (Debian: libns3-dev, pkg-config)"
)

RADIO = """\
[radio]
standard = "802.11b"
reception = "sinr"
error_model = "curve"
backoff_range = "standard"
mac_overhead = 36
"""
MESH = f"""\
[measure]
duration = "4s"
warmup = "1s"
{RADIO}
[topology]
kind = "chain"
hops = 2
[routing]
protocol = "static"
[defaults]
scheme = "sack-rfc"
start_jitter = "0s"
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
N_CHAIN = (ROOT / "validation" / "points" / "n-chain.toml").read_text()


def resolve(text: str, *settings: str, scheme: str | None = None) -> Ns3Scenario:
    return express(engine.Job("test.toml", text.encode(), settings, scheme))


def lines(text: str, *settings: str, scheme: str | None = None) -> dict[str, list[str]]:
    """The lines of a description by their first words, comments left out."""
    found: dict[str, list[str]] = {}
    for line in write_description(resolve(text, *settings, scheme=scheme)).splitlines():
        kind, _, rest = line.partition("#")[0].strip().partition(" ")
        if kind:
            found.setdefault(kind, []).append(rest)
    return found


def n_chain(*settings: str, scheme: str | None = None) -> dict[str, list[str]]:
    ends = ("topology.hops=2", "flow.0.to=n2", 'flow.0.path=["n0", "n1", "n2"]', "defaults.start_jitter=0s")
    return lines(N_CHAIN, *ends, *settings, scheme=scheme)


def test_a_chain_of_802_11n() -> None:
    found = n_chain()
    assert found["phy"] == ["80211n 5GHZ 36 20"]
    assert found["modes"] == ["HtMcs4 OfdmRate24Mbps OfdmRate24Mbps"]
    assert found["basic"] == ["OfdmRate6Mbps", "OfdmRate12Mbps", "OfdmRate24Mbps"]
    assert found["access"] == ["15 1023 3 9"]
    assert found["frames"] == ["65535 0 4692480"]
    assert found["limits"] == ["7 4 500"]
    assert found["node"] == ["0.0 0.0", "20.45 0.0", "40.9 0.0"]
    assert found["route"] == ["0 2 1", "1 0 0", "1 2 2", "2 0 1"]
    assert found["tcp"] == ["0 2 0.0 -1.0 1448 2000 TcpNewReno TcpPrrRecovery 1 0 3 2 0.1 1.0 1.0"]
    # The file says -82 dBm for both; 10 dB below it signals still disturb. 46.7 dB at 1 m: Friis at 5.18 GHz.
    *hearing, figure = map(float, found["hearing"][0].split())
    assert hearing == pytest.approx([-82, -82, -92], abs=1e-3)
    assert figure == 7
    model, exponent, loss = found["loss"][0].split()
    assert (model, float(exponent)) == ("log-distance", 3)
    assert float(found["power"][0]) - float(loss) == pytest.approx(16 - 46.728, abs=0.01)


@pytest.mark.parametrize(
    ("settings", "phy", "modes", "antennas"),
    [
        (("radio.mcs=0",), "80211n 5GHZ 36 20", "HtMcs0 OfdmRate6Mbps OfdmRate6Mbps", "1 800"),
        (("radio.mcs=10",), "80211n 5GHZ 36 20", "HtMcs10 OfdmRate12Mbps OfdmRate12Mbps", "2 800"),
        (("radio.mcs=31", "radio.width=40MHz"), "80211n 5GHZ 38 40", "HtMcs31 OfdmRate24Mbps OfdmRate24Mbps", "4 800"),
        (
            ("radio.mcs=7", "radio.guard_interval=400ns", "radio.frequency=2412MHz", "radio.basic_rate=6Mbps"),
            "80211n 2_4GHZ 1 20", "HtMcs7 ErpOfdmRate24Mbps ErpOfdmRate6Mbps", "1 400",
        ),
    ],
)  # fmt: skip
def test_channels_and_modes_of_802_11n(settings: tuple[str, ...], phy: str, modes: str, antennas: str) -> None:
    found = n_chain(*settings)
    assert (found["phy"], found["modes"], found["antennas"]) == ([phy], [modes], [antennas])


@pytest.mark.parametrize(
    ("settings", "phy", "modes", "antennas"),
    [
        (("radio.standard=802.11ac", "radio.mcs=4"), "80211ac 5GHZ 36 20",
         "VhtMcs4 OfdmRate24Mbps OfdmRate24Mbps", "1 800"),
        (("radio.standard=802.11ac", "radio.mcs=9", "radio.streams=2", "radio.width=80MHz",
          "radio.guard_interval=400ns"),
         "80211ac 5GHZ 42 80", "VhtMcs9 OfdmRate24Mbps OfdmRate24Mbps", "2 400"),
        (("radio.standard=802.11ax", "radio.mcs=1", "radio.width=160MHz", "radio.guard_interval=3200ns"),
         "80211ax 5GHZ 50 160", "HeMcs1 OfdmRate12Mbps OfdmRate12Mbps", "1 3200"),
        (("radio.standard=802.11ax", "radio.mcs=11", "radio.frequency=2412MHz"), "80211ax 2_4GHZ 1 20",
         "HeMcs11 ErpOfdmRate24Mbps ErpOfdmRate24Mbps", "1 800"),
    ],
)  # fmt: skip
def test_channels_and_modes_of_later_standards(settings: tuple[str, ...], phy: str, modes: str, antennas: str) -> None:
    found = n_chain(*settings)
    assert (found["phy"], found["modes"], found["antennas"]) == ([phy], [modes], [antennas])


@pytest.mark.parametrize(
    ("settings", "mcs"),
    [
        (("radio.standard=802.11ac",), "VhtMcs8 1"),
        (("radio.standard=802.11ac", "radio.rate=2340Mbps", "radio.width=160MHz"), "VhtMcs7 4"),  # 9 with 3 is missing
        (("radio.standard=802.11ax", "radio.streams=3"), "HeMcs11 3"),
    ],
)
def test_the_mcs_of_later_standards_is_that_of_streams_and_rate(settings: tuple[str, ...], mcs: str) -> None:
    ends = ("topology.hops=2", "flow.0.to=n2", 'flow.0.path=["n0", "n1", "n2"]')
    found = lines(N_CHAIN.replace("\nmcs = 4\n", "\n"), *ends, *settings)
    assert f"{found['modes'][0].split()[0]} {found['antennas'][0].split()[0]}" == mcs


@pytest.mark.parametrize(
    ("settings", "phy", "modes", "access"),
    [
        (("radio.rate=5.5Mbps",), "80211b 2_4GHZ 1 22", "DsssRate5_5Mbps DsssRate1Mbps DsssRate1Mbps", "31 1023 2 20"),
        (("radio.standard=802.11a", "radio.rate=9Mbps"), "80211a 5GHZ 36 20",
         "OfdmRate9Mbps OfdmRate6Mbps OfdmRate6Mbps", "15 1023 2 9"),
        (("radio.standard=802.11g",), "80211g 2_4GHZ 1 20", "ErpOfdmRate54Mbps ErpOfdmRate24Mbps ErpOfdmRate24Mbps",
         "15 1023 2 9"),
    ],
)  # fmt: skip
def test_the_other_standards(settings: tuple[str, ...], phy: str, modes: str, access: str) -> None:
    found = lines(MESH, *settings)
    assert (found["phy"], found["modes"], found["access"]) == ([phy], [modes], [access])


def test_802_11b_answers_at_the_basic_rate_in_the_noise_of_ours() -> None:
    found = lines(MESH, "radio.basic_rate=2Mbps")
    assert found["basic"] == ["DsssRate2Mbps"]
    # ns-3 has 22 MHz of noise, ours 20; the ranges are ns-2's powers at 250 and 550 m (schemes.md 17.1).
    decoded, sensed, noticed, figure = map(float, found["hearing"][0].split())
    assert (decoded, sensed, noticed) == pytest.approx((-64.374, -78.071, -88.071), abs=1e-3)
    assert figure == pytest.approx(7 - 0.4139, abs=1e-4)
    assert found["loss"] == ["two-ray 914000000.0 1.5"]


@pytest.mark.parametrize(("rts", "above"), [("always", "0"), ("never", "4692480"), ("500", "499")])
def test_rts_goes_before_what_is_longer_than_its_threshold(rts: str, above: str) -> None:
    assert lines(MESH, f"radio.rts={rts}")["frames"] == [f"0 0 {above}"]


def test_wired_hosts_have_links_and_routes() -> None:
    found = lines(MESH)
    assert len(found["wired"]) == 3
    assert found["link"][0] == "2 3 10000000 0.04 50"
    # n0 to B (5) and back, B to n1 and back.
    assert {"0 5 1", "1 5 2", "2 5 3", "4 5 5", "5 0 4", "3 0 2", "2 0 1", "1 0 0", "2 1 1"} <= set(found["route"])
    assert found["udp"] == ["5 1 0.0 -1.0 500 0.04"]


def test_flows_at_the_gateway_itself_need_no_radio() -> None:
    found = lines(MESH, "flow.0.from=n2")
    assert {"2 5 3", "5 2 4"} <= set(found["route"])


def test_a_way_that_is_given_is_taken_and_two_ways_to_one_end_are_refused() -> None:
    grid = MESH.replace('kind = "chain"\nhops = 2', 'kind = "grid"\nrows = 2\ncols = 2\nwired = false')
    grid = grid.partition("[[flow]]")[0]
    one = '[[flow]]\nfrom = "g0_0"\nto = "g1_1"\npath = ["g0_0", "g1_0", "g1_1"]\n'
    other = '[[flow]]\nfrom = "g0_0"\nto = "g1_1"\npath = ["g0_0", "g0_1", "g1_1"]\n'
    nodes = ["g0_0", "g0_1", "g1_0", "g1_1"]
    names = [node.name for node in resolve(grid + one).nodes]
    assert sorted(names) == nodes
    a, b, end = (names.index(name) for name in ("g0_0", "g1_0", "g1_1"))
    assert lines(grid + one)["route"] == sorted(
        [f"{a} {end} {b}", f"{b} {end} {end}", f"{end} {a} {b}", f"{b} {a} {a}"]
    )
    with pytest.raises(NotExpressibleError, match=r"flow\[1\]\.path = .+ by destination, .+; allowed: one way"):
        resolve(grid + one + other)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (("radio.standard=802.11g-ns2",), "radio.standard"),
        (("radio.reception=ns2-capture",), "radio.reception"),
        (("radio.error_model=threshold",), "radio.error_model"),
        (("radio.propagation=ranges",), "radio.propagation"),
        (("radio.mac_overhead=34",), "radio.mac_overhead"),
        (("radio.backoff_range=ns2",), "radio.backoff_range"),
        (("radio.arp=true",), "radio.arp"),
        (("radio.standard=802.11ax", "radio.mac_overhead=38", "radio.guard_interval=1600ns"), "radio.guard_interval"),
        (("radio.preamble=short", "radio.basic_rate=2Mbps"), "radio.preamble"),
        (("radio.retry_short=0",), "radio.retry_short"),
        (("radio.retry_long=0",), "radio.retry_long"),
        (("radio.ack_timeout=100us",), "radio.ack_timeout"),
        (("routing.protocol=aodv",), "routing.protocol"),
        (("mobility.model=random-waypoint",), "mobility.model"),
        (("topology.wired_queue=1",), "link[0].queue"),
        (("flow.0.app=transfer", "flow.0.bytes=1000"), "flow[0].app"),
        (("flow.1.udp_header=0",), "flow[1].udp_header"),
        (("flow.0.scheme=tcp-ap",), "flow[0].scheme"),
        (("flow.0.scheme=bbr",), "flow[0].scheme"),
        (("scheme.sack-rfc.rto_max=30s",), "scheme.sack-rfc.rto_max"),
        (("scheme.sack-rfc.ack_policy=dynamic-delayed",), "scheme.sack-rfc.ack_policy"),
        (("flow.0.scheme=newreno-rfc", "scheme.newreno-rfc.recovery=rack"), "scheme.newreno-rfc.recovery"),
        (("flow.0.scheme=cubic", "scheme.cubic.recovery=rack"), "scheme.cubic.recovery"),
        (("flow.0.scheme=cubic", "scheme.cubic.slow_start=hystart++"), "scheme.cubic.slow_start"),
        (("mesh.scheme=cubic-fq-codel",), "mesh.scheme"),
    ],
)  # fmt: skip
def test_what_ns3_cannot_express_is_named(settings: tuple[str, ...], key: str) -> None:
    with pytest.raises(NotExpressibleError) as refusal:
        resolve(MESH, *settings)
    assert key in {one.key for one in refusal.value.refusals}
    told = rf"test\.toml: {re.escape(key)} = .+: ns-3.37 cannot express it, .+; allowed: .+"
    assert any(re.fullmatch(told, line) for line in str(refusal.value).splitlines())


def test_everything_that_cannot_be_expressed_is_named_at_once(cli: Cli, chain: Path) -> None:
    done = cli("crosscheck", chain, "--with", "ns3", "--scheme", "tcp-gap", "--set", "radio.ack_timeout=9us")
    assert (done.returncode, done.stdout) == (2, "")
    keys = [line.split(": ")[1].split(" = ")[0] for line in done.stderr.splitlines()]
    assert keys == [
        "radio.mac_overhead", "radio.reception", "radio.backoff_range", "radio.arp", "flow[0].scheme",
        "radio.ack_timeout",
    ]  # fmt: skip


def test_linux_queues_are_refused() -> None:
    with pytest.raises(NotExpressibleError, match=r"flow\[0\]\.scheme|defaults\.scheme"):
        n_chain("scheme.sack-rfc.relay=mac80211")


def test_every_parameter_of_a_scheme_is_expressed_or_refused() -> None:
    every = sorted({key for row in engine.schemes() for key in row["parameters"]})
    # Values, and choices of which some have a counterpart.
    expressed = {"ack_delay", "ack_segments", "rto_min", "rto_initial"}
    for name in ("sack-rfc", "newreno-rfc", "cubic"):
        given = parameters_of(name)
        tcp_of("flow[0].scheme", name, given, 1448, 64)
        for key in every:
            other = {**given, key: "other"}
            if key in expressed:
                tcp_of("flow[0].scheme", name, other, 1448, 64)
                continue
            with pytest.raises(Refusal) as refusal:
                tcp_of("flow[0].scheme", name, other, 1448, 64)
            assert refusal.value.key == f"scheme.{name}.{key}"


def test_senders_are_those_of_ns3() -> None:
    def tcp(scheme: str, *settings: str) -> list[str]:
        plain = ("scheme.newreno-rfc.relay=drop-tail", "scheme.cubic.relay=drop-tail")
        return n_chain(*plain, *settings, scheme=scheme)["tcp"][0].split()[5:]

    assert tcp("newreno-rfc")[1:6] == ["TcpNewReno", "TcpClassicRecovery", "0", "0", "3"]
    assert tcp("cubic")[1:6] == ["TcpCubic", "TcpPrrRecovery", "1", "0", "3"]  # the file gives it recovery = "sack"
    assert tcp("cubic", "scheme.cubic.slow_start=hystart", "scheme.cubic.recovery=newreno")[1:5] == [
        "TcpCubic", "TcpClassicRecovery", "0", "1",
    ]  # fmt: skip
    assert tcp("sack-rfc", "scheme.sack-rfc.ack_policy=every")[6] == "1"
    # RFC 3390: 4 segments of 1,000 bytes, 2 of 2,190.
    assert tcp("sack-rfc", "defaults.segment=1000")[5] == "4"
    assert tcp("sack-rfc", "defaults.segment=2190")[5] == "2"


OTHERS = {
    "measure.duration": "9s", "measure.warmup": "2s", "radio.standard": "802.11g", "radio.rate": "24Mbps",
    "radio.basic_rate": "2Mbps", "radio.rts": "never", "radio.retry_short": "3", "radio.retry_long": "3",
    "radio.queue": "9", "radio.tx_range": "240m", "radio.cs_range": "500m", "radio.propagation": "log-distance",
    "topology.hops": "3", "topology.spacing": "190m", "topology.wired_rate": "9Mbps", "topology.wired_delay": "9ms",
    "topology.wired_queue": "9", "topology.wired_hops": "2", "defaults.segment": "1000", "defaults.window": "9",
    "defaults.start_jitter": "1s", "defaults.scheme": "newreno-rfc", "flow.0.segment": "999", "flow.0.window": "8",
    "flow.0.start": "1s", "flow.0.stop": "3s", "flow.0.start_jitter": "2s", "flow.0.from": "n1",
    "flow.0.scheme": "cubic", "flow.0.count": "2", "flow.1.rate": "90kbps", "flow.1.packet": "400",
    "flow.1.to": "n0", "scenario.name": "other",
}  # fmt: skip
OTHERS_OF_N = {
    "radio.frequency": "2412MHz", "radio.width": "40MHz", "radio.mcs": "5",
    "radio.guard_interval": "400ns", "radio.aggregate": "8000", "radio.amsdu": "3839",
    "radio.path_loss_exponent": "2.9",
    "radio.tx_power": "17dBm", "radio.sensitivity": "-80dBm", "radio.cs_sensitivity": "-83dBm",
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), OTHERS.items())
def test_what_is_expressed_is_in_the_description(key: str, value: str) -> None:
    assert re.sub(r"\.\d+\.", "[].", key) in EXPRESSED
    base = ("radio.standard=802.11g",) if key == "radio.rate" else ()
    assert write_description(resolve(MESH, *base, f"{key}={value}")) != write_description(resolve(MESH, *base))


@pytest.mark.parametrize(("key", "value"), OTHERS_OF_N.items())
def test_what_is_expressed_of_802_11n_is_in_the_description(key: str, value: str) -> None:
    assert key in EXPRESSED
    base = n_chain()
    assert n_chain(f"{key}={value}") != base


@pytest.mark.parametrize(
    ("settings", "mcs"),
    [
        (("radio.streams=2",), 15),
        (("radio.rate=13Mbps",), 1),  # MCS 8 has it, too
        (("radio.rate=13Mbps", "radio.streams=2"), 8),
        (("radio.rate=300Mbps", "radio.width=40MHz", "radio.guard_interval=400ns"), 15),
        ((), 7),
    ],
)
def test_the_mcs_is_that_of_streams_and_rate(settings: tuple[str, ...], mcs: int) -> None:
    ends = ("topology.hops=2", "flow.0.to=n2", 'flow.0.path=["n0", "n1", "n2"]')
    found = lines(N_CHAIN.replace("\nmcs = 4\n", "\n"), *ends, *settings)
    assert found["modes"][0].split()[0] == f"HtMcs{mcs}"
    assert found["antennas"][0].split()[0] == str(mcs // 8 + 1)


def test_counters_are_read_within_the_interval() -> None:
    scenario = resolve(MESH)
    output = """\
begin 0 14600 12 1 1
begin 1 500 1 0 0
begin drops 1 2 3
second 1 0 14600
second 1 1 500
second 2 0 160600
end 0 306600 212 4 1
end 1 38000 76 0 0
end drops 2 4 8
delay 0 3.0 30
rtt 0 1.2 4
rtt 1 0 0
finished
"""
    figures = parse_run(scenario, output)
    tcp, udp = figures.flows
    assert tcp.goodput_bps == pytest.approx(200 * 1460 * 8 / 3)
    assert (tcp.segments_sent, tcp.retransmits, tcp.timeouts) == (203, 3, 0)
    assert (tcp.srtt_s, tcp.delay_mean_s) == (pytest.approx(0.3), pytest.approx(0.1))
    assert (udp.segments_sent, udp.retransmits, udp.srtt_s, udp.delay_mean_s) == (None, None, None, None)
    assert udp.delivered_bytes == 37500
    assert (figures.data_drops, figures.ack_drops, figures.queue_drops) == (1, 2, 5)
    assert (figures.collisions, figures.collisions_rts, figures.arp_drops) == (None, None, None)
    with pytest.raises(BrokenRunError, match="NS_FATAL"):
        parse_run(scenario, "begin 0 0 0 0 0\nNS_FATAL, terminating\n")


def test_another_judge_is_refused(cli: Cli, chain: Path) -> None:
    done = cli("crosscheck", chain, "--with", "ns4")
    assert (done.returncode, done.stderr) == (2, "--with: found 'ns4'; allowed: ns2, ns3\n")


def test_only_the_description(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.toml").write_text(MESH)
    assert cli("crosscheck", "mesh.toml", "--with", "ns3", "--script", "mesh.txt").returncode == 0
    assert (tmp_path / "mesh.txt").read_text() == write_description(express(engine.Job("mesh.toml", MESH.encode())))


def tool(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_without_ns3_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    find_program.cache_clear()

    def told() -> str:
        with pytest.raises(MissingNs3Error) as missing:
            find_program()
        assert "libns3-dev" in str(missing.value)
        return str(missing.value)

    assert told().startswith('no "g++"')
    tool(tmp_path, "g++", "echo 'x.cc:1: error: no member' >&2; exit 1")
    assert told().startswith('no "pkg-config"')
    tool(tmp_path, "pkg-config", "exit 1")
    assert told().startswith("no ns-3")
    tool(tmp_path, "pkg-config", "echo 3.41")
    assert told().startswith("pkg-config: found ns-3.41; allowed: ns-3.37")
    tool(tmp_path, "pkg-config", f"echo {VERSION}")
    assert "cannot compile" in told()
    assert "error: no member" in told()
    assert not list((tmp_path / "cache").rglob("crosscheck-*"))


@needs_ns3
def test_both_simulators_agree_on_datagrams_over_802_11b_g_and_n(cli: Cli, tmp_path: Path) -> None:
    text = MESH.replace('"B"', '"n1"', 1).partition('[[flow]]\nfrom = "B"')[0]
    (tmp_path / "link.toml").write_text(text + 'app = "cbr"\npacket = 1472\nrate = "60Mbps"\n')
    of_n = ("radio.standard=802.11n", "radio.mcs=4", "radio.mac_overhead=38", "radio.queue=500")
    of_n += ("scheme.sack-rfc.relay=drop-tail",)
    for settings in ((), ("radio.standard=802.11g",), of_n):
        done = cli(
            "crosscheck", "link.toml", "--with", "ns3", "--seeds", 1, "--json", *(f"--set={one}" for one in settings)
        )
        assert done.returncode == 0, done.stderr
        rows = {row["quantity"]: row for row in json.loads(done.stdout)["rows"]}
        assert rows["goodput"]["ratio"] == pytest.approx(1, abs=0.01), settings
        assert rows["full-queue drops"]["ratio"] == pytest.approx(1, abs=0.01), settings
        assert rows["goodput"]["ns3"]["mean"] > 1e6
        assert "collisions" not in rows


@needs_ns3
def test_both_simulators_agree_through_the_gateway(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mesh.toml").write_text(MESH)
    done = cli("crosscheck", "mesh.toml", "--with", "ns3", "--seeds", 2, "--set", "measure.duration=20s", "--json")
    assert done.returncode == 0, done.stderr
    rows = {(row["flow"], row["quantity"]): row for row in json.loads(done.stdout)["rows"]}
    assert rows["1", "goodput"]["ratio"] == pytest.approx(1, abs=0.1)
    assert rows["1", "delay"]["ratio"] == pytest.approx(1, abs=0.1)
    assert rows["1", "RTT"]["ratio"] == pytest.approx(1, abs=0.1)
    assert rows["2", "goodput"]["ns3"]["mean"] == pytest.approx(100e3, rel=0.02)
