"""`meshpaced endpoint` against the kernel's TCP, in both directions."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from clock import bound
from endpoints import ENDPOINT, FAR, KERNEL, Process, Site, accept, digest_of, interrupt, sha256
from net import MESHPACED, run, wait_for

# A network that loses, doubles and reorders, each 1 %, both ways; the same draws every time.
BAD = "loss=1%,duplicate=1%,reorder=1%,reorder-by=1ms,seed=7"
LARGE = 100_000_000


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("large") / "file", LARGE)


def written(path: Path, size: int) -> Path:
    path.write_bytes(os.urandom(size))
    return path


def host(version: int, port: int = 5000, addresses: dict[int, str] = KERNEL) -> str:
    return f"{addresses[version]}:{port}" if version == 4 else f"[{addresses[version]}]:{port}"


def impaired(report: dict, least: int) -> None:
    """The network was as bad as asked, in both directions."""
    for way in ("in", "out"):
        done = report["impairment"][way]
        for what in ("lost", "duplicated", "reordered"):
            assert 0.005 < done[what] / done["packets"] < 0.02 or done["packets"] < 2000, (way, done)
    packets = max(report["impairment"][way]["packets"] for way in ("in", "out"))
    assert packets > least, report["impairment"]


def test_100_mb_to_the_kernel_over_a_bad_network(site: Site, large: Path) -> None:
    with site.listening() as door:
        # Above the kernel's delayed acknowledgements of 40 ms. NewReno without SACK times out a hundred times here.
        sender = site.endpoint("send", large, host(4), "--json", "--impair", BAD, "--set", "rto_min=0.06")
        with accept(door) as connection:
            assert digest_of(connection) == sha256(large)
    report = sender.report()
    assert report["sent_bytes"] == LARGE
    assert report["tcp"]["retransmits"] > 500
    impaired(report, 60_000)
    print(f"{report['duration_s']:.1f} s, {report['sent_bps'] / 1e6:.0f} Mbit/s, {report['tcp']}")


def test_100_mb_from_the_kernel_over_a_bad_network(site: Site, large: Path, tmp_path: Path) -> None:
    receiver = site.endpoint("receive", tmp_path / "got", 7000, "--json", "--impair", BAD)
    receiver.wait_for("listening")
    with site.connect(7000) as connection, large.open("rb") as data:
        connection.sendfile(data)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    report = receiver.report()
    assert sha256(tmp_path / "got") == sha256(large)
    impaired(report, 60_000)
    print(f"{report['duration_s']:.1f} s, {report['received_bps'] / 1e6:.0f} Mbit/s")


@pytest.mark.parametrize("options", [[], ["--no-sack"], ["--no-timestamps", "--no-window-scale"]])
def test_ipv6_and_options_left_out(site: Site, tmp_path: Path, options: list[str]) -> None:
    file = written(tmp_path / "file", 3_000_000)
    with site.listening(6) as door:
        sender = site.endpoint("send", file, host(6), "--json", "--impair", BAD, *options)
        with accept(door) as connection:
            assert digest_of(connection) == sha256(file)
    stamps = 0 if "--no-timestamps" in options else 12
    assert sender.report()["tcp"]["mss_bytes"] == 1500 - 60 - stamps
    receiver = site.endpoint("receive", tmp_path / "got", 7000, "--impair", BAD, *options)
    receiver.wait_for("listening")
    with site.connect(7000, 6) as connection:
        connection.sendall(file.read_bytes())
    receiver.end()
    assert sha256(tmp_path / "got") == sha256(file)


@pytest.mark.parametrize("version", [4, 6])
def test_marks_instead_of_losses(site: Site, tmp_path: Path, version: int) -> None:
    # The kernel asks for ECN itself (1); it would agree if asked (2) without that. An endpoint that gets no processor
    # for a while is late and, with 500 packets before the device, lossy. Neither may happen here: nobody sends again
    # for want of time, and everything has room, so that nothing at all is sent again.
    site.sysctl("net.ipv4.tcp_ecn=1", "net.ipv4.tcp_early_retrans=0")
    file = written(tmp_path / "file", 3_000_000)
    words = ["--ecn", "--json", "--impair", "mark=1%,delay=1ms,seed=7"]
    with site.listening(version) as door:
        sender = site.endpoint("send", file, host(version), *words, "--set", "rto_min=30")
        with accept(door) as connection:
            assert digest_of(connection) == sha256(file)
    report = sender.report()
    assert report["impairment"]["out"]["marked"] > 5
    assert 0 < report["tcp"]["ecn_reductions"] <= report["impairment"]["out"]["marked"]
    assert report["tcp"]["retransmits"] == 0
    receiver = site.endpoint("receive", tmp_path / "got", 7000, *words)
    receiver.wait_for("listening")
    wait_for(lambda: "mp0" in run("ip", "-n", site.near, "-o", f"-{version}", "address"))
    run("ip", "-n", site.near, f"-{version}", "route", "replace", ENDPOINT[version], "dev", "mp0", "rto_min", "30s")
    run("ip", "-n", site.near, "link", "set", "mp0", "txqueuelen", 10000)
    with site.connect(7000, version) as connection:
        connection.sendall(file.read_bytes())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    report = receiver.report()
    assert sha256(tmp_path / "got") == sha256(file)
    assert report["tcp"]["marks"] == report["impairment"]["in"]["marked"] > 5
    # struct tcp_info: tcpi_options has TCPI_OPT_ECN; tcpi_total_retrans is 0.
    assert info[5] & 8
    assert struct.unpack_from("=I", info, 100) == (0,)


def test_a_kernel_without_options(site: Site, tmp_path: Path) -> None:
    site.sysctl("net.ipv4.tcp_window_scaling=0", "net.ipv4.tcp_timestamps=0", "net.ipv4.tcp_sack=0")
    file = written(tmp_path / "file", 3_000_000)
    with site.listening() as door:
        sender = site.endpoint("send", file, host(4), "--json", "--impair", BAD)
        with accept(door) as connection:
            assert digest_of(connection) == sha256(file)
    assert sender.report()["tcp"]["mss_bytes"] == 1460
    receiver = site.endpoint("receive", tmp_path / "got", 7000, "--impair", BAD)
    receiver.wait_for("listening")
    with site.connect(7000) as connection:
        connection.sendall(file.read_bytes())
    receiver.end()
    assert sha256(tmp_path / "got") == sha256(file)


@pytest.mark.takes(30)
def test_every_scheme_moves_megabytes(tmp_path: Path) -> None:
    with Site() as site:
        unknown = site.endpoint("send", "/dev/null", host(4), "--scheme", "?")
        unknown.end(status=2)
    names = re.findall(r"[a-z0-9-]+", unknown.said[-1].partition("allowed: ")[2])
    assert {"tahoe", "newreno-rfc", "fixed-rate", "tcp-ap", "tcp-ap-ns2-2005", "tcp-gap"} <= set(names)
    # Their senders go by what relays write into headers; on a real path nobody does.
    asking = {"xcp", "xcp-b", "xcp-winf", "rcp", "rcp-winf", "tcp-ap-winf", "we-tcp-ap", "wcp", "wcpcap"}
    assert asking <= set(names)
    file = written(tmp_path / "file", 2_000_000)
    with ThreadPoolExecutor(8) as pool:  # they mostly wait
        rates = dict(zip(names, pool.map(lambda name: rate_of(name, file, refused=name in asking), names), strict=True))
    print({name: f"{rate:.1f} Mbit/s" for name, rate in rates.items() if rate is not None})
    # Never faster; slower by what the timer is late where the processors are busy.
    fixed = rates["fixed-rate"]
    assert fixed is not None
    assert bound(4, busy=2) < fixed < 20 * 1448 / 1500, rates


def rate_of(name: str, file: Path, refused: bool) -> float | None:
    """Carries the file to the kernel under that scheme; at how many Mbit/s, unless it is refused as it should be."""
    if refused:
        with Site() as site:
            refusing = site.endpoint("send", file, host(4), "--scheme", name)
            refusing.end(status=2)
        assert "does not depend on what routers answer" in refusing.said[-1], refusing.said
        return None
    settings = ["--set", "fixed_rate=20Mbps"] if name == "fixed-rate" else []
    with Site() as site, site.listening() as door:
        network = "loss=0.2%,delay=2ms,seed=3"
        words = ["--scheme", name, "--hops", 2, "--rate", "54Mbps", "--impair", network, *settings]
        sender = site.endpoint("send", file, host(4), "--json", *words)
        with accept(door) as connection:
            assert digest_of(connection) == sha256(file), name
        report = sender.report()
    paced = report["pacing"]["interval_s"] is not None
    # TCP-GAP's sender finds no gateway here and goes on without pacing (schemes.md 3.2).
    adaptive = name.startswith("tcp-ap") or name in ("oid", "dynack-ap")
    # BBR's and Copa's windows come with a pace (schemes.md 22.3, 22.5, 22.7), calm's pace with a window (docs/law.md).
    own = name in ("fixed-rate", "copa", "bbr", "bbr3", "calm") or name.startswith("linux-bbr")
    assert paced == (adaptive or own), (name, report["pacing"])
    if adaptive:
        assert report["pacing"]["samples"] > 100, report["pacing"]
    return float(report["sent_bps"]) / 1e6


def test_the_kernel_finishes_first_and_last_and_at_once(site: Site, tmp_path: Path) -> None:
    file = written(tmp_path / "file", 500_000)
    # Our FIN first: the kernel goes on sending after it.
    with site.listening() as door:
        client = site.endpoint("connect", host(4), stdin=file.open("rb"), stdout=(tmp_path / "back").open("wb"))
        with accept(door) as connection:
            assert digest_of(connection) == sha256(file)
            connection.sendall(file.read_bytes())
        client.end()
    assert sha256(tmp_path / "back") == sha256(file)
    # The kernel's FIN first: we go on sending after it. All echoed bytes are on the way when the FIN arrives.
    server = site.endpoint("serve", "--echo", "--port", 7000, "--impair", "delay=50ms")
    server.wait_for("listening")
    with site.connect(7000) as connection:
        connection.sendall(file.read_bytes())
        connection.shutdown(socket.SHUT_WR)
        assert digest_of(connection) == sha256(file)
    # Both at once: the FINs cross.
    with site.connect(7000) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    interrupt(server)


def test_both_open_at_once(site: Site) -> None:
    # 400 ms each way: both SYNs are under way when the other end sends its own.
    client = site.endpoint(
        "connect", host(4, 6000), "--from-port", 6001, "--impair", "delay=400ms", stdin=subprocess.PIPE
    )
    with site.socket() as connection:
        connection.bind(("", 6000))
        client.wait_for("behind")
        connection.connect((ENDPOINT[4], 6001))
        client.wait_for("connected")
        connection.sendall(b"from the kernel")
        assert client.process.stdin is not None
        client.process.stdin.write(b"from the endpoint")
        client.process.stdin.close()
        client.process.stdin = None
        assert connection.recv(100) == b"from the endpoint"
        connection.shutdown(socket.SHUT_WR)
        opened = run("ip", "netns", "exec", site.near, "nstat", "-asz", "TcpExtTCPSynRetrans", check=False)
    assert client.end() == "from the kernel", opened


def test_nobody_listens(site: Site) -> None:
    client = site.endpoint("send", "/dev/null", host(4))
    client.end(status=1)
    assert client.said[-1] == f"meshpaced: connecting to {host(4)}: connection refused\n"
    server = site.endpoint("serve", "--sink", "--port", 7000)
    server.wait_for("listening")
    with pytest.raises(ConnectionRefusedError):
        site.connect(7001)
    interrupt(server)


@pytest.mark.parametrize("how", ["reset", "close with unread data"])
def test_the_kernel_ends_it_early(site: Site, tmp_path: Path, how: str) -> None:
    file = written(tmp_path / "file", 20_000_000)
    with site.listening() as door:
        client = site.endpoint("send", file, host(4), "--json")
        connection = accept(door)
        connection.recv(100_000)
        if how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        client.end(status=1)
    assert client.said[-1] == f"meshpaced: sending {file} to {host(4)}: connection reset\n"


def test_we_end_it_early(site: Site) -> None:
    server = site.endpoint("serve", "--source", "1GB", "--port", 7000)
    server.wait_for("listening")
    with site.connect(7000) as connection:
        assert len(connection.recv(1000)) == 1000
        server.tell(9)
        server.end(status=-9)
        # The device is gone; the kernel knows no way any more.
        connection.settimeout(2)
    receiver = site.endpoint("receive", "/dev/full", 7000)
    receiver.wait_for("listening")
    with site.connect(7000) as connection, pytest.raises((ConnectionResetError, BrokenPipeError)):
        connection.sendall(bytes(100_000_000))
    receiver.end(status=1)
    assert "No space left" in receiver.said[-1]


def test_the_kernel_closes_its_window(site: Site, tmp_path: Path) -> None:
    file = written(tmp_path / "file", 3_000_000)
    with site.listening(SO_RCVBUF=20_000) as door:
        client = site.endpoint("send", file, host(4), "--json", "--set", "rto_min=0.2")
        with accept(door) as connection:
            time.sleep(4)
            assert digest_of(connection) == sha256(file)
    report = client.report()
    # Probes of a closed window are no retransmissions.
    assert report["duration_s"] > 4
    assert report["tcp"]["timeouts"] == 0, report["tcp"]


def test_we_close_our_window(site: Site, tmp_path: Path) -> None:
    file = written(tmp_path / "file", 3_000_000)
    receiver = site.endpoint("receive", "-", 7000, "--receive-buffer", "64KiB", stdout=subprocess.PIPE)
    receiver.wait_for("listening")
    with site.connect(7000) as connection:
        connection.setblocking(False)
        data, sent = file.read_bytes(), 0
        end = time.monotonic() + 3
        while time.monotonic() < end:  # nobody reads the pipe: everything fills up
            if select.select([], [connection], [], 0.2)[1]:
                sent += connection.send(data[sent:])
        assert 0 < sent < len(data)
        assert receiver.process.stdout is not None
        got: list[bytes] = []
        reader = threading.Thread(target=lambda: got.append(receiver.process.stdout.read()))
        reader.start()
        connection.setblocking(True)
        connection.sendall(data[sent:])
        connection.shutdown(socket.SHUT_WR)
        reader.join(60)
        receiver.process.stdout = None
    assert got == [data]
    receiver.end()


def test_keep_alive_of_both_sides(site: Site) -> None:
    with site.listening() as door:
        client = site.endpoint("connect", host(4), "--keep-alive", "0.5s,0.5s,3", stdin=subprocess.PIPE)
        with accept(door) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
            time.sleep(4)  # four to eight probes each way, all answered
            connection.sendall(b"still here")
            assert client.process.poll() is None
            run("ip", "-n", site.near, "route", "add", "blackhole", ENDPOINT[4])
            client.end(status=1, seconds=15)
    assert client.said[-1].endswith(": timed out\n"), client.said


@pytest.mark.parametrize("version", [4, 6])
def test_path_mtu(tmp_path: Path, version: int) -> None:
    file = written(tmp_path / "file", 5_000_000)
    with Site(far_mtu=1300) as site, site.listening(version, site.far) as door:
        sender = site.endpoint("send", file, host(version, addresses=FAR), "--json")
        with accept(door) as connection:
            assert digest_of(connection) == sha256(file)
        report = sender.report()
    assert report["tcp"]["path_mtu_bytes"] == 1300
    assert report["stack"]["path_mtu_lowered"] == 1
    assert report["tcp"]["mss_bytes"] == 1300 - (40 if version == 4 else 60) - 12


def test_many_connections_and_files(site: Site, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    file = written(root / "file", 400_000)
    server = site.endpoint("serve", root, "--port", 80, "--connections", 16, "--json", "--impair", "loss=0.5%,seed=2")
    server.wait_for("listening")

    def fetch(number: int) -> bytes:
        with site.connect(80, 4 if number % 2 else 6) as connection:
            connection.sendall(b"GET /file HTTP/1.0\r\n\r\n")
            page = b""
            while piece := connection.recv(1 << 16):
                page += piece
        head, _, body = page.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.0 200 OK\r\n")
        return body

    with ThreadPoolExecutor(24) as pool:
        for body in pool.map(fetch, range(60)):
            assert body == file.read_bytes()
    # A connection's line comes when its end is acknowledged, which may be after its client has everything.
    assert server.process.stdout is not None
    ended = [server.process.stdout.readline() for _ in range(60)]
    lines = [json.loads(line) for line in [*ended, *interrupt(server).splitlines()]]
    assert len(lines) == 61
    assert lines[-1]["stack"]["accepted"] == 60
    assert all(line["error"] is None for line in lines[:-1])


def test_a_flood_of_segments_without_a_connection(site: Site) -> None:
    server = site.endpoint("serve", "--echo", "--port", 7000)
    server.wait_for("listening")
    with site.connect(7000) as connection:
        for _ in range(3):
            with ThreadPoolExecutor(16) as pool:
                assert all(pool.map(lambda port: refused(site, port), range(7001, 7101)))
            connection.sendall(b"meanwhile")
            assert connection.recv(100) == b"meanwhile"
    interrupt(server)


def refused(site: Site, port: int) -> bool:
    try:
        site.connect(port).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["send", "/dev/null", "10.9.0.1"], 'HOST:PORT: found "10.9.0.1"; allowed: HOST:PORT, as 10.9.0.1:80'),
        (["send", "/dev/null", "10.9.0.1:1", "--set", "alpha"], '--set: found "alpha"; allowed: KEY=VALUE'),
        (["send", "/dev/null", "10.9.0.1:1", "--set", "alpha=2"], "--set alpha: found a parameter of other schemes"),
        (["send", "/dev/null", "10.9.0.1:1", "--impair", "loss=2"], "allowed: KEY=VALUE with loss, duplicate"),
        (["send", "/dev/null", "10.9.0.1:1", "--mtu", "500"], "--mtu: found 500; allowed: 1280 to 65535 bytes"),
        (["serve", "/dev/null", "--port", "80"], 'DIRECTORY: found "/dev/null" (a file); allowed: a directory'),
        (["serve", "--echo", "--sink", "--port", "80"], "cannot be used with"),
    ],
)
def test_what_cannot_be_used(site: Site, words: list[str], told: str) -> None:
    refusing = site.endpoint(*words)
    refusing.end(status=2)
    assert told in "".join(refusing.said)


def test_an_address_is_needed(site: Site) -> None:
    refusing = Process(site.near, "send", "/dev/null", host(4))
    refusing.end(status=2)
    assert "--address" in "".join(refusing.said)


def test_help_names_the_commands() -> None:
    shown = run(MESHPACED, "endpoint", "--help")
    assert all(word in shown for word in ("send", "receive", "connect", "serve"))
