"""`meshpaced doctor` on machines with and without troubles."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from daemon import Daemon
from net import MESHPACED, Net, run, wait_for
from traffic import Bulk


def doctor(net: Net, file: Path, status: int | None, *more: object) -> list[dict[str, Any]]:
    """What it finds in the gateway's namespace."""
    words = ["ip", "netns", "exec", net.gw, MESHPACED, "doctor", "--json", "--config", file, *more]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    said = json.loads(done.stdout)
    findings = list(said["findings"])
    assert said["serious"] == sum(f["severity"] == "serious" for f in findings)
    assert all(f["remedy"] for f in findings if f["severity"] in ("warning", "serious"))
    return findings


def about(findings: list[dict[str, Any]], subject: str) -> set[tuple[str, str]]:
    return {(f["severity"], f["found"]) for f in findings if f["subject"] == subject}


def test_a_good_machine_and_its_troubles(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="c") as net:
        file = Daemon(net, "observe").file
        findings = doctor(net, file, 0)
        assert about(findings, "mesh interface") == {("good", "mesh0: up, MTU 1500, veth")}
        assert about(findings, "forwarding") == {("good", "IPv4"), ("good", "IPv6")}
        assert about(findings, "flow offload") == set()

        run("ip", "netns", "exec", net.gw, "sysctl", "-qw", "net.ipv4.ip_forward=0")
        run("ip", "-n", net.gw, "link", "set", "mesh0", "mtu", "1000")
        # Neither needs a module that this kernel may lack: a flowtable on a device, a rule that uses it.
        flowtable = "table inet t {\n flowtable ft {\n hook ingress priority 0\n devices = { up0 }\n }\n chain c {\n"
        flowtable += " type filter hook forward priority 0\n ip protocol tcp flow add @ft\n }\n}\n"
        offload = subprocess.run(
            ["ip", "netns", "exec", net.gw, "nft", "-f", "-"],
            input=flowtable,
            text=True,
            capture_output=True,
            check=False,
        )
        findings = doctor(net, file, 1)
        assert ("serious", "net.ipv4.ip_forward is 0: this host forwards no IPv4") in about(findings, "forwarding")
        assert any(severity == "warning" and "1000" in found for severity, found in about(findings, "mesh interface"))
        offloads = about(findings, "flow offload")
        assert len(offloads) == (1 if offload.returncode == 0 else 0)
        assert all(severity == "serious" and "flowtable ft (software)" in found for severity, found in offloads)


def test_a_tunnel_and_a_missing_interface(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="c") as net:
        run("ip", "-n", net.gw, "link", "add", "vx0", "type", "vxlan", "id", "7", "dev", "up0", "dstport", "4789")
        run("ip", "-n", net.gw, "link", "set", "vx0", "up")
        daemon = Daemon(net, "observe")
        assert any("vx0 (vxlan)" in found for _, found in about(doctor(net, daemon.file, 0), "tunnel"))
        daemon.file.write_text(daemon.file.read_text().replace("mesh0", "mesh9"), encoding="utf-8")
        assert ("serious", "mesh9 does not exist") in about(doctor(net, daemon.file, 1), "mesh interface")


def test_a_bad_file_is_the_users_fault(tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    file.write_text('mode = "past"\n', encoding="utf-8")
    done = subprocess.run([MESHPACED, "doctor", "--config", file], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f'{file}:1: mode: found "past"' in done.stderr


def test_a_daemon_at_another_socket_than_the_files_is_asked_there(tmp_path: Path) -> None:
    """Its mode was set at run time, and with it which rules shape hosts: they are as they should be."""
    with (
        Net(tmp_path, None, room="c") as net,
        Daemon(net, "observe", rate="1Gbps", hops=1, more='[hosts]\nrate = "100Mbps"\n') as daemon,
        Bulk(net, pause=0.05),
    ):
        wait_for(daemon.flows)
        assert "done" in daemon.ask("mode", mode="pace")
        other = tmp_path / "other.toml"
        other.write_text(daemon.file.read_text(encoding="utf-8").replace(str(daemon.socket), "/run/none.sock"))
        assert {severity for severity, _ in about(doctor(net, other, 1), "queue")} == {"serious"}
        # The rules follow the mode a moment later.
        asked = (net, other, None, "--socket", daemon.socket)
        wait_for(lambda: {severity for severity, _ in about(doctor(*asked), "rules")} == {"good"})
        told = doctor(net, other, 0, "--socket", daemon.socket)
        assert about(told, "asymmetric routing") == {("good", "both directions of all 1 flows pass here")}
