"""`meshpace emulate --view`: kernels' packets as the page shows them, and nobody who looks on makes them late."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from emulating import MESH, Emulation, called, emulate, left_behind
from net import wait_for

import browser

SINK = """\
import socket
with socket.create_server(("10.77.0.6", 5201)) as server:
    print("up", flush=True)
    while True:
        connection, _ = server.accept()
        while connection.recv(65536):
            pass
"""
SOURCE = """\
import socket
with socket.create_connection(("10.77.0.6", 5201)) as connection:
    while True:
        connection.sendall(bytes(10_000))
"""

LONG = MESH.replace("120s", "1000s")
"""Ended by whoever has seen enough."""


class Viewed(Emulation):
    """An emulation with a view; it reads where from what the command says."""

    def __init__(self, folder: Path, name: str, text: str, *words: object) -> None:
        super().__init__(folder, name, text, *words)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        found = re.fullmatch(r"view: (http://127\.0\.0\.1:(\d+)/)\n", said)
        assert found is not None, said + self.process.stderr.read()
        self.url, self.port = found[1], int(found[2])

    @contextmanager
    def uploading(self) -> Iterator[None]:
        """While n0 sends to B what TCP takes."""
        with self.beside("B", sys.executable, "-c", SINK) as sink:
            assert sink.stdout is not None
            assert sink.stdout.readline() == "up\n"
            with self.beside("n0", sys.executable, "-c", SOURCE):
                yield

    def lines(self) -> Iterator[dict[str, Any]]:
        """What a client is sent, up to the last word."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/events")
        answer = connection.getresponse()
        while line := answer.readline():
            if line.startswith(b"data: "):
                yield json.loads(line[6:])
        connection.close()


def test_lines_tell_what_kernels_send(tmp_path: Path) -> None:
    with Viewed(tmp_path, called(70), LONG, "--view") as emulation:
        emulation.wait_until_up()
        with emulation.uploading():
            seen: list[dict[str, Any]] = []
            for line in emulation.lines():
                seen.append(line)
                flows = [flow for flow in line["flows"] if flow["kind"].endswith("→ 5201")]
                if flows and flows[0]["bytes"] > 200_000 and max(line["queues"]) > 0:
                    break
        assert (flows[0]["from"], flows[0]["to"], flows[0]["real"]) == ("n0", "B", True)
        kinds = {kind for line in seen for kind in line["frames"]["kind"]}
        assert {"rts", "cts", "data", "ack", "tcp-ack"} <= kinds
        starts = [start for line in seen for start in line["frames"]["start_ns"]]
        assert starts == sorted(starts)
        assert {*zip(seen[-1]["frames"]["from"], seen[-1]["frames"]["to"], strict=True)} <= {
            (a, b) for a in range(4) for b in range(4) if abs(a - b) == 1
        }
        assert seen[-1]["lateness"]["deliveries"] > 100
        times = [line["at_s"] for line in seen]
        assert times == sorted(times)
        # Some a second: a busy machine may leave some out, most not.
        assert len(times) > 3 * (times[-1] - times[0])


@pytest.mark.skipif(browser.CHROMIUM is None, reason="needs Chromium")
def test_a_browser_shows_it_and_is_told_the_end(tmp_path: Path) -> None:
    with browser.page(tmp_path / "profile") as page, Viewed(tmp_path, called(71), LONG, "--view") as emulation:
        emulation.wait_until_up()
        with emulation.uploading():
            page.look(1440, 900)
            page.open_url(emulation.url)
            rows = "[...document.querySelectorAll('#flows tr')]"
            rate = (
                f"Number({rows}.find((row) => row.textContent.includes('→ 5201'))?.querySelector('.rate').textContent)"
            )
            page.wait(f"{rate} > 100")
            before = page.ask("[live.updates, performance.now(), document.getElementById('mesh').toDataURL()]")
            page.wait(f"live.updates >= {before[0]} + 10")
            after = page.ask("[live.updates, performance.now(), document.getElementById('mesh').toDataURL()]")
            assert (after[0] - before[0]) / (after[1] - before[1]) > 2e-3, "several a second"
            assert before[2] != after[2]
            assert page.ask("live.scene.nodes.filter((node) => node.host).map((node) => node.id)") == ["n0"]
            page.screenshot(tmp_path / "live.png")
        emulation.process.send_signal(signal.SIGINT)
        page.wait("document.getElementById('state').textContent === 'over'")
        assert page.ask("document.getElementById('words').textContent") != ""
        assert page.complaints == []


@pytest.mark.takes(26)
def test_who_never_reads_makes_nothing_late(tmp_path: Path) -> None:
    with Viewed(tmp_path, called(72), MESH.replace("120s", "25s"), "--view-port", free_port()) as emulation:
        emulation.wait_until_up()
        deaf = []
        for _ in range(4):
            client = socket.create_connection(("127.0.0.1", emulation.port))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{emulation.port}\r\n\r\n".encode())
            deaf.append(client)
        with emulation.uploading():
            lines = list(emulation.lines())
        assert lines[-1]["words"][0] == "The emulation has come to its end."
        assert lines[-2]["at_s"] > 24, "to the end"
        assert lines[-2]["skipped"] <= len(lines), "whoever reads was sent most of it"
        result = emulation.result()
        # The verdict itself is the machine's: half of what was delivered is in time on any that runs at all.
        assert result["lateness"]["deliveries"] > 500
        assert result["lateness"]["p50_s"] < 0.001
        for client in deaf:
            client.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--view-port", "0"), "--view-port"),
        (("--view-port", "65536"), "--view-port"),
        (("--view-port", "http"), "--view-port"),
        (("--view-port", "TAKEN"), "Address already in use"),
    ],
)
def test_a_bad_port_is_one_message_and_nothing_is_made(words: tuple[str, str], said: str, tmp_path: Path) -> None:
    name = called(73)
    scenario = tmp_path / "mesh.toml"
    scenario.write_text(MESH)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = [str(taken.getsockname()[1]) if word == "TAKEN" else word for word in words]
        done = subprocess.run(
            emulate(scenario, "--name", name, *given), capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert left_behind(name) == []


@pytest.mark.xdist_group("killed")
def test_the_page_goes_with_a_killed_engine(tmp_path: Path) -> None:
    with Viewed(tmp_path, called(74), LONG, "--view") as emulation:
        emulation.wait_until_up()
        record = json.loads(Path("/run/meshpace/emulation", emulation.name, "emulation.json").read_text())
        lines = emulation.lines()
        next(lines)
        os.kill(record["engine"]["pid"], signal.SIGKILL)
        last = list(lines)[-1]
        assert last["words"] == ["The emulation has ended before its time."]
        wait_for(lambda: emulation.process.poll() is not None, 60)
        assert emulation.process.returncode == 2
