"""The daemon with the rights that its unit gives it, and who may ask it what."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clock import PATIENCE_S
from daemon import Daemon
from edge import Edge
from net import MESHPACED, ROOT, Delays, Net, run, wait_for
from traffic import Bulk

OWNER, LOOKER, STRANGER = 64_001, 64_002, 64_003
LOOKERS = 64_010


def unit(*files: str) -> dict[str, list[str]]:
    """The directives of units, each with the words of all its lines."""
    directives: dict[str, list[str]] = {}
    for file in files:
        for line in (ROOT / "packaging" / "systemd" / file).read_text(encoding="utf-8").splitlines():
            name, is_one, value = line.partition("=")
            if is_one and not line.startswith("#"):
                directives.setdefault(name, []).extend(value.split())
    return directives


def may(limit: str) -> bool:
    """Whether this process, maybe in a container, may raise a limit as systemd does."""
    return subprocess.run(["prlimit", limit, "true"], capture_output=True, check=False).returncode == 0


def confined(*files: str) -> list[str]:
    """`setpriv` and `prlimit` as systemd would start the unit: user, groups, capabilities, limits."""
    said = unit(*files)
    limits = [f"--rtprio={limit}" for limit in said.get("LimitRTPRIO", ())] + ["--memlock=unlimited"]
    capabilities = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in said["AmbientCapabilities"])
    bounding = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in said["CapabilityBoundingSet"])
    return [
        "prlimit",
        *filter(may, limits),
        "setpriv",
        f"--reuid={OWNER}",
        f"--regid={OWNER}",
        f"--groups=0,{LOOKERS}",
        f"--bounding-set=-all,{bounding}",
        f"--inh-caps=-all,{capabilities}",
        f"--ambient-caps=-all,{capabilities}",
        "--no-new-privs",
    ]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder like the unit's RuntimeDirectory: its user's, passable for others."""
    made = Path(f"/run/meshpaced-test-{os.getpid()}")
    made.mkdir()
    made.chmod(int(unit("meshpaced.service")["RuntimeDirectoryMode"][0], 8))
    os.chown(made, OWNER, OWNER)
    yield made
    shutil.rmtree(made)


