"""What must not break a connection: the daemon's death, sleep and return, full queues, reloads, interfaces, clocks."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from clock import PATIENCE_S, bound
from daemon import Daemon
from net import MESHPACED, Net, run, wait_for
from traffic import Bulk, Transfers

# A queue of the kernel's that bursts fill at once.
SMALL = "[gateway]\ngap_held_max = 12\n[nfqueue]\nlength = 16\n"
BUSY = {"rate": "54Mbps", "more": "[gateway]\ngoodput_control = false\n"}


@pytest.fixture
def daemon(net: Net) -> Iterator[Daemon]:
    made = Daemon(net, "pace", **BUSY).start()
    yield made
    if made.process is not None:
        made.process.kill()
        made.process.wait()


def holding(daemon: Daemon, packets: int = 20) -> None:
    """Waits until it holds that many packets."""
    wait_for(lambda: daemon.status()["traffic"]["held"] >= packets)


def test_kill_9_under_load_and_a_restart_break_no_connection(net: Net, daemon: Daemon) -> None:
    with ExitStack() as stack:
        bulks = [stack.enter_context(Bulk(net, version, down=down)) for version in (4, 6) for down in (True, False)]
        holding(daemon)
        daemon.kill()
        # The rules are still there, and let everything by.
        assert "meshpaced" in run("ip", "netns", "exec", net.gw, "iptables-save", check=False) + run(
            "ip", "netns", "exec", net.gw, "nft", "list", "ruleset"
        )
        dip = bound(1.5, busy=PATIENCE_S)
        then = [bulk.received for bulk in bulks]
        wait_for(lambda: all(bulk.received > was for bulk, was in zip(bulks, then, strict=True)), seconds=dip)
        daemon.start()
        wait_for(lambda: sum(flow["interval_s"] is not None for flow in daemon.flows()) >= 2)
        holding(daemon, 5)
        # What the killed daemon held is lost, and comes again as the senders find out.
        before = [bulk.received for bulk in bulks]
        wait_for(lambda: all(bulk.received > then for bulk, then in zip(bulks, before, strict=True)))
    daemon.stop()


def test_a_daemon_that_sleeps_lets_packets_pass_and_goes_on_when_woken(net: Net) -> None:
    # What a stopped daemon was sent waits in the queue; when that is full, fail-open lets everything by.
    with Daemon(net, "pace", rate="54Mbps", more=SMALL) as daemon, Bulk(net, down=False) as bulk:
        time.sleep(1)
        daemon.signal(signal.SIGSTOP)
        time.sleep(1)
        assert bulk.goes_on(), "while the daemon sleeps"
        daemon.signal(signal.SIGCONT)
        wait_for(daemon.serves)
        assert bulk.goes_on()


def test_a_queue_that_overflows_loses_no_connection(net: Net) -> None:
    with Daemon(net, "pace", more=SMALL) as daemon:
        Transfers(net, [(4, True), (6, True), (4, False)] * 4, 60_000).finish()
        status = daemon.status()
    assert status["traffic"]["held"] <= 12, "a quarter of the queue stays free"
    assert status["traffic"]["failed"] == 0


def test_sigterm_releases_what_is_held_in_order_and_removes_the_rules(net: Net) -> None:
    # Without CoDel, which drops one of those that wait for more than 100 ms: what is sent again comes late.
    keys = {**BUSY, "more": f'{BUSY["more"]}gap_queue = "fifo"\n'}
    with Daemon(net, "pace", **keys) as daemon, Bulk(net) as bulk:
        holding(daemon)
        started = time.monotonic()
        daemon.stop()
        assert time.monotonic() - started < bound(10, busy=PATIENCE_S)
        rules = run("ip", "netns", "exec", net.gw, "nft", "list", "ruleset")
        assert "queue" not in rules
        assert "meshpaced" not in run("ip", "netns", "exec", net.gw, "iptables-legacy-save", check=False)
        assert bulk.goes_on()
        port, client_port = bulk.ends.ports
    sent = [seen.seq for seen in net.log("mesh") if (seen.sport, seen.dport) == (port, client_port) and seen.payload]
    # In order: what was overtaken, or lost and sent again, passes for the first time behind what follows it. What
    # passes once more is a retransmission of a sender whose timer did not wait for what was held.
    late, passed, last = 0, {sent[0]}, sent[0]
    for seq in sent[1:]:
        late += seq not in passed and (seq - last) % 2**32 >= 2**31
        passed.add(seq)
        last = seq if (seq - last) % 2**32 < 2**31 else last
    assert late == 0, f"{late} packets came late among {len(sent)}"


def test_reloads_under_load_drop_neither_flows_nor_packets(net: Net, daemon: Daemon) -> None:
    with Bulk(net) as bulk:
        holding(daemon)
        name = daemon.flow(*bulk.ends.ports)["flow"]
        before = daemon.ask("flow", flow=name)["flow"]["flow"]
        for number in range(10):
            daemon.write("pace", top=f"ab_seed = {number}")
            daemon.reload()
        time.sleep(0.2)  # what clients are told is up to a tenth of a second old
        after = daemon.ask("flow", flow=name)["flow"]["flow"]
        assert after["samples"] >= before["samples"] > 0
        assert after["age_s"] > before["age_s"]
        assert after["queued"] > 0, "and is still paced"
        assert after["drops"] == before["drops"]
        daemon.file.write_text("mode = 7\n", encoding="utf-8")
        refused = daemon.ask("reload")
        assert "error" in refused, refused
        assert str(daemon.file) in refused["error"]["message"]
        assert daemon.status()["mode"] == "pace"
        daemon.write("pace")
        daemon.signal(signal.SIGHUP)
        wait_for(lambda: "in force" in daemon.said())
        assert bulk.goes_on()
        assert daemon.status()["traffic"]["failed"] == 0


@pytest.mark.parametrize("device", ["mesh0", "up0"])
def test_an_interface_may_go_down_and_come_back(net: Net, daemon: Daemon, device: str) -> None:
    with Bulk(net) as bulk:
        holding(daemon)
        run("ip", "-n", net.gw, "link", "set", device, "down")
        time.sleep(0.5)
        run("ip", "-n", net.gw, "link", "set", device, "up")
        if device == "up0":
            run("ip", "-n", net.gw, "-6", "address", "replace", "fd01::1/64", "dev", device, "nodad", check=False)
        assert bulk.goes_on()
        # An interface's new life has its packets paced again.
        wait_for(lambda: daemon.status()["traffic"]["held"] > 0)
        assert daemon.serves()


def test_timers_run_on_the_monotonic_clock(daemon: Daemon) -> None:
    """A step of the wall clock cannot move what does not read it: every timer of the process is on CLOCK_MONOTONIC."""
    pid = daemon.status()["pid"]
    timers = 0
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):
            lines = info.read_text(encoding="utf-8").splitlines()
            clocks = [line.split()[1] for line in lines if line.startswith("clockid:")]
            timers += len(clocks)
            assert all(clock == str(time.CLOCK_MONOTONIC) for clock in clocks), clocks
    assert timers >= 1


def test_two_daemons_do_not_share_a_queue(net: Net, daemon: Daemon) -> None:
    second = Daemon(net, "observe")
    second.socket = Path(f"{daemon.socket}.2")
    second.file = daemon.file.with_suffix(".2.toml")
    second.write("observe")
    words = ["ip", "netns", "exec", net.gw, str(MESHPACED), "gateway", "--config", str(second.file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 1, done
    assert "another process has bound it" in done.stderr
    assert daemon.serves(), "and the first one's rules are untouched"
    with Bulk(net) as bulk:
        holding(daemon, 5)
        assert bulk.goes_on()
