"""Programs that fail, locks that are taken, rules that somebody adds: the daemon goes on, and its rules come back."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon import Daemon
from net import Net, run, wait_for
from test_rules import WAYS, tools
from traffic import Open

WAY = "iptables-nft"
LOCKED = "Another app is currently holding the xtables lock; waiting for it to exit..."


class Firewall:
    """The daemon's own iptables, which does as it is told."""

    def __init__(self, folder: Path) -> None:
        self.path = tools(folder, WAYS[WAY])
        self.order = folder / "order"
        for six in ("", "6"):
            name = f"ip{six}tables-nft-restore"
            real = shutil.which(name)
            program = Path(self.path) / name
            program.unlink()
            program.write_text(
                f'#!/bin/sh\nif [ -e {self.order} ]; then read words < {self.order}; echo "$words" >&2; exit 4; fi\n'
                f'exec {real} "$@"\n',
                encoding="utf-8",
            )
            program.chmod(0o755)

    @contextmanager
    def failing(self, words: str) -> Iterator[None]:
        """It fails with these words meanwhile."""
        self.order.write_text(words + "\n", encoding="utf-8")
        yield
        self.order.unlink()


def made(net: Net, folder: Path, firewall: Firewall) -> Daemon:
    """A daemon that finds only that firewall, not started."""
    daemon = Daemon(net, "observe", more=f'[events]\nfile = "{folder / "events.jsonl"}"\n')
    daemon.under = ["env", f"PATH={firewall.path}"]
    return daemon


def told(folder: Path, event: str) -> list[str]:
    """Messages of the events of that name."""
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [entry["message"] for entry in map(json.loads, lines) if entry["event"] == event]


def exchange(connection: Open, daemon: Daemon, seen: bool) -> None:
    """A word each way, which the daemon sees or does not."""
    before = daemon.status()["traffic"]["packets"]
    connection.cli.sendall(b"word")
    assert connection.srv.recv(10) == b"word"
    time.sleep(0.2)
    assert (daemon.status()["traffic"]["packets"] > before) == seen


def test_a_start_while_the_firewall_is_being_loaded(tmp_path: Path) -> None:
    firewall = Firewall(tmp_path)
    with Net(tmp_path, None, room="q") as net, Open(net) as connection:
        daemon = made(net, tmp_path, firewall)
        with firewall.failing(LOCKED):
            daemon.start()
            wait_for(lambda: len(told(tmp_path, "rules_failed")) >= 2)
            exchange(connection, daemon, seen=False)
        wait_for(lambda: told(tmp_path, "rules_made"))
        wait_for(lambda: "rules by iptables-nft" in daemon.said())
        exchange(connection, daemon, seen=True)
        assert "xtables lock" in told(tmp_path, "rules_failed")[0]
        daemon.stop()


def test_a_failed_check_ends_nothing(tmp_path: Path) -> None:
    firewall = Firewall(tmp_path)
    with Net(tmp_path, None, room="q") as net, Open(net) as connection, made(net, tmp_path, firewall) as daemon:
        exchange(connection, daemon, seen=True)
        with firewall.failing("RULE_APPEND failed (No such file or directory): rule in chain FORWARD"):
            run("ip", "netns", "exec", net.gw, "iptables-nft", "-t", "security", "-F")
            wait_for(lambda: len(told(tmp_path, "rules_failed")) >= 2)
            exchange(connection, daemon, seen=False)
        wait_for(lambda: len(told(tmp_path, "rules_made")) == 2)
        exchange(connection, daemon, seen=True)
        assert told(tmp_path, "rules_changed")


def test_rules_appended_behind_the_jump_are_noticed(tmp_path: Path) -> None:
    firewall = Firewall(tmp_path)
    with Net(tmp_path, None, room="q") as net, made(net, tmp_path, firewall) as daemon:
        rule = ("-t", "security", "-A", "FORWARD", "-p", "tcp", "-j", "CONNMARK", "--set-mark", "7")
        run("ip", "netns", "exec", net.gw, "iptables-nft", *rule)
        wait_for(lambda: len(told(tmp_path, "rules_made")) == 2)
        assert "behind the jump" in told(tmp_path, "rules_changed")[0]
        lines = run("ip", "netns", "exec", net.gw, "iptables-nft-save", "-t", "security").splitlines()
        forward = [line for line in lines if line.startswith("-A FORWARD")]
        assert "CONNMARK" in forward[0]
        assert forward[-1].endswith("-j meshpaced")
        assert daemon.serves()
