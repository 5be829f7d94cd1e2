"""The Debian package in a clean Debian: installed, used, upgraded, removed, purged.

The clean Debian is made by mmdebstrap from the machine's own package sources, once; it is kept below `target`.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from clock import PATIENCE_S
from daemon import Daemon
from net import MESHPACED, ROOT, TARGET, Net, run, wait_for
from test_privileges import confined
from traffic import Bulk

CLEAN = TARGET.parent / "packages" / "debian-root.tar"
pytestmark = pytest.mark.xdist_group("package")  # it is built once
GUIDES = "/usr/share/doc/meshpaced"
INCLUDED = "passwd,iproute2,nftables,iptables,logrotate"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the built daemon."""
    folder = tmp_path_factory.mktemp("packages")
    # Hardly compressed (dpkg-deb(1)): what takes longest of building one is no test's affair.
    quick = ("env", "DPKG_DEB_COMPRESSOR_LEVEL=0")
    return Path(run(*quick, ROOT / "packaging/deb/build.sh", MESHPACED, MESHPACED, folder).strip())


class Machine:
    """A clean Debian in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *words: object, status: int = 0) -> str:
        """What a command in it prints."""
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        command = ["chroot", str(self.root), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
        assert done.returncode == status, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def file(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def install(self, package: Path) -> str:
        shutil.copy(package, self.file("/tmp/meshpaced.deb"))
        return self.run("dpkg", "--force-confold", "-i", "/tmp/meshpaced.deb")

    def state(self) -> str:
        """What dpkg says of the package: `ii`, `rc`, or nothing."""
        listed = subprocess.run(
            ["chroot", self.root, "dpkg-query", "-W", "-f=${db:Status-Abbrev}", "meshpaced"],
            capture_output=True,
            text=True,
            check=False,
        )
        return listed.stdout.strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    if not CLEAN.exists():
        if shutil.which("mmdebstrap") is None:
            pytest.skip("needs mmdebstrap (Debian: apt install mmdebstrap)")
        CLEAN.parent.mkdir(parents=True, exist_ok=True)
        part = CLEAN.with_suffix(".part.tar")
        made = subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=essential", f"--include={INCLUDED}", "bookworm", str(part)],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            pytest.skip(f"no clean Debian to be had: {made.stderr.strip().splitlines()[-1:]}")
        part.rename(CLEAN)
    root = tmp_path / "root"
    root.mkdir()
    run("tar", "-C", root, "-xf", CLEAN, "--exclude=./dev/*")
    # Devices: what maintainer scripts write to.
    run("mknod", "-m", "666", root / "dev/null", "c", "1", "3")
    return Machine(root)


def newer(package: Path) -> Path:
    """The package as its next version, with another text in a file that the administrator may change."""
    tree = package.parent / "next"
    run("dpkg-deb", "-R", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(control.read_text().replace("Version: ", "Version: 1:"), encoding="utf-8")
    with (tree / "etc/logrotate.d/meshpaced").open("a", encoding="utf-8") as file:
        file.write("# the next version\n")
    made = package.parent / "next.deb"
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, made)
    return made


def test_what_is_in_it(package: Path) -> None:
    control = run("dpkg-deb", "-f", package)
    assert "Package: meshpaced\n" in control
    assert f"Architecture: {run('dpkg', '--print-architecture').strip()}\n" in control
    files = run("dpkg-deb", "-c", package)
    for path in (
        "usr/bin/meshpaced",
        "usr/lib/systemd/system/meshpaced.service",
        "usr/lib/systemd/system/meshpaced-host.service",
        "usr/lib/systemd/system/meshpaced-edge.service",
        "usr/lib/sysusers.d/meshpaced.conf",
        "etc/logrotate.d/meshpaced",
        "usr/share/man/man1/meshpaced.1.gz",
        "usr/share/man/man1/meshpaced-init.1.gz",
        "usr/share/bash-completion/completions/meshpaced",
        "usr/share/doc/meshpaced/copyright",
    ):
        assert f" ./{path}\n" in files, f"{path} is not in\n{files}"
    assert all(line.split()[1] == "root/root" for line in files.splitlines())
    assert str(ROOT) not in files


def test_installed_used_upgraded_removed_and_purged(machine: Machine, package: Path) -> None:
    said = machine.install(package)
    assert "next: meshpaced init" in said
    assert machine.state() == "ii"
    user = machine.run("getent", "passwd", "meshpaced").strip().split(":")
    assert user[5:] == ["/nonexistent", "/usr/sbin/nologin"]
    page = gzip.decompress(machine.file("/usr/share/man/man1/meshpaced-gateway.1.gz").read_bytes())
    assert b".TH meshpaced-gateway" in page
    machine.run("logrotate", "--debug", "/etc/logrotate.d/meshpaced")
    guides = {page.stem: gzip.decompress(page.read_bytes()).decode() for page in machine.file(GUIDES).glob("*.md.gz")}
    assert "hosts.md" in guides
    links = {link for text in guides.values() for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", text)}
    assert "meshpaced-config.md" in links
    assert links <= guides.keys(), "all that is linked to is there"

    # Without a file: what to do.
    assert "`meshpaced init` makes one" in machine.run("meshpaced", "check", status=2)
    init = ("meshpaced", "init", "--interface", "mesh0")
    assert "--rate: no 802.11 driver" in machine.run(*init, status=2)
    assert "/etc/meshpaced.toml written for mesh0" in machine.run(*init, "--rate", "54Mbps")
    assert "stays as it is" in machine.run("meshpaced", "init", "--interface", "mesh1", status=2)
    assert 'interfaces = ["mesh0"]' in machine.run("meshpaced", "check")

    serves_in(machine)

    toml = machine.file("/etc/meshpaced.toml")
    toml.write_text(toml.read_text().replace('"mesh0"', '"mesh7"'), encoding="utf-8")
    rotation = machine.file("/etc/logrotate.d/meshpaced")
    rotation.write_text("# the administrator's\n", encoding="utf-8")
    machine.install(newer(package))
    assert machine.run("dpkg-query", "-W", "-f=${Version}", "meshpaced").startswith("1:")
    assert "mesh7" in toml.read_text()
    assert rotation.read_text() == "# the administrator's\n"
    assert machine.run("getent", "passwd", "meshpaced").strip().split(":") == user

    machine.run("dpkg", "-r", "meshpaced")
    assert machine.state() == "rc"
    assert not machine.file("/usr/bin/meshpaced").exists()
    assert toml.exists(), "what the administrator wrote stays"
    machine.file("/var/log/meshpaced").mkdir()
    machine.file("/var/lib/meshpaced").mkdir()
    machine.run("dpkg", "-P", "meshpaced")
    assert machine.state() == ""
    gone = ("/etc/meshpaced.toml", "/etc/logrotate.d/meshpaced", "/var/log/meshpaced", "/var/lib/meshpaced")
    for path in (*gone, "/usr/share/doc/meshpaced"):
        assert not machine.file(path).exists(), path


def serves_in(machine: Machine) -> None:
    """The installed daemon, as the unit starts it, between a mesh and the Internet."""
    runtime = machine.file("/run/meshpaced")
    runtime.mkdir(parents=True)
    numbers = [int(n) for n in machine.run("getent", "passwd", "meshpaced").split(":")[2:4]]
    shutil.chown(runtime, *numbers)
    rights = [word.replace("64001", "meshpaced") for word in confined("meshpaced.service")]
    rights = ["--groups=0" if word.startswith("--groups") else word for word in rights]
    with Net(machine.root.parent, room="k") as net:
        inside = (
            'root=$1; shift; mount --rbind /proc "$root/proc"; mount --rbind /sys "$root/sys"; exec chroot "$root" "$@"'
        )
        words = ["ip", "netns", "exec", net.gw, "unshare", "--mount", "sh", "-ec", inside, "sh", machine.root]
        words += [*rights, "/usr/bin/meshpaced", "gateway"]
        daemon = Daemon(net, "observe")
        daemon.socket = runtime / "control.sock"
        with daemon.errors.open("ab") as errors:
            daemon.process = subprocess.Popen([str(word) for word in words], stdout=errors, stderr=errors)
        try:
            wait_for(lambda: daemon.serves() and " on queue " in daemon.said())
            with Bulk(net, 4, down=True):
                wait_for(lambda: any(flow["samples"] > 5 for flow in daemon.flows()))
            assert "meshpaced" in machine.run("meshpaced", "status")
            assert json.loads(machine.run("meshpaced", "status", "--json"))["status"]["pid"] == daemon.process.pid
            machine.run("meshpaced", "stop")
            assert daemon.process.wait(timeout=PATIENCE_S) == 0, daemon.said()
        finally:
            if daemon.process.poll() is None:
                daemon.process.kill()
                daemon.process.wait()
        assert not daemon.socket.exists()
