"""`meshpaced host` under unmodified applications: the kernel's TCP, a mesh of delays, a gateway that writes options.

Needs Linux 6.11 or newer.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from clock import EXACT, bound
from daemon import Daemon as Gateway
from host_place import (
    HOPS,
    OVERHEAD,
    PORT,
    RATE,
    SINK,
    UNLIMITED,
    Namespaces,
    Place,
    Source,
    binary,
    goodput,
    law,
    poll,
)
from net import SERVER, Delays, Net
from option_relay import MESH, SERVER4, SERVER6, Log, Mesh


@pytest.fixture(scope="module")
def mesh() -> Iterator[Mesh]:
    with Mesh(f"host-{os.getpid()}") as made:
        yield made


@pytest.fixture
def place(mesh: Mesh) -> Iterator[Place]:
    if not shutil.which("bpftool"):
        pytest.skip("bpftool is not installed")
    mesh.plan()
    with ExitStack() as stack:
        # Not below pytest's folder, which every pytest that starts beside this one closes to other users again.
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mp-host-"))
        yield Place(mesh, Path(folder), stack)
    mesh.log()


@pytest.fixture
def sink(place: Place) -> None:
    process = place.inside(place.mesh.server, "python3", "-c", SINK, str(PORT), stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


@pytest.mark.usefixtures("sink")
def test_samples_and_limit_are_the_laws(place: Place) -> None:
    daemon = place.daemon()
    mesh = place.mesh
    mesh.log()
    source = Source(place)
    source.tell("go")
    poll(lambda: daemon.flows()[0]["samples"] >= 100, "100 samples")
    flow, log = daemon.flows()[0], mesh.log()
    truth = [(rtt - ms / 1000, wireless, ms) for _, port, rtt, wireless, ms in log.samples if port == source.port]
    # A sample for each option; the relay's log was asked for a moment later.
    counters = daemon.status()["counters"]
    assert counters["opaque"] == 0
    assert 0 <= counters["options"] - counters["samples"] <= 1 + counters["unpaired"]
    assert counters["unpaired"] <= 2
    assert flow["samples_discarded"] == 0
    assert flow["samples"] <= len(truth)
    # An option that met no departure is no sample: the last sample's option may stand so many places further on.
    latest = truth[flow["samples"] - 1 : flow["samples"] + counters["unpaired"]]
    truth = truth[: flow["samples"]]
    assert flow["gateway"] == "seen"
    assert flow["hops"] == HOPS
    assert flow["mss_bytes"] == 1448
    # Within a millisecond of the truth: half of one is the option's rounding.
    assert any(
        abs(flow["rtt_wireless_s"] - wireless) < bound(0.001, busy=0.020) and round(1000 * flow["rtt_wired_s"]) == wired
        for _, wireless, wired in latest
    ), (flow, counters, latest)
    expected = law([sample for sample, _, _ in truth], 1448)
    print(f"limit {flow['limit_bps']}, formulas on what the relay timed {expected:.0f}")
    assert flow["limit_bps"] == pytest.approx(expected, rel=bound(0.02, busy=0.2))
    # One acknowledgement later the socket has it; the next may have changed it again.
    if EXACT:
        assert flow["in_force_bps"] == pytest.approx(flow["limit_bps"], rel=0.05)
    poll(lambda: any(is_in_force(flow) for flow in daemon.flows()), "the limit is in force")
    status = daemon.status()
    assert status["counters"]["malformed"] == status["counters"]["lost"] == status["counters"]["refused"] == 0
    print("delay of the loop:", status["delay"])
    # There before the next acknowledgement comes.
    assert not EXACT or status["delay"]["p50_s"] < flow["interval_s"]
    source.end()


def is_in_force(flow: dict[str, Any]) -> bool:
    """Whether the socket has the limit that the law told last, or nearly."""
    told, has = flow["limit_bps"], flow["in_force_bps"]
    return told is not None and has is not None and abs(has / told - 1) < 0.05


@pytest.mark.usefixtures("sink")
def test_throughput_is_what_is_in_force(place: Place) -> None:
    daemon = place.daemon()
    source = Source(place)
    source.tell("go")
    poll(lambda: daemon.flows()[0]["samples"] >= 60, "the history's 50 samples")
    place.mesh.log()
    in_force, start = [], time.monotonic()
    while time.monotonic() < start + 6:
        in_force.append(daemon.flows()[0]["in_force_bps"])
        time.sleep(0.1)
    got = 8 * sum(payload for _, _, payload in place.mesh.log().departures) / (time.monotonic() - start)
    print(f"in force {statistics.mean(in_force):.0f} bit/s on the mean, measured {got:.0f}")
    assert got == pytest.approx(statistics.mean(in_force), rel=bound(0.03, busy=0.3))
    source.end()


def burst(log: Log, port: int) -> float:
    """Mean number of packets that leave within half a millisecond of the one before."""
    times = [at for at, source, _ in log.departures if source == port]
    bursts = 1 + sum(later - earlier > 0.0005 for earlier, later in itertools.pairwise(times))
    return len(times) / bursts


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.usefixtures("sink")
def test_bursts(place: Place, single: bool) -> None:
    def segments() -> int:
        words = ["ip", "-n", place.mesh.host, "-j", "-d", "link", "show", MESH]
        shown = subprocess.run(words, capture_output=True, check=True).stdout
        return int(json.loads(shown)[0]["gso_max_segs"])

    before = segments()
    assert before > 1
    # One hop of 11 Mbit/s and 1 ms: 4 Mbit/s, about 3 ms a packet, a round trip shorter than ten of them.
    place.mesh.plan(wireless=0.0025, wired=0.001)
    daemon = place.daemon(*(("--one-segment-bursts", MESH) if single else ()), "--hops", "1", "--rate", "11Mbps")
    assert segments() == (1 if single else before)
    source = Source(place)
    source.tell("go")
    poll(lambda: daemon.flows()[0]["samples"] >= 60, "samples")
    place.mesh.log()
    time.sleep(2)
    packets = burst(place.mesh.log(), source.port)
    print(f"gso_max_segs {segments()}: {packets:.2f} packets a burst at {daemon.flows()[0]['in_force_bps']} bit/s")
    if EXACT:
        assert packets < 1.1 if single else packets > 1.5
    source.end()
    daemon.stop()
    assert segments() == before


@pytest.mark.usefixtures("sink")
def test_without_a_gateway_nothing_is_limited(place: Place) -> None:
    place.mesh.plan(option="absent", wireless=0.004, wired=0.004)
    daemon = place.daemon()
    source = Source(place)
    # The interval before the first sample, 0.05 s a segment (schemes.md 1.5), until the third timed acknowledgement.
    source.tell("100")
    poll(lambda: daemon.flows()[0]["in_force_bps"] is not None or daemon.flows()[0]["rtt_s"], "a first sample")
    source.tell("go")
    flow = poll(lambda: [flow for flow in daemon.flows() if flow["gateway"] == "absent"], "no gateway")[0]
    assert flow["limit_bps"] is None
    assert flow["interval_s"] is None
    assert goodput(place.mesh, 1) > 10e6
    assert source.limit() == UNLIMITED
    source.end()


@pytest.mark.usefixtures("sink")
def test_the_interval_before_the_first_sample(place: Place) -> None:
    place.mesh.plan(option="absent", wireless=0.004, wired=0.004)
    daemon = place.daemon()
    source = Source(place)
    first = pytest.approx(8 * 1448 / 0.05, rel=0.001)
    for _ in range(2):
        source.tell("100")
        poll(lambda: daemon.flows()[0]["in_force_bps"] == first, "the interval before the first sample")
        time.sleep(0.5)  # one timed acknowledgement a time
    # The third timed acknowledgement takes the limit away, before the next segment at the latest.
    source.tell("100")
    poll(lambda: daemon.flows()[0]["limit_bps"] is None, "three acknowledgements")
    source.tell("100")
    poll(lambda: daemon.flows()[0]["in_force_bps"] is None, "the limit is lifted")
    source.end()


@pytest.mark.usefixtures("sink")
def test_nonsense_is_bounded(place: Place) -> None:
    place.mesh.plan(option="nonsense", wireless=0.010, wired=0.005)
    daemon = place.daemon()
    source = Source(place)
    source.tell("go")
    # Four transmissions of the segment at the least, 0.5 s times (1 + 2 cov) at the most.
    ceiling = 8 * 1448 / (4 * 8 * (1448 + OVERHEAD) / RATE)
    floor = 8 * 1448 / (0.5 * (1 + 2 * 50**0.5))
    seen = []
    end = time.monotonic() + 6
    while time.monotonic() < end:
        seen += [flow["in_force_bps"] for flow in daemon.flows() if flow["in_force_bps"] is not None]
        time.sleep(0.05)
    counters = daemon.status()["counters"]
    print(f"limits {min(seen)} to {max(seen)}, allowed {floor:.0f} to {ceiling:.0f}; {counters}")
    assert floor <= min(seen)
    assert max(seen) <= ceiling
    assert counters["malformed"] > 0
    assert daemon.flows()[0]["samples_discarded"] > 0
    place.mesh.plan(option="honest", wireless=0.001, wired=0.001)
    source.end()


@pytest.mark.usefixtures("sink")
def test_a_stop_lifts_limits_of_idle_connections_too_and_leaves_nothing(place: Place) -> None:
    daemon = place.daemon()
    busy, idle = Source(place), Source(place, SERVER6)
    for source in (busy, idle):
        source.tell("go")
    poll(lambda: all(flow["samples"] >= 10 for flow in daemon.flows()), "samples")
    idle.tell("pause")
    assert idle.answer("paused") == ""
    poll(lambda: daemon.flows(SERVER6)[0]["idle_s"] > 0.5, "an idle connection")
    assert busy.limit() < UNLIMITED
    assert idle.limit() < UNLIMITED
    assert place.attached() == ["meshpace_host"]
    assert len(place.pins()) == 1
    start = time.monotonic()
    said = daemon.stop()
    print(f"stopped in {time.monotonic() - start:.2f} s: {said.strip()}")
    assert busy.limit() == idle.limit() == UNLIMITED
    assert place.attached() == place.pins() == []
    assert not place.socket.exists()
    assert goodput(place.mesh, 1) > 2e6
    busy.end()
    idle.end()


@pytest.mark.usefixtures("sink")
def test_a_kill_lifts_limits_by_the_watchdog_and_a_restart_goes_on(place: Place) -> None:
    daemon = place.daemon(watchdog=2)
    source = Source(place)
    source.tell("go")
    poll(lambda: daemon.flows()[0]["samples"] >= 20, "samples")
    killed = time.monotonic()
    daemon.stop(signal.SIGKILL)
    assert source.limit() < UNLIMITED
    assert place.attached() == ["meshpace_host"]
    poll(lambda: source.limit() == UNLIMITED, "the watchdog")
    print(f"lifted {time.monotonic() - killed:.2f} s after the kill")
    # Five signs of life in two seconds: the last one was at most 0.4 s old, and the next ACK is a round trip away.
    assert not EXACT or 1.4 < time.monotonic() - killed < 2.5
    assert goodput(place.mesh, 1) > 2e6
    again = place.daemon()
    flow = poll(lambda: [flow for flow in again.flows() if flow["samples"] >= 20], "the old connection's samples")[0]
    assert flow["adopted"]
    assert source.limit() < UNLIMITED
    assert place.attached() == ["meshpace_host"], "the killed one's program is gone"
    source.end()
    said = again.stop()
    assert "detached" in said


@pytest.mark.usefixtures("sink")
def test_a_stopped_daemon_is_as_good_as_dead_and_wakes_up_again(place: Place) -> None:
    daemon = place.daemon(watchdog=1)
    source = Source(place)
    source.tell("go")
    poll(lambda: daemon.flows()[0]["samples"] >= 20, "samples")
    daemon.process.send_signal(signal.SIGSTOP)
    poll(lambda: source.limit() == UNLIMITED, "the watchdog")
    daemon.process.send_signal(signal.SIGCONT)
    poll(lambda: source.limit() < UNLIMITED, "a limit again")
    assert daemon.status()["counters"]["expired"] > 0
    source.end()


@pytest.mark.takes(39)
@pytest.mark.usefixtures("sink")
def test_many_applications_both_families_and_those_outside(place: Place) -> None:
    daemon = place.daemon()
    outside = Source(place, cgroup=False)
    sources = [
        Source(place, host, congestion) for host in (SERVER4, SERVER6) for congestion in ("reno", "cubic", "bbr")
    ]
    for source in sources:
        source.tell("go")
    poll(lambda: len(daemon.flows()) == 6, "six connections")
    poll(lambda: all(flow["samples"] >= 60 for flow in daemon.flows()), "samples of all six")
    place.mesh.log()
    start = time.monotonic()
    time.sleep(5)
    departures = place.mesh.log().departures
    seconds = time.monotonic() - start
    ends = {int(flow["local"].rsplit(":", 1)[1]): flow for flow in daemon.flows()}
    assert set(ends) == {source.port for source in sources}
    assert sorted({flow["remote"] for flow in ends.values()}) == [f"{SERVER4}:{PORT}", f"[{SERVER6}]:{PORT}"]
    for port, flow in ends.items():
        got = 8 * sum(payload for _, source, payload in departures if source == port) / seconds
        print(f"{flow['remote']}: limit {flow['limit_bps']}, measured {got:.0f}")
        assert got == pytest.approx(flow["limit_bps"], rel=bound(0.1, busy=0.5))
    assert outside.limit() == UNLIMITED
    outside.end()
    for source in sources:
        source.end()
    poll(lambda: not daemon.flows(), "closed connections are forgotten")
    counters = daemon.status()["counters"]
    assert counters["connections"] == 6
    assert counters["lost"] == counters["refused"] == counters["no_place"] == 0


def test_an_iperf3_of_the_distribution(place: Place) -> None:
    if not shutil.which("iperf3"):
        pytest.skip("iperf3 is not installed")
    daemon = place.daemon()
    server = place.inside(place.mesh.server, "iperf3", "-s", "-1", stdout=subprocess.PIPE)
    poll(lambda: b":1451 " in listening(server.pid), "iperf3 listens")
    words = ("iperf3", "-c", SERVER4, "-t", "8", "-P", "3", "-C", "reno", "-J", "-O", "2")
    client = place.inside(place.mesh.host, *words, cgroup=True, stdout=subprocess.PIPE)
    poll(lambda: sum(flow["samples"] >= 60 for flow in daemon.flows()) == 3, "three connections")
    limits = [flow["limit_bps"] for flow in daemon.flows() if flow["samples"] >= 60]
    out, _ = client.communicate(timeout=120)
    got = json.loads(out)["end"]["sum_received"]["bits_per_second"]
    print(f"limits {limits}, iperf3 measured {got:.0f}")
    assert got == pytest.approx(sum(limits), rel=bound(0.15, busy=0.5))


def listening(pid: int) -> bytes:
    """The namespace's listening sockets, ports in hexadecimal."""
    return Path(f"/proc/{pid}/net/tcp").read_bytes() + Path(f"/proc/{pid}/net/tcp6").read_bytes()


