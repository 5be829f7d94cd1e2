"""bench/hosts.py: what a simulated gateway that shapes by host comes to, on short runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import hosts
import meshpace
from meshpace.stats import jain_index

CUBIC = "here"


def got(flows: dict[int, int], by: str | None = None, rate: str = hosts.FAR_RATE) -> hosts.Got:
    """A run of 30 s with so many downloads of each host."""
    shaper = None if by is None else {"gateway": "hosts", "hosts_by": by, "hosts_rate": rate}
    return hosts.run({host: (count, CUBIC) for host, count in flows.items()}, shaper, seed=1, seconds=30)


def test_a_host_with_one_download_gets_what_a_host_with_twenty_gets() -> None:
    flows = {10: 1, 11: 20}
    plain, shaped = got(flows), got(flows, "bytes")
    assert plain.jain < 0.8, plain
    assert shaped.jain > 0.98, shaped
    assert shaped.total > 0.85 * plain.total, (plain, shaped)
    assert shaped.delays["h10"] < plain.delays["h10"] / 2, (plain, shaped)


def test_a_far_host_does_not_starve_beside_a_near_one() -> None:
    flows = {0: 4, 10: 4}
    assert got(flows).hosts["h10"] < 50
    by_bytes = got(flows, "bytes", "1.3Mbps").hosts
    assert by_bytes["h10"] == pytest.approx(by_bytes["h0"], rel=0.1)
    # Three hops cost three times one hop.
    by_air = got(flows, "airtime", "2.5Mbps").hosts
    assert by_air["h10"] == pytest.approx(by_air["h0"] / 3, rel=0.1)


def test_a_rate_that_is_found_leaves_a_far_host_its_share() -> None:
    shaper: hosts.Shaper = {"gateway": "hosts", "hosts_by": "bytes", "hosts_find": "delay"}
    found = hosts.run({0: (4, CUBIC), 10: (4, CUBIC)}, shaper, seed=1, seconds=30)
    assert found.jain > 0.95, found
    assert found.total > 1200, "no less than a fixed rate gives both"
    alone = hosts.run({0: (1, CUBIC)}, shaper, seed=1, seconds=20, nodes=hosts.chain(3, 1))
    assert 950 < alone.total < 1100, alone
    assert alone.delays["h0"] < 100, alone


def test_every_host_of_a_crowd_has_its_share() -> None:
    crowd = got(dict.fromkeys(hosts.FAR, 10), "bytes")
    assert crowd.starved <= 2, "of a hundred; whoever asks again is served"
    assert (jain_index(list(crowd.hosts.values())) or 0) > 0.98, crowd
    assert crowd.wait_p95 is not None
    assert crowd.wait_p95 < 600, crowd
    assert got({10: 2}, "bytes").total < 900, "the rate bounds what goes into the mesh"


@pytest.mark.parametrize("host", [0, 1])
def test_a_call_comes_in_time_beside_downloads(host: int) -> None:
    """Of its own host and of another, over three hops; alone it takes 16 ms, and 66 at most in the mean of runs."""
    found = hosts.auto("bytes")["hosts by bytes, auto"]
    what = hosts.scenario({host: (4, CUBIC)}, found, 30, hosts.chain(3, 2), hosts.CALL)
    flows = meshpace.run(what, seed=3)["flows"]
    calls = [flow for flow in flows if flow["app"] == "cbr"]
    assert len(calls) == 2
    assert all(call["delay_p99_s"] < 0.080 and call["loss_ratio"] < 0.01 for call in calls), calls
    assert sum(flow["goodput_bps"] for flow in flows if flow["app"] == "ftp") > 150_000, flows
