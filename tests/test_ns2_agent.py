"""The authors' agent in a script of ns-2: put in NewReno's place, and read as it paces."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from documents import ROOT
from meshpace.engine import Job
from meshpace.ns2.express import express
from meshpace.ns2.script import write_script

sys.path.insert(0, str(ROOT / "bench"))

from ns2_agent import Flow, flows_of, ours, row, with_agent

CROSS = Job(
    "llap-cross.toml",
    (ROOT / "scenarios" / "llap-cross.toml").read_bytes(),
    ("routing.protocol=static", "measure.duration=12s", "measure.warmup=4s"),
    "newreno",
    1,
)


def test_the_agent_takes_newrenos_place_and_tells_what_it_paces_by() -> None:
    plain = write_script(express(CROSS))
    script = with_agent(plain, Path("/a/libap.so"), 11e6)
    assert "load {/a/libap.so}\nAgent/TCP/Newreno/AP set n_factor_ 4\n" in script
    assert "Agent/TCP/Newreno/AP set ll_bandwidth_ 11000000\n" in script
    assert script.index("load {") < script.index("set seed [lindex $argv 0]"), "before anything is made"
    assert script.count("[new Agent/TCP/Newreno/AP]") == plain.count("[new Agent/TCP/Newreno]") == 2
    told = 'puts "paced $i [$src($i) set rate_interval_] [$src($i) set avg_n_hop_delay_] [$src($i) set adev_]"\n'
    assert script.count(told) == 1
    with pytest.raises(AssertionError):
        with_agent(script, Path("/a/libap.so"), 11e6)


def test_what_ns2_printed_is_read_flow_by_flow() -> None:
    output = """\
idle 9.0
begin 0 15000 12 1 0
begin 1 0 0 0 2
paced 0 0.05 0.02 0.5
paced 1 0.1 0.1 0.0
paced 0 0.03 0.03 0.25
end 0 315000 220 4 3
end 1 150000 100 0 2
finished
"""
    first, second = flows_of(output.splitlines(), 1460, 2.0)
    assert (first.armed, first.delay) == pytest.approx((40.0, 25.0))
    assert first.law == pytest.approx((20 * 2 + 30 * 1.5) / 2)
    assert first.goodput_kbps == pytest.approx(200 * 1460 * 8 / 2 / 1e3), "300,000 bytes with headers of 40"
    assert (first.timeouts, second.timeouts) == (3, 0)
    assert second == Flow(pytest.approx(100), pytest.approx(100), pytest.approx(100), pytest.approx(584), 0)


def test_means_over_flows_stand_in_a_row_and_ours_tells_no_armed_interval() -> None:
    found = [Flow(None, 10.0, 4.0, 100.0, 1.0), Flow(None, 20.0, 6.0, 300.0, 2.0)]
    assert row("ours", found) == ["ours", "", "15.0", "5.0", "200.0", "1.5"]
    flows = ours(CROSS._replace(scheme="tcp-ap-ns2-2005"))
    assert len(flows) == 2
    assert all(flow.law > flow.delay > 1 and flow.goodput_kbps > 10 for flow in flows)
