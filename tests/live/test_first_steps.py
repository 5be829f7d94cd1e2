"""What a newcomer meets: no file yet, no rights, several flows of a host."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from clock import PATIENCE_S
from daemon import Daemon
from net import MESHPACED, Net, run, wait_for
from traffic import Bulk


def meshpaced(net: Net, *words: object, status: int = 0, under: tuple[str, ...] = ()) -> str:
    """What a command prints in the gateway's namespace, errors included."""
    command = ["ip", "netns", "exec", net.gw, *under, MESHPACED, *words]
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == status, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def test_init_finds_the_mesh_by_its_routes_and_never_overwrites(tmp_path: Path) -> None:
    file = tmp_path / "meshpaced.toml"
    with Net(tmp_path, None, room="f") as net:
        said = meshpaced(net, "init", "--config", file, status=2)
        assert "no mesh found" in said
        assert "up0, mesh0" in said or "mesh0, up0" in said
        assert "--interface NAME" in said
        assert not file.exists()
        # As babeld enters them.
        run("ip", "-n", net.gw, "route", "add", "10.99.0.0/24", "via", "10.77.0.2", "dev", "mesh0", "proto", "babel")
        # On no 802.11 interface nobody tells the rate of its links, and none is made up.
        said = meshpaced(net, "init", "--config", file, status=2)
        assert "--rate: no 802.11 driver tells the rate of the links behind mesh0" in said
        assert not file.exists()
        said = meshpaced(net, "init", "--config", file, "--rate", "1Gbps")
        assert f"{file} written for mesh0 (routes of Babel)" in said
        assert f"meshpaced gateway --config {file}" in said, "the service would read another one"
        assert "will refuse" not in meshpaced(net, "check", file)
        assert 'interfaces = ["mesh0"] ' in meshpaced(net, "check", file)
        before = file.read_bytes()
        assert "stays as it is" in meshpaced(net, "init", "--config", file, "--interface", "up0", status=2)
        assert file.read_bytes() == before
        assert 'interfaces = ["up0"]' in meshpaced(net, "init", "--print", "--interface", "up0", "--rate", "1Gbps")
        daemon = Daemon(net, "observe")
        daemon.file.write_text(f"{file.read_text()}\n", encoding="utf-8")
        text = daemon.file.read_text().replace("[control]\n", f'[control]\nsocket = "{daemon.socket}"\n')
        daemon.file.write_text(text, encoding="utf-8")
        with daemon:
            assert daemon.status()["mesh_interfaces"] == ["mesh0"]
            assert daemon.status()["mode"] == "observe"


def test_every_command_without_a_file_says_what_to_do(tmp_path: Path) -> None:
    none = tmp_path / "none.toml"
    with Net(tmp_path, None, room="f") as net:
        for words in (("gateway", "--config", none), ("check", none), ("host", "--config", none)):
            assert "`meshpaced init` makes one" in meshpaced(net, *words, status=2)
        findings = json.loads(meshpaced(net, "doctor", "--json", "--config", none, status=1))["findings"]
        assert any("meshpaced init" in f["remedy"] for f in findings if f["subject"] == "configuration")
        assert "nothing to remove" in meshpaced(net, "undo", "--config", none)
        for words in (("status",), ("flows",), ("explain", "10.1.2.3"), ("reload",), ("mode", "pace"), ("stop",)):
            said = meshpaced(net, *words, "--socket", tmp_path / "none.sock", status=1)
            assert "is it running?" in said


def test_without_rights_a_command_says_so(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="f") as net:
        daemon = Daemon(net, "observe")
        # Root's user, so that it can read all, without a single capability.
        nobody = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
        for words in (("gateway", "--config", daemon.file), ("undo",)):
            said = meshpaced(net, *words, status=1, under=nobody)
            assert f"{words[0]} takes root's rights" in said
            assert f"sudo meshpaced {words[0]}" in said
        findings = json.loads(meshpaced(net, "doctor", "--json", "--config", daemon.file, status=1, under=nobody))
        rights = [f for f in findings["findings"] if f["subject"] == "rights"]
        assert [(f["severity"], f["found"]) for f in rights] == [
            ("serious", "no CAP_NET_ADMIN: queues and rules cannot be made")
        ]


def test_explain_lists_the_flows_of_a_host_that_has_several(tmp_path: Path) -> None:
    with Net(tmp_path, room="f") as net, Daemon(net, "observe") as daemon, Bulk(net, 4, down=True):
        socket = ("--socket", daemon.socket)
        # Known by its SYN; its direction, and with it a rate, by its first data.
        wait_for(lambda: len(daemon.flows()) == 1 and daemon.flows()[0]["direction"] == "down")
        assert "Rate to the mesh" in meshpaced(net, "explain", "10.77.0.2", *socket)
        with Bulk(net, 4, down=True):
            wait_for(lambda: len(daemon.flows()) == 2)
            said = meshpaced(net, "explain", "10.77.0.2", *socket)
            assert "2 flows fit: explain one of them by its name." in said
            assert all(flow["flow"] in said for flow in daemon.flows())
            listed = json.loads(meshpaced(net, "explain", "10.77.0.2", "--json", *socket))
            assert listed["flows"]["matching"] == 2
