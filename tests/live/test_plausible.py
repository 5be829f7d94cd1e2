"""What cannot be is noticed and keeps from pacing; what costs too much is taken back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from clock import PATIENCE_S
from daemon import Daemon
from net import MESHPACED, Net, wait_for
from traffic import Bulk

GUARD = 'true\nblock = "2s"\npairs = 1'


def command(daemon: Daemon, *words: str, status: int = 0) -> str:
    """What `meshpaced` prints, errors included."""
    full = (MESHPACED, *words, "--socket", daemon.socket)
    done = subprocess.run([str(w) for w in full], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == status, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def doubts(daemon: Daemon) -> set[str]:
    """What it doubts now."""
    return {doubt["name"] for doubt in daemon.status().get("doubts", [])}


def test_a_link_rate_that_cannot_be_keeps_from_pacing_and_the_guard_takes_it_back(tmp_path: Path) -> None:
    """16 Mbit/s over links of 11: what is believed is wrong, and pacing by it costs most of the goodput."""
    events = tmp_path / "events.jsonl"
    more = f'[events]\nfile = "{events}"\n'
    with (
        Net(tmp_path, None, room="p") as net,
        Daemon(net, "observe", guard=GUARD, more=more) as daemon,
        Bulk(net) as bulk,
    ):
        wait_for(lambda: "round-trip" in doubts(daemon), seconds=30)
        assert "-> its hops or the link rate are wrong" in command(daemon, "status")
        refused = command(daemon, "mode", "pace", status=2)
        assert "on the air over 4 hops (hops.default) at 11 Mbit/s" in refused
        assert "--anyway" in refused
        assert daemon.status()["mode"] == "observe"

        before = bulk.moves(0.5)
        said = command(daemon, "mode", "pace", "--anyway", "--wait", status=1)
        assert "guarded: for 6 s of traffic or so" in said
        assert "went back to the modes of before: in 1 pair of blocks pacing brought" in said
        status = daemon.status()
        assert (status["mode"], status["guard"]["state"]) == ("observe", "went-back")
        assert status["guard"]["ratio"] < 0.6
        wait_for(lambda: bulk.moves(0.5) > before / 3)

        assert daemon.said().count("doubt (round-trip)") == 1, "one line"
    told: list[dict[str, Any]] = [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]
    assert sum(event["event"] == "doubted" and event["name"] == "round-trip" for event in told) == 1
    assert [event["went_back"] for event in told if event["event"] == "guarded"] == [True]