@pytest.mark.usefixtures("sink")
def test_an_applications_own_limit_stands(place: Place) -> None:
    daemon = place.daemon()
    own = 10_000
    source = Source(place, own=own)
    source.tell("50000")
    poll(lambda: daemon.flows()[0]["samples"] >= 5, "samples")
    assert daemon.flows()[0]["limit_bps"] > 8 * own
    assert source.limit() == own
    daemon.stop()
    assert source.limit() == own
    source.end()


@pytest.mark.usefixtures("sink")
def test_the_table_is_bounded(place: Place) -> None:
    daemon = place.daemon("--connections", "2")
    sources = [Source(place) for _ in range(4)]
    counters = daemon.status()["counters"]
    assert (counters["connections"], counters["no_place"]) == (2, 2)
    assert len(daemon.flows()) == 2
    for source in sources:
        source.end()
    poll(lambda: not daemon.flows(), "places are free again")
    Source(place).end()
    assert daemon.status()["counters"]["connections"] == 3


@pytest.mark.usefixtures("sink")
def test_three_capabilities_are_enough(place: Place) -> None:
    user, capabilities = 65_534, "+bpf,+net_admin,+perfmon"
    for path in (place.bpffs, place.folder):
        os.chown(path, user, user)
    prefix = (
        "setpriv",
        f"--reuid={user}",
        f"--regid={user}",
        "--clear-groups",
        "--bounding-set",
        f"-all,{capabilities}",
    )
    prefix += ("--inh-caps", f"-all,{capabilities}", "--ambient-caps", f"-all,{capabilities}")
    try:
        daemon = place.daemon(prefix=prefix)
        source = Source(place)
        source.tell("go")
        poll(lambda: daemon.flows()[0]["samples"] >= 5, "samples")
        status = Path(f"/proc/{daemon.process.pid}/status").read_text(encoding="utf-8")
        # linux/capability.h: CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF.
        assert f"CapEff:\t{1 << 12 | 1 << 38 | 1 << 39:016x}\n" in status, "and it has no others"
        assert f"Uid:\t{user}\t" in status
        source.end()
        daemon.stop()
    finally:
        os.chown(place.bpffs, 0, 0)


