"""`meshpace run --why`, `--film`, `--report`: what flows lost, where and why, adds up with the counters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commanding import CHAIN, Cli
from meshpace import engine
from meshpace.rates_used import rate_rows
from meshpace.results import FlowLoss, RunResult
from meshpace.why import CAUSES, aggregated, by_cause, carrying, suffering, told, verdicts
from test_bad_input import expect_refusal

LONG = CHAIN.replace("hops = 2", "hops = 8").replace('to = "n2"', 'to = "n8"').replace("4s", "30s")


def explain(text: str, *settings: str) -> tuple[RunResult, list[FlowLoss]]:
    result, losses = engine.why(engine.Job("mesh.toml", text.encode(), settings))
    return json.loads(result), losses


@pytest.mark.parametrize("protocol", ["static", "aodv"])
def test_losses_add_up_with_the_links(protocol: str) -> None:
    run, losses = explain(LONG, f"routing.protocol={protocol}")
    assert all(loss["cause"] in CAUSES for loss in losses)
    for link in run["links"]:
        given_up = [loss for loss in losses if loss["cause"] == "given-up" and loss["from"] == link["from"]]
        here = sum(loss["packets"] for loss in given_up if loss["to"] == link["to"])
        dropped = link["data_drops"] + link["ack_drops"]
        if protocol == "static":
            assert here == dropped, "with routes that stay, what the MAC gives up is lost"
        else:
            assert here <= dropped, "AODV may have another way for it"
    total = sum(by_cause(losses).values())
    assert total > 0, "otherwise this shows nothing"
    plain = engine.run_many_json([engine.Job("mesh.toml", LONG.encode(), (f"routing.protocol={protocol}",))])[0]
    assert json.loads(plain)["flows"] == run["flows"], "looking changes nothing"


def test_a_full_queue_is_told_of() -> None:
    fast = CHAIN.replace('to = "n2"', 'to = "n2"\napp = "cbr"\nrate = "20Mbps"\npacket = 1000')
    run, losses = explain(fast)
    (queue,) = (loss for loss in losses if loss["cause"] == "queue")
    assert (queue["from"], queue["to"], queue["kind"]) == ("n0", "n1", "data")
    (link,) = (link for link in run["links"] if (link["from"], link["to"]) == ("n0", "n1"))
    assert queue["packets"] == link["queue_drops"]
    (verdict,) = verdicts(run, losses)
    assert verdict.top == f"losses: {queue['packets']:,} data packets (dropped by a queue) at n0 → n1"
    assert told({**queue, "kind": "ack", "packets": 1}) == "1 acknowledgement (dropped by a queue) at n0 → n1"


def test_a_wired_link_is_told_of() -> None:
    text = CHAIN.replace('to = "n2"', 'to = "host"\napp = "cbr"\nrate = "1Mbps"\npacket = 1000')
    text += '\n[[node]]\nid = "host"\nrole = "wired"\n[[link]]\na = "n2"\nb = "host"\nrate = "100kbps"\ndelay = "1ms"\n'
    run, losses = explain(text)
    (wired,) = (loss for loss in losses if (loss["from"], loss["to"]) == ("n2", "host"))
    assert wired["cause"] == "queue"
    (link,) = (link for link in run["links"] if (link["from"], link["to"]) == ("n2", "host"))
    assert wired["packets"] == link["queue_drops"]


def test_what_holds_a_flow_back() -> None:
    paced = verdicts(*explain(CHAIN, "flow.0.scheme=fixed-rate", "scheme.fixed-rate.fixed_rate=120kbps"))[0]
    assert paced.top.startswith("its pace: a segment every 100.0 ms")
    narrow = verdicts(*explain(CHAIN, "flow.0.window=1"))[0]
    assert narrow.top.startswith("its window: 1.0 segments a round trip of ")
    rated = verdicts(*explain(CHAIN, "flow.0.scheme=rcp"))[0]
    assert rated.window_used is None, "it has a rate"
    slow = verdicts(*explain(CHAIN.replace('to = "n2"', 'to = "n2"\napp = "cbr"\nrate = "50kbps"\npacket = 500')))[0]
    assert slow.top == "what its application sends"


def test_a_starved_flow() -> None:
    two = CHAIN + '\n[[flow]]\nfrom = "n0"\nto = "n1"\napp = "cbr"\nrate = "20kbps"\npacket = 500\n'
    long, short = verdicts(*explain(two))
    assert (long.starved, short.starved) == (False, True)


def test_links_that_suffer_come_worst_first() -> None:
    def link(name: str, retry: int, collisions: int) -> dict[str, Any]:
        return {
            "from": name,
            "to": "x",
            "retry_drops": retry,
            "queue_drops": 0,
            "arp_drops": 0,
            "collisions": collisions,
        }

    links: Any = [link("a", 0, 5), link("b", 2, 1), link("c", 0, 0), link("d", 2, 3)]
    assert [found["from"] for found in suffering(links)] == ["d", "b", "a"]


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    done = cli("run", path, "--why")
    assert done.returncode == 0, done.stderr
    assert "held back by" in done.stdout
    assert "Links that suffer" in done.stdout
    result = json.loads(cli("run", path, "--why", "--json").stdout)
    (flow,) = result["why"]
    assert flow["flow"] == result["flows"][0]["id"]
    assert sum(flow["lost"].values()) == sum(loss["packets"] for loss in flow["losses"])
    plain = json.loads(cli("run", path, "--json").stdout)
    assert "why" not in plain


def test_pages(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    done = cli("run", path, "--film", "film.html", "--report", "run.html")
    assert done.returncode == 0, done.stderr
    page, film = (tmp_path / "run.html").read_text(), (tmp_path / "film.html").read_text()
    for text in ("held back by", "Links that suffer", "What was lost, where and why", '<svg class="topology"'):
        assert text in page
    assert '<div class="film">' in film
    assert "held back by" not in film


def test_what_does_not_go_together(cli: Cli, chain: Path) -> None:
    for option in (("--why",), ("--film", "a.html"), ("--report", "a.html")):
        assert option[0] in expect_refusal(cli, "run", chain, "--seeds", 2, *option)
        assert option[0] in expect_refusal(cli, "run", chain, "--pcap", "a.pcapng", *option)
    assert not (chain.parent / "a.html").exists()


def test_frames_of_several_packets_are_told_of(cli: Cli, tmp_path: Path) -> None:
    run, _ = explain(LONG, "radio.standard=802.11n")
    rows = carrying(run["links"])
    # Eight hops each way, and data go in fuller frames than acknowledgements that come one by one.
    assert len(rows) == 16
    assert [count.frames for _, count in rows] == sorted((count.frames for _, count in rows), reverse=True)
    together = aggregated(run["links"])
    assert together is not None
    assert together.frames == sum(count.frames for _, count in rows)
    assert together.mpdus_a_frame > 1.2
    for link, count in rows:
        assert link["aggregates"]["mpdus"] >= count.frames
        assert link["attempts"] is not None
        assert count.frames <= link["attempts"], (
            "a frame has an RTS, which may go unanswered, or opens an exchange itself"
        )
    (tmp_path / "mesh.toml").write_text(LONG)
    told = cli("run", tmp_path / "mesh.toml", "--why", "--set", "radio.standard=802.11n").stdout
    assert "Frames of several packets" in told
    assert "MPDUs" in told
    for settings in ((), ("radio.standard=802.11n", "radio.aggregate=0")):
        plain, _ = explain(LONG, *settings)
        assert not carrying(plain["links"])
        assert aggregated(plain["links"]) is None
        assert all("aggregates" not in link for link in plain["links"])


def test_modes_that_were_chosen_are_told_of(cli: Cli, tmp_path: Path) -> None:
    path = Path(__file__).parents[1] / "docs/examples/fading-link.toml"
    short = ("--set", "measure.duration=3s", "--set", "measure.warmup=1s")
    run = json.loads(cli("run", path, *short, "--json").stdout)
    (link,) = [link for link in run["links"] if link["from"] == "n0"]
    rows = rate_rows(run["links"])
    assert [row[0] for row in rows] == ["n0 → n1"] * len(link["rates"])
    assert len(rows) > 1
    for row, rate in zip(rows, link["rates"], strict=True):
        assert row[1] == f"MCS {rate['mcs']}: {rate['rate_bps'] / 1e6:.4g} Mbit/s"
        assert row[2] == f"{rate['frames']:,}"
        assert row[4] == f"{rate['acknowledged'] / rate['mpdus']:.1%}"
    assert "Modes of data frames" in cli("run", path, *short, "--why").stdout
    cli("run", path, *short, "--report", tmp_path / "run.html")
    assert "Modes of data frames" in (tmp_path / "run.html").read_text()
    given = json.loads(cli("run", path, *short, "--set", "radio.rate_control=fixed", "--json").stdout)
    assert all("rates" not in link for link in given["links"])
    assert not rate_rows(given["links"])
