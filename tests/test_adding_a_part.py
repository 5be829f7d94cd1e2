"""docs/adding-a-part.md: all its examples in one copy of the tree, built once, each run; the files touched are counted.

The copy and its build stay in target/adding-a-part, so that only the first time is long. Crates of others come from
where `cargo test` has built them, if it has.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from documents import ROOT
from everything import WHOLE

sys.path.insert(0, str(ROOT / "tests" / "live"))
from daemon import Daemon
from net import CLIENT, Net, wait_for
from traffic import Bulk, transfer

TEXT = (ROOT / "docs" / "adding-a-part.md").read_text(encoding="utf-8")
WORK = ROOT / "target" / "adding-a-part"
TREE = WORK / "tree"
ACK = 0x10
# Two processes would build the same tree.
pytestmark = [pytest.mark.xdist_group("adding a part"), pytest.mark.takes(200)]


@dataclass(frozen=True)
class Step:
    """A block of a section, and the file that the line before it names."""

    section: str
    kind: str
    path: str
    text: str


def steps() -> list[Step]:
    """Every file and every row that the document shows."""
    found = []
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        title = section.splitlines()[0]
        pattern = r"^A (new file|row)[^\n`]*`([^`]+)`:\n\n```[^\n]*\n(.*?)^```$"
        for kind, path, text in re.findall(pattern, section, flags=re.MULTILINE | re.DOTALL):
            found.append(Step(title, kind, path, text))
    return found


STEPS = steps()
SECTIONS = list(dict.fromkeys(step.section for step in STEPS))


@pytest.mark.parametrize("section", SECTIONS)
def test_each_example_is_a_new_file_and_at_most_a_line_of_another(section: str) -> None:
    mine = [step for step in STEPS if step.section == section]
    assert not (ROOT / mine[0].path).exists()
    if section == "Study with a claim":  # papers are found by listing their folder
        assert [step.kind for step in mine] == ["new file"], section
        return
    assert [step.kind for step in mine] == ["new file", "row"], section
    row = mine[1]
    assert (ROOT / row.path).exists()
    added = [line for line in row.text.splitlines() if line.startswith("+")]
    removed = [line for line in row.text.splitlines() if line.startswith("-")]
    assert len(added) == 1, row.text
    assert len(removed) <= 1, row.text


def test_every_place_has_an_example() -> None:
    for place in (
        "Sender control",
        "Loss recovery",
        "Acknowledgement",
        "overhears",
        "Queue",
        "Gateway",
        "hook",
        "Flow law",
        "Routing",
        "Standard",
        "Study",
        "Scenario key",
    ):
        assert any(place in section for section in SECTIONS), place


def _merged(before: str, row: Step) -> str:
    """The file with the row in it. Where two examples change one row, both are in it."""
    lines = row.text.splitlines()
    (added,) = (line[1:] for line in lines if line.startswith("+"))
    removed = [line[1:] for line in lines if line.startswith("-")]
    if not removed:
        context = lines[0][1:]
        assert before.count(context + "\n") == 1, f"{row.path}: {context!r}"
        return before.replace(context + "\n", f"{context}\n{added}\n")
    # The new item is what stands in the added list and not in the removed one.
    items = [re.search(r"= \[(.*)\];", line)[1] for line in (removed[0], added)]  # type: ignore[index]
    (item,) = set(re.findall(r"\w+", items[1])) - set(re.findall(r"\w+", items[0]))
    head = removed[0].split("= [")[0]
    here = re.search(re.escape(head) + r"= \[([^\]]*)\];", before)
    assert here, f"{row.path} has no line {removed[0]!r}"
    assert before[here.start() :].startswith(removed[0]) or item_list_grew(here[1], items[0]), removed[0]
    return before.replace(here[0], f"{head}= [{', '.join(filter(None, [here[1], item]))}];")


def item_list_grew(now: str, then: str) -> bool:
    """Whether an earlier example has added to the list already."""
    return now.startswith(then)


def _write(path: Path, content: bytes) -> None:
    """Writes what is not there yet: a file that stays the same is not built again."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _take_crates_of_others() -> None:
    """Copies what `cargo test` has built of them. Cargo knows each by a hash of what it is and how it was built."""
    built, target = ROOT / "target" / "debug", WORK / "target" / "debug"
    if not (built / ".cargo-lock").exists():
        return
    with (built / ".cargo-lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as cargo does: nothing is half written
        # What says that a crate is built comes last.
        for folder in ("deps", "build", ".fingerprint"):
            for path in (built / folder).glob("*"):
                mine = target / folder / path.name
                if "meshpace" not in path.name and not mine.exists():
                    draft = WORK / "draft"
                    mine.parent.mkdir(parents=True, exist_ok=True)
                    if path.is_dir():
                        shutil.rmtree(draft, ignore_errors=True)
                        shutil.copytree(path, draft)
                    else:
                        shutil.copy2(path, draft)
                    draft.rename(mine)


@pytest.fixture(scope="module")
def tree() -> Path:
    """A copy of the tree with all the examples, its engine built."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    files = {name: (ROOT / name).read_bytes() for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    for step in STEPS:
        if step.kind == "new file":
            files[step.path] = step.text.encode()
        else:
            files[step.path] = _merged(files[step.path].decode(), step).encode()
    for name, content in files.items():
        _write(TREE / name, content)
    kept = {str(TREE / name) for name in files}
    for path in [path for path in TREE.rglob("*") if path.is_file() and str(path) not in kept]:
        if path.suffix != ".so" and "__pycache__" not in path.parts:
            path.unlink()
    # As tests are built: a fat engine would take longer to link than all examples take to run.
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(WORK / "target"),
        "CARGO_PROFILE_DEV_DEBUG": "false",
        **WHOLE,  # as the crates of others were built; what an incremental build keeps takes a fifth of this one
        "PYO3_PYTHON": sys.executable,
    }
    # Of all crates, examples included: so those of others have the features that they have in `cargo test`. Nothing is
    # optimised, since these tests simulate little: a run takes 0.20 s instead of 0.13, the build 20 s less.
    command = ["cargo", "build", "--quiet", "--lib", "--bins", "--examples"]
    profiles = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["profile"]
    optimised = [name for name in profiles["dev"]["package"] if name.startswith("meshpace-")]
    command += [f"--config=profile.dev.package.{name}.opt-level=0" for name in optimised]
    _take_crates_of_others()
    built = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[-4000:]
    shutil.copyfile(WORK / "target" / "debug" / "lib_engine.so", TREE / "python" / "meshpace" / "_engine.abi3.so")
    return TREE


def _meshpace(tree: Path, *arguments: str, store: Path | None = None) -> str:
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
    more = ["--store", str(store)] if store else []
    command = [sys.executable, "-m", "meshpace", *arguments, *more]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{command}\n{done.stderr[-3000:]}"
    return done.stdout


def _run(tree: Path, scheme: str, *settings: str, scenario: str = "demo-chain.toml") -> dict[str, Any]:
    measure = ("measure.duration=20s", "measure.warmup=5s")
    pairs = [part for setting in (*measure, *settings) for part in ("--set", setting)]
    output = _meshpace(tree, "run", f"scenarios/{scenario}", "--scheme", scheme, "--json", *pairs)
    result: dict[str, Any] = json.loads(output)
    return result


def _says(result: dict[str, Any], scheme: str, key: str) -> Any:
    return result["schemes"][scheme][key]


def test_the_window_part_acts(tree: Path) -> None:
    plain = _run(tree, "newreno")
    gentle = _run(tree, "newreno", "scheme.newreno.congestion=aimd", "scheme.newreno.aimd_decrease=0.95")
    assert _says(gentle, "newreno", "congestion") == "aimd"
    assert _says(gentle, "newreno", "aimd_increase") == 1.0
    assert plain["aggregate_goodput_bps"] != gentle["aggregate_goodput_bps"] > 1e5
    # As AIMD(1, 1/2) it is NewReno but for the rounding of the window.
    half = _run(tree, "newreno", "scheme.newreno.congestion=aimd")
    assert half["aggregate_goodput_bps"] == pytest.approx(plain["aggregate_goodput_bps"], rel=0.2)


def test_the_loss_recovery_acts_beside_any_window(tree: Path) -> None:
    for congestion in ("newreno", "cubic", "aimd"):
        chosen = (f"scheme.newreno.congestion={congestion}", "scheme.newreno.recovery=tolerant")
        runs = [_run(tree, "newreno", *chosen, f"scheme.newreno.recovery_tolerance={time}") for time in ("1ms", "30s")]
        assert [_says(run, "newreno", "recovery") for run in runs] == ["tolerant", "tolerant"]
        found = [run["flows"][0]["fast_retransmits"] for run in runs]
        assert found[0] > 0, congestion
        assert found[1] == 0, "the timer expires before it loses patience"
        assert all(run["aggregate_goodput_bps"] > 1e5 for run in runs)


def test_the_acknowledgement_policy_acts(tree: Path) -> None:
    plain, patient = _run(tree, "newreno"), _run(tree, "newreno", "scheme.newreno.ack_policy=patient")
    # Fewer acknowledgements on the way back: fewer exchanges a delivered byte.
    frames = [run["frames"] / run["aggregate_goodput_bps"] for run in (plain, patient)]
    assert frames[1] < 0.95 * frames[0], frames


def test_the_relay_overhears_counts_and_spaces(tree: Path, tmp_path: Path) -> None:
    courteous = ("scheme.newreno.relay=courteous",)
    run = _run(tree, "newreno", *courteous)
    slow = _run(tree, "newreno", *courteous, "scheme.newreno.courtesy=10ms")
    assert run["aggregate_goodput_bps"] > 1.5 * slow["aggregate_goodput_bps"] > 0
    capture = tmp_path / "air.pcapng"
    _meshpace(
        tree, "run", "scenarios/demo-chain.toml", "--scheme", "newreno", "--pcap", str(capture), "--json",
        "--set", "measure.duration=2s", "--set", "measure.warmup=1s", "--set", courteous[0],
    )  # fmt: skip
    # An option of IPv4: type 158, length 7, kind 253, four bytes (crates/network/src/watch/capture/shims.rs).
    assert bytes([158, 7, 253]) in capture.read_bytes()


def test_the_queue_discipline_acts(tree: Path) -> None:
    full = ("radio.queue=5", "flow.0.from=B", "flow.0.to=n0")
    plain, head = _run(tree, "newreno", *full), _run(tree, "newreno", *full, "scheme.newreno.relay=drop-head")
    drops = [sum(link["queue_drops"] for link in run["links"]) for run in (plain, head)]
    assert all(drops), drops
    assert drops[0] != drops[1], drops


def test_the_gateway_part_acts(tree: Path) -> None:
    down = ("flow.0.from=B", "flow.0.to=n0")
    run = _run(tree, "tcp-gap", *down, "scheme.tcp-gap.gateway=pacing-only")
    assert _says(run, "tcp-gap", "gateway") == "pacing-only"
    assert "gap_dupack" not in run["schemes"]["tcp-gap"]
    assert run["gateways"][0]["local_retransmits"] == 0
    assert run["aggregate_goodput_bps"] > 1e5


def test_the_hook_acts_at_queues_and_gateways(tree: Path) -> None:
    wait = "scheme.newreno.newest_ack_wait=30ms"
    plain = _run(tree, "newreno")
    relay = _run(tree, "newreno", "scheme.newreno.relay=newest-ack", wait)
    gateway = _run(tree, "newreno", "scheme.newreno.gateway=newest-ack", wait)
    assert _says(relay, "newreno", "newest_ack_wait") == 0.03
    # Fewer acknowledgements over the mesh: fewer exchanges a delivered byte. At the gateway they wait on the way in.
    frames = [run["frames"] / run["aggregate_goodput_bps"] for run in (plain, relay, gateway)]
    assert frames[1] < 0.95 * frames[0], frames
    assert frames[2] < 0.95 * frames[0], frames


def test_the_daemon_takes_the_hook(daemon: Path, tmp_path: Path) -> None:
    file = tmp_path / "meshpaced.toml"
    file.write_text('[gateway]\nhook = "newest-ack"\nnewest_ack_wait = "5ms"\n', encoding="utf-8")
    assert re.search(r'^hook = "newest-ack" +# line 2$', _check(daemon, file), re.MULTILINE)
    file.write_text('datapath = "ebpf"\n[gateway]\nhook = "newest-ack"\n', encoding="utf-8")
    assert "no hook runs in the kernel" in _check(daemon, file, status=2)
    file.write_text('[gateway]\nnewest_ack_wait = "5ms"\n', encoding="utf-8")
    assert 'newest_ack_wait only with gateway.hook = "newest-ack"' in _check(daemon, file, status=2)


def test_the_flow_law_acts(tree: Path) -> None:
    down = ("flow.0.from=B", "flow.0.to=n0")
    plain, stretch = (
        _run(tree, "tcp-gap-nogc", *down),
        _run(tree, "tcp-gap-nogc", *down, "scheme.tcp-gap-nogc.gateway=stretch"),
    )
    assert _says(stretch, "tcp-gap-nogc", "stretch_most") == 1.5
    assert "stretch_most" not in plain["schemes"]["tcp-gap-nogc"]
    assert plain["aggregate_goodput_bps"] != stretch["aggregate_goodput_bps"] > 1e5
    # What it lets wait is another queue on the way.
    patient = _run(
        tree, "tcp-gap-nogc", *down, "scheme.tcp-gap-nogc.gateway=stretch", "scheme.tcp-gap-nogc.stretch_most=8"
    )
    assert patient["aggregate_goodput_bps"] != stretch["aggregate_goodput_bps"] > 1e5
    controlled = _run(tree, "tcp-gap", *down, "scheme.tcp-gap.gateway=stretch+goodput-control")
    assert _says(controlled, "tcp-gap", "gc_threshold") > 0


@pytest.fixture(scope="module")
def daemon(tree: Path) -> Path:
    """The daemon with all the examples."""
    return tree.parent / "target" / "debug" / "meshpaced"


def test_the_daemon_takes_the_flow_law(daemon: Path, tmp_path: Path) -> None:
    file = tmp_path / "meshpaced.toml"
    file.write_text('[law]\nflow_law = "stretch"\nstretch_most = 2.0\n', encoding="utf-8")
    in_force = _check(daemon, file)
    assert re.search(r'^flow_law = "stretch" +# line 2$', in_force, re.MULTILINE), in_force
    assert re.search(r"^stretch_most = 2\.0 +# line 3$", in_force, re.MULTILINE), in_force
    file.write_text('[law]\nflow_law = "stretch"\nalpha = 0.5\n', encoding="utf-8")
    assert 'law.alpha: found 0.5; allowed: alpha only with law.flow_law = "khd"' in _check(daemon, file, status=2)
    file.write_text("[law]\nstretch_most = 2.0\n", encoding="utf-8")
    assert 'allowed: stretch_most only with law.flow_law = "stretch"' in _check(daemon, file, status=2)


live = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("nft") is None, reason="needs root and nftables: network namespaces, rules"
)


@live
@pytest.mark.parametrize("hook", ["none", "newest-ack"])
def test_the_hook_acts_on_live_traffic(daemon: Path, tmp_path: Path, hook: str) -> None:
    """Of a download's acknowledgements, those that went into the gateway and those that came out of it."""
    wait = 'newest_ack_wait = "50ms"\n' if hook == "newest-ack" else ""
    with Net(tmp_path) as net:
        with Daemon(net, more=f'[gateway]\nhook = "{hook}"\n{wait}', program=daemon):
            done = transfer(net, 4, True, 1, 400_000)
            assert done.intact
        net.stop_relay()
        into, out_of = (
            sum(seen.source == CLIENT[4] and seen.flags == ACK and not seen.payload for seen in net.log(link))
            for link in ("mesh", "wired")
        )
    assert into > 50, into
    if hook == "none":
        assert out_of == into
    else:
        assert 2 < out_of < 0.7 * into, (out_of, into)


@live
def test_the_flow_law_acts_on_live_traffic(daemon: Path, tmp_path: Path) -> None:
    def law(most: float) -> str:
        return f'[law]\nflow_law = "stretch"\nstretch_most = {most}\n[gateway]\ngoodput_control = false\n'

    with Net(tmp_path) as net, Daemon(net, more=law(100), program=daemon) as gateway, Bulk(net) as bulk:
        name = bulk.ends.ports[0]
        wait_for(lambda: 0 < (gateway.flow(name)["interval_s"] or 0) < 0.002)  # from the 20 ms at which it starts
        fast = bulk.moves(1)
        gateway.write("pace", more=law(1))
        gateway.reload()
        wait_for(lambda: gateway.flow(name)["interval_s"] > 0.03)  # no round trip is shorter than the shortest
        assert bulk.moves(1) < fast / 3, "and it is paced so"


def _check(daemon: Path, file: Path, status: int = 0) -> str:
    """What the daemon says of a configuration."""
    command = [str(daemon), "check", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


PAIR = """
[measure]
duration = "3s"
warmup = "1s"

[radio]
standard = "802.11g-pairs"
rts = "never"

[[node]]
id = "a"

[[node]]
id = "b"

[[radio_link]]
from = "a"
to = "b"
loss = 0.3

[routing]
protocol = "static"

[[flow]]
from = "a"
to = "b"
app = "cbr"
rate = "40Mbps"
packet = 1000
"""


def _frames(capture: bytes) -> list[tuple[bool, bytes]]:
    """The 802.11 frames of a capture, and whether radiotap tells of several packets a frame."""
    found, at = [], 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if kind == 6:
            size = struct.unpack_from("<I", capture, at + 20)[0]
            data = capture[at + 28 : at + 28 + size]
            header, present = struct.unpack_from("<2xHI", data)
            found.append((bool(present >> 20 & 1), data[header:]))
        at += length
    return found


def test_the_standard_acts(tree: Path) -> None:
    one, two = (_run(tree, "newreno", f"radio.standard={word}", "topology.hops=1", "flow.0.to=n1", "radio.rts=never")
                for word in ("802.11g", "802.11g-pairs"))  # fmt: skip
    # Fewer accesses for the same bytes.
    frames = [run["frames"] / run["aggregate_goodput_bps"] for run in (one, two)]
    assert frames[1] < 0.8 * frames[0], frames
    # Too short for two packets: what 802.11g does.
    short = _run(
        tree, "newreno", "radio.standard=802.11g-pairs", "radio.pair=100", "topology.hops=1", "flow.0.to=n1",
        "radio.rts=never",
    )  # fmt: skip
    assert short["aggregate_goodput_bps"] == one["aggregate_goodput_bps"]


def test_packets_of_a_frame_fare_by_themselves(tree: Path, tmp_path: Path) -> None:
    scenario, capture = tmp_path / "pair.toml", tmp_path / "air.pcapng"
    scenario.write_text(PAIR, encoding="utf-8")
    run = json.loads(_meshpace(tree, "run", str(scenario), "--pcap", str(capture), "--json"))
    (flow,) = run["flows"]
    assert flow["goodput_bps"] > 5e6
    frames = _frames(capture.read_bytes())
    told = [frame[20] for _, frame in frames if frame[0] == 0x94]
    # Of 49 % of the pairs both arrive, of 42 % one does: block acknowledgements, compressed, with one bit or two. One
    # that answers a request tells of none, where neither came, or of others between the two as well.
    one, both = (sum(bin(bits).count("1") == count for bits in told) for count in (1, 2))
    assert len(told) >= one + both > 0.85 * len(told) > 100
    assert 0.6 < one / both < 1.2, (one, both)
    data = [(several, bool(frame[1] & 0x08)) for several, frame in frames if frame[0] == 0x08]
    assert {(True, False), (True, True)} <= set(data), "new packets, and what goes again beside them"


def test_another_standard_refuses_its_key(tree: Path) -> None:
    schema = json.loads(_meshpace(tree, "schema"))
    radio = schema["properties"]["radio"]["properties"]
    assert "802.11g-pairs" in radio["standard"]["enum"]
    assert "Only with standard = 802.11g-pairs" in radio["pair"]["description"]
    command = [sys.executable, "-m", "meshpace", "check", "scenarios/demo-chain.toml", "--set", "radio.pair=100"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
    refused = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "radio.pair" in refused.stderr + refused.stdout


def test_the_routing_protocol_finds_ways_over_the_air(tree: Path, tmp_path: Path) -> None:
    vector = ("routing.protocol=vector", "flow.0.start=8s", "measure.warmup=10s", "measure.duration=30s")
    run = _run(tree, "newreno", *vector)
    assert run["flows"][0]["hops"] == 4
    assert run["aggregate_goodput_bps"] > 1e5
    # Five nodes tell their vectors every 1.5 to 2 s over 20 s.
    assert 50 <= run["routing"]["control_packets"] <= 70
    assert run["routing"]["route_failures"] == 0, "acknowledged packets are signs of life"
    rare = _run(tree, "newreno", *vector, "routing.vector_period=4s")
    assert rare["routing"]["control_packets"] < 0.6 * run["routing"]["control_packets"]
    schema = json.loads(_meshpace(tree, "schema"))["properties"]["routing"]["properties"]
    assert schema["protocol"]["enum"][-1] == "vector"
    assert "Only with protocol = static, vector." in schema["metric"]["description"]
    capture = tmp_path / "air.pcapng"
    settings = [part for setting in vector for part in ("--set", setting)]
    _meshpace(tree, "run", "scenarios/demo-chain.toml", "--pcap", str(capture), "--json", *settings)
    assert (50_002).to_bytes(2, "big") * 2 in capture.read_bytes(), "both ports of its datagrams"


def test_the_routing_protocol_is_a_condition_of_studies(tree: Path) -> None:
    script = "from meshpace.study.model import Condition as C; c = C('vector', 'sinr'); print(c.name, c.settings)"
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    settings = "(('routing.protocol', 'vector'), ('radio.reception', 'sinr'))"
    assert done.stdout.strip() == f"distance vectors, SINR {settings}"


def test_the_study_and_its_claim_are_there(tree: Path, tmp_path: Path) -> None:
    verdicts = tmp_path / "verdicts.md"
    store = tmp_path / "store"
    _meshpace(tree, "study", "run", "own-decrease", "--quick", "--output", str(verdicts), store=store)
    text = verdicts.read_text(encoding="utf-8")
    assert "AIMD delivers something" in text
    assert "holds" in text


def test_the_scenario_key_acts(tree: Path) -> None:
    assert _run(tree, "newreno")["flows"][0]["hops"] == 4
    assert _run(tree, "newreno", "topology.squeeze=0.5")["flows"][0]["hops"] == 2
    schema = json.loads(_meshpace(tree, "schema"))
    assert schema["properties"]["topology"]["properties"]["squeeze"]["maximum"] == 1.0