@pytest.mark.usefixtures("sink")
def test_without_the_kernels_types(place: Place) -> None:
    hide = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh")
    daemon = place.daemon(prefix=hide)
    source = Source(place)
    source.tell("go")
    poll(lambda: daemon.flows()[0]["samples"] >= 5, "samples")
    # No iterator over sockets: limits are lifted at the next acknowledgement, for which a stop waits.
    daemon.stop()
    assert source.limit() == UNLIMITED
    source.end()


def test_one_program_a_control_group(place: Place) -> None:
    place.daemon()
    where = ["--cgroup", str(place.cgroup), "--bpffs", str(place.bpffs), "--socket", str(place.folder / "other")]
    second = subprocess.run([binary(), "host", *where], capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert "another process has locked this control group" in second.stderr


def test_undo_removes_what_a_kill_left(place: Place) -> None:
    daemon = place.daemon("--one-segment-bursts", MESH)
    daemon.stop(signal.SIGKILL)
    where = ("--cgroup", str(place.cgroup), "--bpffs", str(place.bpffs), "--socket", str(place.socket))
    expected = [
        "program: detached; gso_max_segs: put back\n",
        "program: nothing left behind; gso_max_segs: nothing left behind\n",
    ]
    for said in expected:
        undo = place.inside(place.mesh.host, binary(), "host", "--undo", *where, stdout=subprocess.PIPE)
        assert undo.communicate(timeout=60)[0] == said
    assert place.attached() == []


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--cgroup", "/usr"], 2, "/usr: not a control group of version 2"),
        (["--bpffs", "/tmp"], 1, "is a BPF file system mounted there?"),
        (["--one-segment-bursts", "mp-none"], 2, "interface mp-none"),
        (["--hops", "0"], 2, "1..=255"),
        (["--rate", "fast"], 2, "such as 11Mbps"),
    ],
)
def test_mistakes_are_named(place: Place, arguments: list[str], status: int, said: str) -> None:
    where = {"--cgroup": str(place.cgroup), "--bpffs": str(place.bpffs), "--socket": str(place.socket)}
    where.update(zip(arguments[::2], arguments[1::2], strict=True))
    words = [word for pair in where.items() for word in pair]
    done = subprocess.run([binary(), "host", *words], capture_output=True, text=True, check=False)
    assert done.returncode == status, done
    assert said in done.stderr
    assert place.attached() == []
    assert not place.socket.exists()