def ask(daemon: Daemon, user: int, *command: str, status: int = 0) -> str:
    """What a command says to a user who is in the group of those who may look."""
    groups = f"--groups={LOOKERS}" if user != STRANGER else "--clear-groups"
    words = ["setpriv", f"--reuid={user}", f"--regid={user}", groups, "--bounding-set=-all", "--inh-caps=-all"]
    words += [str(MESHPACED), *command, "--socket", str(daemon.socket)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == status, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def serving(net: Net, folder: Path, files: tuple[str, ...], mode: str = "pace", top: str = "") -> Daemon:
    """A daemon with the unit's rights; its socket is for LOOKERS, too."""
    more = f'group = "{LOOKERS}"\n[events]\nfile = "{folder}/events.jsonl"\n'
    daemon = Daemon(net, mode, top=top, more=more)
    daemon.socket = folder / "control.sock"
    daemon.write(mode)
    # Its user must reach the file and the program; a test's folder is root's alone.
    daemon.file = Path(shutil.copy(daemon.file, folder / "meshpaced.toml"))
    daemon.file.chmod(0o644)
    daemon.under = confined(*files)
    return daemon


def told(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "events.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def meshpaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program where any user may run it."""
    program = Path(shutil.copy(MESHPACED, folder / "meshpaced"))
    program.chmod(0o755)
    monkeypatch.setattr("daemon.MESHPACED", program)
    monkeypatch.setattr("edge.MESHPACED", program)
    monkeypatch.setitem(globals(), "MESHPACED", program)


@pytest.mark.usefixtures("meshpaced")
def test_the_units_rights_suffice_and_who_may_change_is_told_from_who_may_look(tmp_path: Path, folder: Path) -> None:
    with Net(tmp_path, room="p") as net, serving(net, folder, ("meshpaced.service",)) as daemon:
        assert daemon.process is not None
        bits = 1 << 12 | 1 << 13  # linux/capability.h
        assert capabilities(daemon.process) == ([str(OWNER)] * 4, bits, bits)
        with Bulk(net, 4, down=True) as bulk:
            wait_for(lambda: any(f["paced"] and f["samples"] > 20 for f in daemon.flows()))
            assert bulk.goes_on()
        if all(map(may, ("--rtprio=50", "--memlock=unlimited"))):
            assert "SCHED_FIFO 50, memory locked" in daemon.said()

        mode = stat.S_IMODE(daemon.socket.stat().st_mode)
        assert (mode, daemon.socket.stat().st_uid, daemon.socket.stat().st_gid) == (0o660, OWNER, LOOKERS)
        assert "mode       pace" in ask(daemon, LOOKER, "status")
        ask(daemon, LOOKER, "flows")
        for change in (("mode", "observe"), ("reload",), ("stop",)):
            refused = ask(daemon, LOOKER, *change, status=1)
            assert (
                f"only root and the daemon's user (uid {OWNER}) may change something; uid {LOOKER} may look" in refused
            )
        assert "permission denied" in ask(daemon, STRANGER, "status", status=1)
        assert daemon.status()["mode"] == "pace", "nothing has changed"
        ask(daemon, OWNER, "mode", "observe")
        ask(daemon, 0, "reload")
        changes = wait_for(
            lambda: (
                [e for e in told(folder) if e["event"] in ("change_denied", "mode_changed", "reloaded")][4:]
                and [e for e in told(folder) if e["event"] in ("change_denied", "mode_changed", "reloaded")]
            )
        )
        named = [(e["event"], e["uid"]) for e in changes]
        assert named == [("change_denied", LOOKER)] * 3 + [("mode_changed", OWNER), ("reloaded", 0)]
        assert all(e["pid"] > 1 for e in changes)


def capabilities(process: subprocess.Popen[bytes]) -> tuple[list[str], int, int]:
    """Of which user a process is, what it may, and what it could at most."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    return lines["Uid"].split(), int(lines["CapEff"], 16), int(lines["CapBnd"], 16)


def thinning(net: Net, folder: Path, datapath: str) -> Edge:
    """An edge with its unit's rights."""
    edge = Edge(net, net.gw, "mesh0", f'datapath = "{datapath}"\n', socket=folder / "edge.sock")
    edge.file = Path(shutil.copy(edge.file, folder / "edge.toml"))
    edge.file.chmod(0o644)
    edge.under = confined("meshpaced-edge.service")
    return edge


EDGES = {"NET_ADMIN": 12, "NET_RAW": 13, "PERFMON": 38, "BPF": 39}  # linux/capability.h


@pytest.mark.usefixtures("meshpaced")
@pytest.mark.parametrize("datapath", ["ebpf", "nfqueue"])
def test_the_edges_units_rights_suffice(tmp_path: Path, folder: Path, datapath: str) -> None:
    with Net(tmp_path, Delays(wired=0.005, mesh=0.005), room="p") as net, Bulk(net, down=False) as up:
        edge = thinning(net, folder, datapath)
        with edge:
            assert edge.process is not None
            bits = sum(1 << bit for bit in EDGES.values())
            assert capabilities(edge.process) == ([str(OWNER)] * 4, bits, bits)
            wait_for(lambda: edge.status()["thinned"] > 50)
            assert edge.status()["datapath"] == datapath
            edge.kill()
        # What the unit does after it, by the same rights.
        said = run("ip", "netns", "exec", net.gw, *edge.under, *edge.words("edge", "--undo")[4:])
        assert "socket" in said
        assert ("rules" in said) == (datapath == "nfqueue")
        assert edge.leftovers() == ""
        assert up.goes_on()


@pytest.mark.usefixtures("meshpaced")
@pytest.mark.parametrize("without", EDGES)
def test_an_edge_with_a_right_less_than_its_unit_gives_does_not_start(
    tmp_path: Path, folder: Path, without: str
) -> None:
    with Net(tmp_path, None, room="p") as net:
        edge = thinning(net, folder, "ebpf")
        name = f"+{without.lower()}"
        assert all(name in word for word in edge.under if "caps=" in word or "bounding-set" in word)
        edge.under = [word.replace(f",{name}", "") for word in edge.under]
        with pytest.raises(AssertionError, match="it ended"):
            edge.start()
        assert f"CAP_{without}" in edge.said()
        edge.process = None


@pytest.mark.usefixtures("meshpaced")
def test_the_ebpf_data_path_takes_the_drop_in(tmp_path: Path, folder: Path) -> None:
    top = 'datapath = "ebpf"'
    with Net(tmp_path, None, room="p") as net:
        refused = serving(net, folder, ("meshpaced.service",), "observe", top)
        with pytest.raises(AssertionError, match="it ended"):
            refused.start()
        assert "meshpaced-ebpf.conf" in refused.said()
        with serving(net, folder, ("meshpaced.service", "meshpaced-ebpf.conf"), "observe", top) as daemon:
            assert daemon.status()["datapath"] == "ebpf"


@pytest.mark.usefixtures("meshpaced")
def test_a_group_that_its_user_is_not_in_is_named(tmp_path: Path, folder: Path) -> None:
    with Net(tmp_path, None, room="p") as net:
        daemon = serving(net, folder, ("meshpaced.service",), "observe")
        daemon.file.write_text(daemon.file.read_text().replace(str(LOOKERS), str(STRANGER)), encoding="utf-8")
        with pytest.raises(AssertionError, match="it ended"):
            daemon.start()
        assert f'the daemon\'s user is not in the group "{STRANGER}"' in daemon.said()
        assert [path.name for path in folder.iterdir() if path.is_dir()] == [], "nothing is left behind"
