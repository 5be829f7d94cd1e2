"""The page of `meshpace emulate --view` and its server, with lines as the engine writes them but without an engine."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import browser
from browser import Page
from meshpace import engine
from meshpace.emulation.record import EmulationError
from meshpace.emulation.view.page import page
from meshpace.emulation.view.server import View, serving
from meshpace.engine import Job

pytestmark = pytest.mark.xdist_group("live view")  # one browser

MESH = b"""\
measure = { duration = "10s", warmup = "0s" }
topology = { kind = "chain", hops = 5 }
node = [{ id = "r", role = "wired" }, { id = "<b>&server", role = "wired" }]
link = [{ a = "n5", b = "r" }, { a = "r", b = "<b>&server" }]
routing = { protocol = "static" }
"""
NAME = "roof <i>&amp;"
needs_browser = pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed: make setup as root")


class Feed:
    """Writes lines as the engine does, some times a second, from a thread of its own."""

    def __init__(self, view: View) -> None:
        self._sink = os.dup(view.sink)
        view.begin()
        self.written = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def line(self, number: int) -> dict[str, Any]:
        begin = int(1e8 * number)
        kinds = ["rts", "cts", "data", "ack", "tcp-ack"]
        return {
            "at_s": 0.1 * (number + 1),
            "frames": {
                "start_ns": [begin + 2_000_000 * step for step in range(40)],
                "airtime_ns": [1_500_000] * 40,
                "from": [step % 5 for step in range(40)],
                "to": [None if step == 39 else step % 5 + 1 for step in range(40)],
                "kind": [kinds[step % 5] for step in range(40)],
                "retry": [0] * 40,
            },
            "losses": {"frame": [3], "node": [4], "cause": ["collision"]},
            "left_out": 0,
            "queues": [number % 7, 2, 0, 0, 1, 3],
            "places": None,
            "flows": [
                {"id": "a", "from": "n0", "to": "<b>&server", "kind": "TCP 40000 → 5201", "real": True,
                 "at_s": 0.1 * (number + 1), "bytes": 5000 * number, "queue": None},
                {"id": "b", "from": "<b>&server", "to": "n0", "kind": "tcp-gap", "real": False,
                 "at_s": 0.25 * int(0.4 * (number + 1)), "bytes": 1000 * number * number // 20, "queue": 4},
            ],
            "lateness": {"valid": number % 2 == 0, "bound_s": 0.001, "deliveries": 100 * (number + 1),
                         "share_late": 0.002, "p50_s": 3e-5, "p99_s": 1e-4, "p999_s": 2e-4, "max_s": 7e-4},
            "skipped": 0,
        }  # fmt: skip

    def _run(self) -> None:
        while not self._stop.wait(0.1):
            os.write(self._sink, json.dumps(self.line(self.written)).encode() + b"\n")
            self.written += 1

    def __enter__(self) -> Feed:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        os.close(self._sink)


def resolved() -> dict[str, Any]:
    return engine.resolve(Job("mesh.toml", MESH))


@contextmanager
def viewed(port: int | None = None) -> Iterator[View]:
    from meshpace.emulation.record import Host

    hosts = [Host("n0", "mp-0", "10.77.0.2", "fd77::a4d:2"), Host("<b>&server", "mp-1", "10.77.0.9", "fd77::a4d:9")]
    with serving(page(resolved(), hosts, NAME, 1.0), port) as view:
        yield view


def events(port: int) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/events")
    return connection, connection.getresponse()


def times(answer: http.client.HTTPResponse, count: int) -> list[float]:
    """When each of the next lines is of."""
    found: list[float] = []
    while len(found) < count:
        line = answer.readline()
        assert line, "it has ended"
        if line.startswith(b"data: "):
            found.append(json.loads(line[6:])["at_s"])
    return found


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser.page(tmp_path_factory.mktemp("profile")) as page:
        yield page


@needs_browser
def test_the_page_shows_what_comes_and_says_when_it_is_over(tab: Page) -> None:
    tab.look(1440, 900)
    with viewed() as view:
        with Feed(view):
            tab.open_url(view.url)
            tab.wait("live.updates > 3")
            assert tab.ask("document.querySelector('h1').textContent") == NAME
            assert tab.ask("document.getElementById('state').textContent") == "live"
            first = tab.ask("document.getElementById('mesh').toDataURL()")
            rates = "[...document.querySelectorAll('#flows .rate')].map((cell) => Number(cell.textContent))"
            tab.wait(f"live.updates > 40 && {rates}[0] === 400")
            # It grows: faster than over the last second on average would be less than half of what it comes to.
            assert tab.ask(rates)[1] > 0
            assert tab.ask("document.getElementById('mesh').toDataURL()") != first
            names = tab.ask(
                "[...document.querySelectorAll('#flows .key')].map((cell) => cell.firstChild.nextSibling?.textContent)"
            )
            assert names[:2] == ["n0 → <b>&server", "<b>&server → n0"]
            queues = "[...document.querySelectorAll('#queues b')].map((cell) => cell.textContent).join()"
            before = tab.ask(queues)
            tab.wait(f"{queues} !== {json.dumps(before)}")
            assert tab.ask("document.getElementById('routes').hidden"), "nobody's kernel forwards"
            view.tell_routes({"n2": [("n0", "n1"), ("n1", "n2"), ("n9", "n2")], "0.0.0.0/0": [("n0", "n1")]})
            tab.wait("document.getElementById('goal').options.length === 3")
            tab.ask("goal.value = 'n2', goal.dispatchEvent(new Event('change'))")
            assert tab.ask("document.getElementById('reach').textContent") == "2 nodes have one"
            view.tell_routes({"n2": [("n1", "n2")]})
            tab.wait("document.getElementById('reach').textContent === '1 node has one'")
            assert tab.ask("[goal.value, goal.options.length, live.drawing.routes]") == ["n2", 2, [[1, 2]]]
            assert "packets within 1 ms" in tab.ask("document.getElementById('lateness').textContent")
            tab.ask("document.getElementById('hold').click()")
            held = tab.ask("[document.getElementById('clock').textContent, live.updates]")
            tab.wait(f"live.updates > {held[1]} + 3")
            assert tab.ask("document.getElementById('clock').textContent") == held[0]
            tab.ask("document.getElementById('hold').click()")
            tab.wait(f"document.getElementById('clock').textContent !== {json.dumps(held[0])}")
        view.over(["The emulation has come to its end.", "lateness: valid <b>"])
        tab.wait("document.getElementById('state').textContent === 'over'")
        told = tab.ask("[...document.querySelectorAll('#words li')].map((item) => item.textContent)")
        assert told == ["The emulation has come to its end.", "lateness: valid <b>"]
    assert tab.complaints == []
    assert {url for url in tab.requests if not url.startswith("data:")} == {view.url, f"{view.url}events"}


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_nothing_sticks_out_or_lies_on_something(tab: Page, size: tuple[int, int], dark: bool, tmp_path: Path) -> None:
    tab.look(*size, dark=dark)
    with viewed() as view, Feed(view):
        tab.open_url(view.url)
        tab.wait("live.updates > 12")
        assert tab.ask("document.documentElement.scrollWidth") <= size[0]
        out = (
            "[...document.querySelectorAll('h1, h2, p, li, canvas, button')].filter((e) => e.checkVisibility())"
            ".filter((e) => { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth; }).length"
        )
        assert tab.ask(out) == 0
        # Nodes and wired nodes of the drawing, with room for what they are.
        places = tab.ask(
            "[...live.drawing.places.map(({x, y}) => [x, y, 12]),"
            " ...[...live.drawing.wired.values()].map(({x, y}) => [x, y, 22])]"
        )
        width, height = tab.ask("[live.drawing.width, live.drawing.height]")
        for index, (x, y, room) in enumerate(places):
            assert room <= x <= width - room
            assert 10 <= y <= height - 10
            for other_x, other_y, other_room in places[index + 1 :]:
                assert abs(x - other_x) > room + other_room or abs(y - other_y) > 22, places
        tab.screenshot(tmp_path / "live.png")
        assert (tmp_path / "live.png").stat().st_size > 20_000, "not blank"


@needs_browser
def test_less_motion_means_no_flight(tab: Page) -> None:
    tab.look(1440, 900, still=True)
    with viewed() as view, Feed(view):
        tab.open_url(view.url)
        tab.wait("live.updates > 5")
        drawn = tab.ask("""(() => {
          let flights = 0;
          const flight = live.drawing.drawFlight;
          live.drawing.drawFlight = () => { flights += 1; };
          live.draw();
          live.drawing.drawFlight = flight;
          return flights;
        })()""")
        assert drawn == 0


def test_two_look_on_and_one_that_never_reads_holds_up_nobody() -> None:
    with viewed() as view, Feed(view):
        with socket.create_connection(("127.0.0.1", view.port)) as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{view.port}\r\n\r\n".encode())
            one, two = events(view.port), events(view.port)
            assert one[1].getheader("Content-Type") == "text/event-stream"
            both = [times(answer, 25) for _, answer in (one, two)]
            for seen in both:
                assert seen == sorted(seen)
                assert seen[-1] - seen[0] == pytest.approx(2.4), "no line is missing"
        one[0].close()
        two[0].close()


def test_no_more_look_on_than_it_has_room_for() -> None:
    with viewed() as view, Feed(view):
        lookers = [events(view.port) for _ in range(16)]
        assert {answer.status for _, answer in lookers} == {200}
        many, refused = events(view.port)
        assert refused.status == 503
        for connection, _ in [*lookers, (many, refused)]:
            connection.close()


def test_it_is_for_this_machine_alone() -> None:
    with viewed() as view:
        for host, path, status in [
            (f"127.0.0.1:{view.port}", "/", 200), (f"localhost:{view.port}", "/", 200),
            (f"rebound.example:{view.port}", "/", 403), (f"127.0.0.1:{view.port}", "/etc/passwd", 404),
        ]:  # fmt: skip
            connection = http.client.HTTPConnection("127.0.0.1", view.port, timeout=30)
            connection.request("GET", path, headers={"Host": host})
            assert connection.getresponse().status == status, (host, path)
            connection.close()
        with socket.socket() as elsewhere:
            elsewhere.settimeout(5)
            assert elsewhere.connect_ex(("127.0.0.2", view.port)) != 0


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(EmulationError, match=f"--view-port: found {port}: Address already in use"), viewed(port):
            pass


def test_its_end_is_told_and_its_port_is_free_again() -> None:
    with viewed() as view:
        connection, answer = events(view.port)
    told = answer.read()
    assert told.endswith(b'event: over\ndata: {"words": ["The emulation has ended before its time."]}\n\n')
    connection.close()
    with viewed(view.port) as again:
        assert again.port == view.port