@pytest.mark.parametrize("version", [4, 6])
def test_with_the_real_gateway(tmp_path: Path, version: int) -> None:
    """Up through `meshpaced gateway`: 20 ms each way in the mesh, 10 ms behind it."""
    with ExitStack() as stack:
        net = stack.enter_context(Net(tmp_path, Delays(), room="b"))
        stack.enter_context(Gateway(net))
        place = Place(Namespaces(net.cli, net.srv), tmp_path, stack)
        sink = place.inside(net.srv, "python3", "-c", SINK, str(PORT), stdout=subprocess.PIPE)
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        daemon = place.daemon()
        source = Source(place, SERVER[version])
        source.tell("go")
        flow = poll(lambda: [flow for flow in daemon.flows() if flow["samples"] >= 60], "samples")[0]
        print(flow, daemon.status()["counters"])
        assert flow["gateway"] == "seen"
        # Late packets of a busy machine make round trips longer, never shorter than the delays.
        assert 0.0395 <= flow["rtt_wireless_s"] < bound(0.06, busy=0.12)
        # The receiver's delayed ACK (40 ms and more) is in the whole round trip and in this part alike, and cancels.
        assert 0.0195 <= flow["rtt_wired_s"] < bound(0.25, busy=0.5)
        # What the law says of round trips that do not vary (schemes.md 1.4), or less.
        assert bound(0.6, busy=0.1) < flow["limit_bps"] / law([0.040], flow["mss_bytes"]) < 1.01
        source.end()
