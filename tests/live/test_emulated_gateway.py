"""The gateway of an emulation as a host of its own: its kernel forwards, and `meshpaced gateway` works there."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from control import ask
from daemon import CONFIG
from emulating import MESH, Emulation, called
from net import MESHPACED, wait_for
from test_emulate_frames import CHAIN

SIZE = 600_000
# Whoever connects gets the file; whoever asks gets its own.
SERVE = """\
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.socket(family, socket.SOCK_STREAM) as door:
    door.bind((sys.argv[1], 5001))
    door.listen()
    print("up", flush=True)
    client, _ = door.accept()
    with client, open(sys.argv[2], "rb") as file:
        client.sendfile(file)
        client.shutdown(socket.SHUT_WR)
        client.recv(1)
"""
FETCH = """\
import hashlib, socket, sys
with socket.create_connection((sys.argv[1], 5001), 90) as server:
    server.settimeout(90)
    digest = hashlib.sha256()
    while data := server.recv(65536):
        digest.update(data)
    print(server.getsockname()[1], digest.hexdigest())
"""
GATEWAY = """
[[emulate.host]]
node = "n3"
run = "exec {run}"
"""


def answers(path: Path) -> bool:
    try:
        return "status" in ask(path, "status")
    except OSError:
        return False


@pytest.mark.parametrize(("server", "client"), [("10.77.0.6", "10.77.0.2"), ("fd77::a4d:6", "fd77::a4d:2")])
def test_the_daemon_paces_what_crosses_a_gateway_that_is_a_host(tmp_path: Path, server: str, client: str) -> None:
    name = called(40)
    control = Path(f"/run/{name}.sock")
    config = tmp_path / "meshpaced.toml"
    config.write_text(CONFIG.format(mode="pace", top="", rate="11Mbps", hops=3, socket=control, more="", guard="false"))
    data = tmp_path / "file"
    data.write_bytes(bytes(number * number % 251 for number in range(SIZE)))
    text = MESH + GATEWAY.format(run=f"{MESHPACED} gateway --config {config}")
    with Emulation(tmp_path, name, text) as emulation:
        emulation.wait_until_up()
        wait_for(lambda: emulation.process.poll() is not None or answers(control))
        with emulation.beside("B", sys.executable, "-c", SERVE, server, data) as serving:
            assert serving.stdout is not None
            assert serving.stdout.readline() == "up\n"
            with emulation.beside("n0", sys.executable, "-c", FETCH, server) as fetching:
                flow = wait_for(lambda: _paced(control, client))
                assert fetching.stdout is not None
                port, digest = fetching.stdout.read().split()
        assert digest == hashlib.sha256(data.read_bytes()).hexdigest(), "byte for byte"
        assert flow["wireless"].endswith(f":{port}")
        traffic = ask(control, "status")["status"]["traffic"]
        assert traffic["failed"] == 0
        assert traffic["held_total"] > 100, "packets waited for their turn"
        # Of the round trip it sees the mesh's part: three hops of at least 1.4 ms, and back.
        assert flow["wireless_rtt_s"] > 0.005
        hop = emulation.run("B", "cat", "/proc/net/dev").stdout
        assert "wired0" not in hop, "a second device is the gateway's alone"
        emulation.process.terminate()
        emulation.process.communicate(timeout=60)
    control.unlink(missing_ok=True)


def _paced(control: Path, client: str) -> dict[str, Any] | None:
    flows = ask(control, "flows")["flows"]["list"]
    mine = [flow for flow in flows if client in flow["wireless"] and flow["queued"] and flow["wireless_rtt_s"]]
    return mine[0] if mine else None


def test_gateway_and_edge_run_at_nodes_whose_kernels_forward(tmp_path: Path) -> None:
    """The hops are those of the time to live, which routers count down here; the receiver's node thins its answers."""
    name = called(42)
    control, edge = (Path(f"/run/{name}{end}.sock") for end in ("", "-edge"))
    config, thins = tmp_path / "meshpaced.toml", tmp_path / "edge.toml"
    text = CONFIG.format(mode="pace", top="", rate="11Mbps", hops=9, socket=control, more="", guard="false")
    config.write_text(text.replace("sources = []", 'sources = ["ttl"]'))
    thins.write_text(f'[edge]\nsocket = "{edge}"\nlisten = "off"\n')
    data = tmp_path / "file"
    data.write_bytes(bytes(number * number % 251 for number in range(SIZE // 4)))
    daemons = {"n3": f"gateway --config {config}", "n0": f"edge --config {thins} --interface mesh0"}
    nodes = [f'[[emulate.node]]\nnode = "{node}"\nrun = "exec {MESHPACED} {run}"\n' for node, run in daemons.items()]
    with Emulation(tmp_path, name, "\n".join([CHAIN, *nodes])) as emulation:
        emulation.wait_until_up()
        wait_for(lambda: emulation.process.poll() is not None or (answers(control) and edge.exists()))
        with emulation.beside("B", sys.executable, "-c", SERVE, "10.77.0.6", data) as serving:
            assert serving.stdout is not None
            assert serving.stdout.readline() == "up\n"
            with emulation.beside("n0", sys.executable, "-c", FETCH, "10.77.0.6") as fetching:
                flow = wait_for(lambda: _paced(control, "10.77.0.2"))
                assert fetching.stdout is not None
                _, digest = fetching.stdout.read().split()
        assert digest == hashlib.sha256(data.read_bytes()).hexdigest(), "byte for byte"
        assert flow["hops"] == 3
        assert ask(control, "status")["status"]["traffic"]["held_total"] > 20, "packets waited for their turn"
        said = emulation.run("n0", MESHPACED, "edge", "--config", thins, "--status", "--json")
        assert json.loads(said.stdout)["thinned"] > 8, said.stdout
        emulation.process.terminate()
        emulation.process.communicate(timeout=60)
    for path in (control, edge):
        path.unlink(missing_ok=True)


@pytest.mark.takes(41)
def test_without_a_daemon_its_kernel_forwards_and_counts_down(tmp_path: Path) -> None:
    """A datagram each way is one hop shorter lived behind the gateway, and goes through both of its devices."""
    with Emulation(tmp_path, called(41), MESH.replace("120s", "40s") + '[[emulate.host]]\nnode = "n3"\n') as emulation:
        emulation.wait_until_up()
        wait_for(lambda: "wired0" in emulation.run("n3", "ip", "route").stdout)
        ttl = (
            "import socket, struct, sys\n"
            "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            "s.setsockopt(socket.IPPROTO_IP, 12, 1)\n"  # IP_RECVTTL
            "s.bind(('', 9)); s.settimeout(60); print('up', flush=True)\n"
            "_, said, _, _ = s.recvmsg(99, 99)\n"
            "print(struct.unpack('i', said[0][2])[0])\n"
        )
        say = "import socket, sys\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', (sys.argv[1], 9))\n"
        for here, there, address in (("n0", "B", "10.77.0.6"), ("B", "n0", "10.77.0.2")):
            with emulation.beside(there, sys.executable, "-c", ttl) as listens:
                assert listens.stdout is not None
                assert listens.stdout.readline() == "up\n"
                emulation.run(here, sys.executable, "-c", say, address)
                assert listens.stdout.readline() == "63\n", f"{here} to {there}"
        result = emulation.result()
    rows = {(row["from"], row["to"]): row for row in result["traffic"]}
    assert rows["n0", "B"]["delivered"] == 1
    assert (rows["n0", "B"]["hops"], rows["B", "n0"]["hops"]) == (3, 3)
    (gateway,) = (host for host in result["hosts"] if host["gateway"])
    assert gateway["node"] == "n3"
