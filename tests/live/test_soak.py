"""`make soak`'s hour in a quarter of a minute: that it runs, and that it sees what it is to see."""

from __future__ import annotations

from pathlib import Path

import pytest
import soak_gateway
from net import Net, run, wait_for
from soak_gateway import MIB, Crowds, Sample, Soak


def life(*mebibytes: float, pid: int = 1) -> list[Sample]:
    """A process whose memory was looked at once in ten seconds."""
    return [Sample(10.0 * number, pid, int(size * MIB), 20) for number, size in enumerate(mebibytes)]


@pytest.mark.takes(22)
def test_a_gateway_is_soaked_for_some_seconds(tmp_path: Path) -> None:
    done = soak_gateway.soak(tmp_path, 12, 100, seed=2, mean_gap_s=2)
    told = list(done.tell())
    assert done.judge() == [], told
    assert done.faults is not None
    assert done.crowds is not None
    assert sum(done.faults.done.values()) >= 1, told
    assert done.crowds.total("opened") == done.crowds.total("ended") > 100, told
    assert done.crowds.total("words") > 100, told
    assert done.samples, "its memory was looked at"


@pytest.mark.takes(21)
def test_connections_that_end_otherwise_are_lost(tmp_path: Path) -> None:
    with Net(tmp_path, None, room="u") as net:
        crowds = Crowds(net, 20, seed=1)
        try:
            wait_for(lambda: crowds.last and crowds.total("words") >= 20)
            rule = "chain c { type filter hook forward priority 0; tcp flags ack reject with tcp reset; }"
            run("ip", "netns", "exec", net.gw, "nft", f"table inet broken {{ {rule}; }}")
            wait_for(lambda: crowds.total("lost") > 0)
            run("ip", "netns", "exec", net.gw, "nft", "delete table inet broken")
            crowds.finish()
        finally:
            crowds.kill()
        found = Soak(crowds=crowds).judge()
        assert found
        assert all(line.startswith("lost: ") for line in found), found


def test_memory_that_grows_is_seen_behind_the_start() -> None:
    steady = life(10, 60, 80, 100, 100, 101, 100, 101, 102)
    assert soak_gateway.flat(steady), "what a process takes at its start is its own affair"
    assert not soak_gateway.flat(life(10, 60, 80, 100, 104, 108, 112, 116, 120))
    assert [len(one) for one in soak_gateway.lives([*steady, *life(5, 6, pid=2)])] == [9, 2]
