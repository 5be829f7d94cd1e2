"""The commands of an operator against a running daemon: status, flows, explain, top, mode, reload, stop, metrics."""

from __future__ import annotations

import http.client
import json
import os
import pty
import re
import select
import signal
import socket
import statistics
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pytest
from clock import PATIENCE_S, bound
from daemon import Daemon
from net import MESHPACED, Delays, Net, wait_for
from traffic import Bulk

pytestmark = pytest.mark.xdist_group("operating")  # its daemon is made once
METRICS = 9733


class Site:
    """A gateway with a flow each way and its daemon."""

    def __init__(self, net: Net, daemon: Daemon, events: Path) -> None:
        self.net, self.daemon, self.events = net, daemon, events
        self.paced_since: float | None = None  # by a change of mode, with a forecast of the flow to the mesh

    def command(self, *words: object, status: int = 0) -> str:
        """What `meshpaced` prints, errors included."""
        words = (MESHPACED, *words, "--socket", self.daemon.socket)
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        assert done.returncode == status, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def told(self) -> list[dict[str, Any]]:
        """The events so far."""
        return [json.loads(line) for line in self.events.read_text(encoding="utf-8").splitlines()]

    def get(self, path: str) -> tuple[int, str]:
        """An answer of the metrics' server, which listens on the loopback of the gateway's namespace."""
        with self.net.within(self.net.gw):
            connection = http.client.HTTPConnection("127.0.0.1", METRICS, timeout=PATIENCE_S)
            connection.connect()
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The daemon paces; one flow goes to the mesh, one to the Internet, both for as long as the tests run."""
    folder = tmp_path_factory.mktemp("operating")
    events = folder / "events.jsonl"
    more = f'[events]\nfile = "{events}"\n'
    with (
        Net(folder, Delays(wired=0.010, mesh=0.020), room="o") as net,
        Daemon(net, "pace", more=more) as daemon,
        Bulk(net, 4, down=True),
        Bulk(net, 6, down=False),
    ):
        wait_for(lambda: sum(f["goodput_bps"] is not None for f in daemon.flows()) == 2)
        wait_for(lambda: any(f["samples"] > 60 for f in daemon.flows()), seconds=30)
        yield Site(net, daemon, events)


def downward(site: Site) -> dict[str, Any]:
    """The flow to the mesh."""
    return next(f for f in site.daemon.flows() if f["direction"] == "down")


def test_status_tells_mode_shares_and_lateness(site: Site) -> None:
    text = site.command("status")
    assert "mode       pace; data path nfqueue; mesh behind mesh0" in text
    assert "2 known: 2 paced, 0 observed" in text
    assert "Jain's index" in text
    assert "over 2 active flows" in text
    answer = json.loads(site.command("status", "--json"))
    assert answer["schema"] == 1
    status = answer["status"]
    assert status["pid"] == site.daemon.process.pid  # type: ignore[union-attr]
    assert status["lateness"]["departures"] > 0
    goodputs = [f["goodput_bps"] for f in site.daemon.flows()]
    assert min(goodputs) > 0
    smallest = status["fairness"]["smallest"]
    assert [s["share"] for s in smallest] == sorted(s["share"] for s in smallest)
    assert 0.5 <= status["fairness"]["jain"] <= 1.0


def test_flows_are_listed_sorted_and_filtered(site: Site) -> None:
    text = site.command("flows", "--sort", "name")
    lines = text.splitlines()
    assert lines[0].split() == [
        "flow",
        "data",
        "hops",
        "RTT",
        "wireless",
        "wired",
        "goodput",
        "rate",
        "queue",
        "wait",
        "treatment",
    ]
    assert len(lines) == 3
    down = downward(site)
    assert down["flow"] in text
    assert "[fd77::2]:" in text
    only = site.command("flows", "10.77.0.0/16")
    assert down["flow"] in only
    assert "fd77::2" not in only
    assert "1 of 2 flows" in only
    listed = json.loads(site.command("flows", "--json", "--sort", "rate"))["flows"]
    assert (listed["known"], listed["matching"], len(listed["list"])) == (2, 2, 2)
    assert '"mesh" is no filter' in site.command("flows", "mesh", status=2)


def test_explain_gives_formulas_whose_numbers_add_up(site: Site) -> None:
    name = downward(site)["flow"]
    text = site.command("explain", name)
    for number in ("(1.2)", "(2.1)", "(2.2)", "(2.3)", "(2.4)"):
        assert number in text
    assert "k = 4" in text
    assert "4 wireless hops (default), links 11 Mbit/s" in text
    detail = json.loads(site.command("explain", name, "--json"))["flow"]
    law, last = detail["law"], detail["law"]["last"]
    # schemes.md (1.2), (1.3): t_q is clamped at 0.
    rate = last["link_rates_bps"][0]
    queueing = max(0.0, (last["rtt_s"] / last["hops"] - (last["data_bits"] + last["ack_bits"]) / rate) / 2)
    delay = last["k"] * (queueing + last["data_bits"] / rate)
    assert last["k_hop_delay_s"] == pytest.approx(delay, rel=1e-9)
    # (2.2) to (2.4).
    smoothed = law["alpha"] * last["smoothed_before_s"] + (1 - law["alpha"]) * delay
    assert law["smoothed_s"] == pytest.approx(smoothed, rel=1e-9)
    cov = statistics.stdev(law["history_s"]) / statistics.mean(law["history_s"])
    assert law["variation"] == pytest.approx(cov, rel=1e-6)
    assert len(law["history_s"]) == law["history_max"] == 50
    assert law["interval_s"] == pytest.approx(smoothed * (1 + 2 * cov), abs=1e-8)
    # The mesh holds packets for 20 ms each way and has no queue of its own.
    assert 0.040 < detail["flow"]["wireless_rtt_s"] < bound(0.060, busy=0.120)


def test_explain_finds_flows_by_parts_and_says_what_fits(site: Site) -> None:
    assert "Rate to the Internet: set by the host in the mesh" in site.command("explain", "fd77::2")
    assert "no flow fits" in site.command("explain", "192.0.2.99", status=2)
    assert "fits 2 flows" in site.command("explain", ":", status=2)


def test_modes_change_at_run_time_until_the_next_reload(site: Site) -> None:
    assert site.command("mode", "observe", "--subnet", "10.77.0.0/16").strip() == (
        "10.77.0.0/16: observe, until the next reload"
    )
    wait_for(lambda: downward(site)["treatment"] == "observe")
    said = site.command("explain", "10.77.0.2")
    assert "Rate to the mesh: not limited, as the flow is only watched." in said
    assert "Paced, it would get about" in said
    detail = json.loads(site.command("explain", "10.77.0.2", "--json"))["flow"]
    forecast, last = detail["forecast"], detail["law"]["last"]
    assert (forecast["unknown"], forecast["sharing"]) == (None, 1)
    # The mesh holds packets for 20 ms each way; (1.2) and (1.3) with the least round trip, over four hops.
    assert 0.040 < forecast["base_rtt_s"] < bound(0.060, busy=0.120)
    rate, hops = last["link_rates_bps"][0], last["hops"]
    queueing = max(0.0, (forecast["base_rtt_s"] / hops - (last["data_bits"] + last["ack_bits"]) / rate) / 2)
    assert forecast["interval_s"] == pytest.approx(last["k"] * (queueing + last["data_bits"] / rate), rel=1e-5)
    assert "10.77.0.0/16: observe" in site.command("status")
    up = next(f for f in site.daemon.flows() if f["direction"] == "up")
    assert up["treatment"] == "pace", "another subnet"
    site.command("reload")
    wait_for(lambda: downward(site)["treatment"] == "pace")
    site.paced_since = time.monotonic()
    assert "possible values: off, observe, pace" in site.command("mode", "fast", status=2)


def test_a_wrong_file_leaves_the_daemon_as_it_was(site: Site) -> None:
    before = downward(site)
    site.daemon.write("fast")
    try:
        said = site.command("reload", status=2)
        assert f"{site.daemon.file}:1: mode" in said
    finally:
        site.daemon.write("pace")
    site.command("reload")
    # An answer may be a tenth of a second old.
    after = wait_for(lambda: (flow := downward(site))["age_s"] != before["age_s"] and flow)
    assert after["flow"] == before["flow"]
    assert after["age_s"] > before["age_s"], "flows are kept"
    assert any(e["event"] == "reload_refused" and "mode" in e["message"] for e in site.told())


def test_metrics_are_those_of_the_daemon(site: Site) -> None:
    status, text = site.get("/metrics")
    assert status == 200
    assert text.endswith("# EOF\n")
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values['meshpace_flows{treatment="pace"}']) == 2
    assert float(values["meshpace_wireless_rtt_seconds_count"]) > 60
    # Nothing returns from the mesh in less than 40 ms.
    assert float(values['meshpace_wireless_rtt_seconds_bucket{le="0.03"}']) == 0
    assert float(values["meshpace_packets_total"]) > 100
    assert "10.77.0.2" not in text, "no metrics of single flows"
    assert site.get("/healthz") == (200, "ok\n")
    assert site.get("/")[0] == 404
    with site.net.within(site.net.cli), pytest.raises(ConnectionRefusedError):
        socket.create_connection(("10.77.0.1", METRICS), timeout=5)


def test_events_are_told_and_rotation_is_survived(site: Site) -> None:
    told = site.told()
    assert all(event["schema"] == 1 and event["time"].endswith("Z") for event in told)
    assert [event["event"] for event in told[:2]] == ["rules_made", "started"]
    assert told[1]["mode"] == "pace"
    opened = {event["flow"] for event in told if event["event"] == "flow_opened"}
    assert downward(site)["flow"] in opened
    rotated = site.events.with_suffix(".1")
    site.events.rename(rotated)
    site.command("reload")
    wait_for(lambda: site.events.exists() and any(e["event"] == "reloaded" for e in site.told()))
    with Bulk(site.net, 4, down=True):
        wait_for(lambda: sum(e["event"] == "flow_opened" for e in site.told()) == 1)
    closed = wait_for(lambda: [e for e in site.told() if e["event"] == "flow_closed"])
    assert closed[0]["down_bytes"] > 0


def test_the_socket_is_the_owners_and_hostile_clients_are_bounded(site: Site) -> None:
    assert site.daemon.socket.stat().st_mode & 0o777 == 0o600
    held = []
    for _ in range(60):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(site.daemon.socket))
        with suppress(BrokenPipeError):  # refused already, as a quick server does
            client.sendall(b'{"command": ')
        held.append(client)
    assert "clients are being served already" in site.command("status", status=1)

    # The metrics have a server of their own, and packets go on all the same.
    def packets() -> float:
        _, text = site.get("/metrics")
        return float(next(line for line in text.splitlines() if line.startswith("meshpace_packets_total")).split()[1])

    before = packets()
    wait_for(lambda: packets() > before)
    for client in held:
        client.close()
    wait_for(site.daemon.serves)  # refused as long as it has not noticed that they are gone


def test_a_forecast_is_held_against_what_came(site: Site) -> None:
    def set_mode(mode: str) -> None:
        site.command("mode", mode, "--subnet", "10.77.0.0/16", *(["--anyway"] if mode == "pace" else []))
        wait_for(lambda: downward(site)["treatment"] == mode)

    if site.paced_since is None:  # the test runs alone
        set_mode("observe")
        wait_for(lambda: "Paced, it would get about" in site.command("explain", "10.77.0.2"))
        set_mode("pace")
        site.paced_since = time.monotonic()
    # Three seconds are left out, five make a goodput; the daemon looks once a second.
    since = site.paced_since
    wait_for(lambda: time.monotonic() > since + 11)
    set_mode("observe")
    compared = wait_for(lambda: [e for e in site.told() if e["event"] == "forecast_compared"])[-1]
    assert compared["flow"] == downward(site)["flow"]
    assert compared["error"] == pytest.approx(compared["measured_bps"] / compared["foretold_bps"] - 1)
    # The mesh has no queue of its own: its pace then is what an empty path foretells, but for the variation.
    assert -bound(0.6, busy=0.9) < compared["error"] < bound(0.2, busy=0.5)
    assert re.search(r"^forecast .* measured .*/s: .*\n +of 1 forecast so far", site.command("status"), re.MULTILINE)
    assert "Held against what came: of 1 forecast so far" in site.command("explain", "10.77.0.2")
    site.command("reload")


LINES, COLUMNS = 24, 80
# What the screen needs: cursor positions; other control sequences change colours and modes only. Then text.
SEQUENCES = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[[0-9;?]*[A-Za-z]|([^\x1b])")


class Terminal:
    """A pseudo-terminal of 24 lines and 80 columns with a command in it."""

    def __init__(self, *words: object) -> None:
        pid, self.descriptor = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm-256color"
            time.sleep(0.2)  # until the size is set
            os.execv(str(words[0]), [str(w) for w in words])
        self.pid = pid
        ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.seen = b""

    def screen(self) -> str:
        """What stands on the screen."""
        cells = [[" "] * COLUMNS for _ in range(LINES)]
        line = column = 0
        for found in SEQUENCES.finditer(self.seen.decode(errors="replace")):
            if found[1]:
                line, column = int(found[1]) - 1, int(found[2]) - 1
            elif found[3] and line < LINES and column < COLUMNS:
                cells[line][column] = found[3]
                column += 1
        return "\n".join("".join(cells[line]).rstrip() for line in range(LINES))

    def until(self, text: str, seconds: float = PATIENCE_S) -> None:
        """Reads until the text is on the screen."""
        end = time.monotonic() + seconds
        while text not in self.screen():
            assert time.monotonic() < end, f"{text!r} is not on the screen:\n{self.screen()}"
            if select.select([self.descriptor], [], [], 0.1)[0]:
                self.seen += os.read(self.descriptor, 65536)

    def press(self, keys: str) -> None:
        """Types."""
        os.write(self.descriptor, keys.encode())

    def ends(self) -> int:
        """Waits for the command to end, reads all it wrote and tells how it ended."""
        end = time.monotonic() + PATIENCE_S
        while not self._reads_to_the_end():
            assert time.monotonic() < end, "it goes on"
        while True:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < end, "its terminal is closed and it goes on"
            time.sleep(0.01)

    def _reads_to_the_end(self) -> bool:
        """Reads what is there for a tenth of a second: whether the command has closed its terminal.

        The terminal's end comes after all bytes; the process may be gone before they are read.
        """
        if not select.select([self.descriptor], [], [], 0.1)[0]:
            return False
        try:
            more = os.read(self.descriptor, 65536)
        except OSError:  # Linux says EIO once the other end is closed and nothing is left
            return True
        self.seen += more
        return not more


@pytest.mark.parametrize("how", ["key", "signal"])
def test_top_shows_the_flows_and_gives_the_terminal_back(site: Site, how: str) -> None:
    terminal = Terminal(MESHPACED, "top", "--interval", "0.2", "--socket", site.daemon.socket)
    terminal.until("10.77.0.2:")
    terminal.press("?")
    terminal.until("less than half of the mean goodput")
    terminal.press("x")
    terminal.until("wireless")
    terminal.press("/10.77.0.0/16\r")
    terminal.until("filter 10.77.0.0/16: 1")
    terminal.press("\r")
    terminal.until("Rate to the mesh")
    terminal.press("jjjj")  # where lines are long, the law's end is below the screen
    terminal.until("FHD_hat")
    assert "treatment" not in terminal.screen()
    terminal.press("\r")
    terminal.until("treatment")
    if how == "key":
        terminal.press("q")
    else:
        os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.ends() == 0
    assert b"\x1b[?1049h" in terminal.seen, "on the other screen"
    assert b"\x1b[?1049l" in terminal.seen, "and back"
    assert terminal.seen.rfind(b"\x1b[?25h") > terminal.seen.rfind(b"\x1b[?25l"), "the cursor is shown"
    os.close(terminal.descriptor)


def test_top_ends_with_its_terminal(site: Site) -> None:
    terminal = Terminal(MESHPACED, "top", "--interval", "0.2", "--socket", site.daemon.socket)
    terminal.until("10.77.0.2:")
    os.close(terminal.descriptor)  # as when a window is closed
    end, done = time.monotonic() + PATIENCE_S, 0
    while not done and time.monotonic() < end:
        done, _ = os.waitpid(terminal.pid, os.WNOHANG)
        time.sleep(0.05)
    if not done:
        os.kill(terminal.pid, signal.SIGKILL)
    assert done, "it goes on without a terminal"


def test_top_without_a_terminal_says_what_to_use(site: Site) -> None:
    assert "`meshpaced flows` prints to anything" in site.command("top", status=2)


def test_stop_ends_the_daemon_and_later_commands_say_so(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="o") as net:
        daemon = Daemon(net, "observe").start()
        site = Site(net, daemon, tmp_path / "none")
        assert "stopping" in site.command("stop")
        assert daemon.process is not None
        assert daemon.process.wait(timeout=PATIENCE_S) == 0, daemon.said()
        daemon.process = None
        assert not daemon.socket.exists()
        assert "is it running?" in site.command("status", status=1)


def test_man_pages_and_completions(tmp_path: Path) -> None:
    subprocess.run([MESHPACED, "man", tmp_path], check=True)
    names = {page.name for page in tmp_path.iterdir()}
    assert {"meshpaced.1", "meshpaced-gateway.1", "meshpaced-explain.1", "meshpaced-top.1"} <= names
    script = subprocess.run([MESHPACED, "man", "--completions", "bash"], check=True, capture_output=True, text=True)
    assert "_meshpaced" in script.stdout
