"""LLAP's studies: patterns on the grid, time to fairness, what is read off curves, and that every run is one."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from commanding import taken
from meshpace import engine
from meshpace.cli.failure import InputError
from meshpace.report.model import Verdict
from meshpace.results import RunResult
from meshpace.study import curves as curve
from meshpace.study import hops, registry, seconds
from meshpace.study.claims import judge
from meshpace.study.measures import curves, of
from meshpace.study.model import AODV, Cell, Effort, Study
from meshpace.study.outcome import Outcome
from meshpace.study.places import best_over_worst
from meshpace.study.quantities import GOODPUT
from meshpace.study.table import lines, print_tables
from meshpace.study.verdicts import CLAIMS
from papers import words

PAPER = words("llap")

STUDIES = {study.name: study for study in registry.STUDIES if study.paper == "llap"}


def sides(node: str) -> set[int]:
    row, column = map(int, node.removeprefix("g").split("_"))
    places = {
        PAPER.LEFT: column == 0,
        PAPER.RIGHT: column == PAPER.SIDE - 1,
        PAPER.TOP: row == 0,
        PAPER.BOTTOM: row == PAPER.SIDE - 1,
    }
    return {side for side, there in places.items() if there}


@pytest.mark.parametrize("each", [2, 5, 10])
def test_flows_of_the_grid_go_from_each_side_to_the_opposite_one(each: int) -> None:
    for number in range(1, 31):
        flows = PAPER.pattern(each, number)
        assert len(flows) == 4 * each
        for flow, (begin, end) in enumerate(flows):
            there, back = [
                (PAPER.LEFT, PAPER.RIGHT),
                (PAPER.RIGHT, PAPER.LEFT),
                (PAPER.TOP, PAPER.BOTTOM),
                (PAPER.BOTTOM, PAPER.TOP),
            ][flow % 4]
            assert there in sides(begin), (number, flow, begin)
            assert back in sides(end), (number, flow, end)
        for way, side in enumerate((PAPER.LEFT, PAPER.RIGHT, PAPER.TOP, PAPER.BOTTOM)):
            sources = {begin for begin, _ in flows[way::4]}
            sinks = {end for _, end in flows[way ^ 1 :: 4]}
            assert len(sources) == len(sinks) == each, "each node once"
            assert each == PAPER.SIDE or not sources & sinks, f"side {side}: no node is both"
    assert PAPER.pattern(each, 1) == PAPER.pattern(each, 1) != PAPER.pattern(each, 2)


def test_a_seed_is_a_pattern_the_same_for_every_scheme_and_load() -> None:
    study = STUDIES["llap-grid-udp-1000"]

    def ends(scheme: str, point: str, seed: int) -> list[str]:
        job = study.job(Cell(AODV, scheme, point), seed, Effort.QUICK)
        return [word for word in job.overrides if re.match(r"flow\.\d+\.(from|to)=", word)]

    assert len(ends("newreno", "200", 1)) == 40
    assert ends("newreno", "200", 1) == ends("llap", "2000", 1) != ends("llap", "2000", 2)


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_run_of_a_study_is_one_that_the_engine_takes(name: str) -> None:
    study: Study = STUDIES[name]
    for effort in Effort:
        cells = list(study.cells(effort))
        for cell in {(cell.scheme, cell.point): cell for cell in cells}.values():
            assert taken(study.job(cell, 1, effort))["flows"]


def test_time_to_fairness_counts_from_20_s_on_and_from_a_second_on() -> None:
    """Flow 2 is silent until 30 s, then as fast: shares of 1 : 0.639 since 20 s are the first with 0.95."""
    series = {"1": [1.0] * 100, "2": [0.0] * 30 + [1.0] * 70}
    ttf = PAPER.time_to_fairness(series)
    assert ttf == 27
    assert (seconds.jain([27, 17]) or 0) >= 0.95 > (seconds.jain([26, 16]) or 1)
    assert PAPER.time_to_fairness({"1": [1.0] * 60, "2": [0.0] * 60}) == 40, "never: all the time there was"
    assert PAPER.time_to_fairness({"1": [0.0] * 60, "2": [1.0] * 60}) == 40
    assert PAPER.time_to_fairness({"1": [1.0] * 60, "2": [1.0] * 60}) == 1


def test_reaction_is_until_fairness_stays() -> None:
    series = {"1": [1.0] * 60, "2": [0.0] * 32 + [1.0] * 28}
    # From 31 s on windows of 5 s hold four fair seconds: 5 : 4 has 0.988, 5 : 3 0.941, 5 : 2 0.845.
    assert seconds.reaction(30, 60)(series) == 0
    late = {"1": [1.0] * 60, "2": [0.0] * 45 + [1.0] * 15}
    assert seconds.reaction(30, 60)(late) == 13
    assert seconds.reaction(30, 60)({"1": [1.0] * 60, "2": [0.0] * 60}) == 30, "never"
    relapsed = {"1": [1.0] * 60, "2": [1.0] * 50 + [0.0] * 10}
    assert seconds.reaction(30, 60)(relapsed) == 30
    assert seconds.share_of_first(32, 60)({"1": [3.0] * 90, "2": [1.0] * 90}) == 0.75


def test_what_is_read_off_curves() -> None:
    loads = [200.0, 400.0, 600.0, 800.0, 2000.0, 3000.0]
    none = [2e5, 4e5, 6e5, 5e5, 4.5e5, 4.2e5]
    ours = [2e5, 4e5, 5.7e5, 5.7e5, 5.6e5, 5.5e5]
    assert curve.fall(loads, none) == pytest.approx(0.3)
    assert curve.linear(loads, none, [1.0, 0.99, 0.9, 0.6, 0.2, 0.1]) == 0.99, "up to 480 kbit/s"
    assert curve.least_gain(loads, none, ours) == pytest.approx(0.14), "at 800 of those above 600"
    assert curve.spread_above(loads, ours) == pytest.approx(2 / 57), "600 to 3,000"
    assert curve.at_the_knee(loads, none, ours) == pytest.approx(0.95)
    assert curve.saturated(loads, none, ours) == pytest.approx(5.5 / 6 - 1)
    delay = [1.0, 1.04, 3.0, 9.0, 10.0, 10.5]
    assert curve.spread_below(loads, none, delay) == pytest.approx(0.04 / 1.04), "up to 420 kbit/s"
    assert curve.strays_below(loads, none, delay, [1.0, 0.8, 9.0, 9.0, 9.0, 9.0]) == pytest.approx(0.8 / 1.04 - 1)
    assert curve.most_above(loads, none, delay, [9.0, 9.0, 9.0, 8.0, 10.0, 9.0]) == pytest.approx(0.0)
    assert PAPER.last_two(loads, delay) == pytest.approx(0.05)


def test_curves_are_read_seed_by_seed_with_their_axis() -> None:
    study = STUDIES["llap-cbr-load-on-500"]
    labels = [point.label for point in study.points(Effort.QUICK)]
    results = {
        Cell(AODV, "newreno", label): [
            None if seed == 1 and label == "100" else cast(RunResult, {"aggregate_goodput_bps": float(label) + seed})
            for seed in range(3)
        ]
        for label in labels
    }
    outcome = Outcome(study, Effort.QUICK, {}, results)
    measure = curves(lambda loads, goodput: goodput[-1] - loads[-1], (of(GOODPUT, "newreno"),))
    assert measure.take(outcome, AODV, labels[0]) == [0.0, None, 2.0]
    assert measure.once


def test_tables_have_a_row_a_point_and_scheme_and_no_column_of_what_was_not_measured() -> None:
    study = STUDIES["llap-cbr-load-on-500"]
    results = {
        cell: [
            cast(RunResult, {"aggregate_goodput_bps": 1e5 + 1000 * seed, "flows": [
                {"loss_ratio": 0.25, "segments_sent": 10, "from": "n0", "to": "n10", "delay_mean_s": None}
            ]})
            for seed in range(3)
        ]
        for cell in study.cells(Effort.QUICK)
    }  # fmt: skip
    text = list(lines(Outcome(study, Effort.QUICK, {cell: [] for cell in results}, results)))
    heads = [line for line in text if line.startswith("| offered load")]
    assert heads == ["| offered load | scheme | aggregate goodput (kbit/s) | delivered of what was sent (%) |"] * 2
    # Three values 1 kbit/s apart: Student's t of 2 degrees, 4.303, times 1 / sqrt(3).
    assert text.count("| 100 | NewReno | 101 ± 2 | 75.0 ± 0.0 |") == 2
    assert sum(line.startswith("| ") for line in text) == 2 * (1 + 8)


def test_a_table_of_runs_that_are_not_there_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"36 runs .* meshpace study run llap-table1 --quick --store"):
        print_tables(["llap-table1"], Effort.QUICK, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_thousand_nodes_with_llap_load_and_run_a_second() -> None:
    """A grid of 32 x 32, a flow along each row, static routes."""
    flows = "".join(f'[[flow]]\nfrom = "g{row}_0"\nto = "g{row}_31"\n' for row in range(32))
    text = (
        '[measure]\nduration = "1s"\nwarmup = "0s"\n[topology]\nkind = "grid"\nrows = 32\ncols = 32\n[routing]\n'
        'protocol = "static"\n[defaults]\nscheme = "llap"\nstart_jitter = "0.1s"\n' + flows
    )
    (run,) = engine.run_many([engine.Job("thousand.toml", text.encode())], 1)
    relays = run.get("relays", [])
    assert len(relays) == 1024
    assert sum(relay["llap_overheard"] for relay in relays) > 1000


def test_claims_about_llap_are_judged_once_more_with_misses_skipped() -> None:
    skipped = {claim.id: claim for claim in CLAIMS if claim.id.endswith(" skip")}
    assert {"llap T2.1 skip", "llap F16.4 skip", "llap F24.2 skip", "llap F29.1 skip", "llap F7.4 skip"} <= set(skipped)
    assert not {"llap T1.1 skip", "llap F3.1 skip", "llap X.1 skip"} & set(skipped), "not LLAP's, or not run so"
    for claim in skipped.values():
        assert all(name.startswith("llap-skip-") for name in claim.studies), claim.id
        schemes = {name: set(STUDIES[name].schemes) for name in claim.studies}
        assert all(set(ask.measure.schemes) <= schemes[name] for ask in claim.asks for name in ask.studies), claim.id


def test_runs_that_do_not_pace_are_shared_with_misses_skipped() -> None:
    def jobs(name: str, scheme: str) -> set[engine.Job]:
        study = STUDIES[name]
        return {job for cell, job in study.jobs(Effort.QUICK) if cell.scheme == scheme}

    assert jobs("llap-skip-hops", "newreno") == jobs("llap-hops", "newreno")
    assert not jobs("llap-skip-hops", "llap") & jobs("llap-hops", "llap")


def test_losses_as_ns_2_writes_them_count_twice_with_rts() -> None:
    link = {"data_drops": 3, "ack_drops": 1}
    run = {"flows": [{"segments_sent": 100}], "links": [link], "overrides": ["radio.rts=always"]}
    assert PAPER.LOSS_MAC(cast(RunResult, run)) == 0.04
    assert PAPER.LOSS_MAC2(cast(RunResult, run)) == 0.08
    assert PAPER.LOSS_MAC2(cast(RunResult, {**run, "overrides": ["radio.rts=never"]})) == 0.04


def test_windows() -> None:
    assert seconds.window_at_one({"1": [1.0, 1.9, 2.0, 5.0]}) == 0.5
    assert seconds.unevenness({"1": [100.0] * 80 + [2.0, 6.0] * 10}) == pytest.approx(0.5), (
        "the first 20 s do not count"
    )
    assert seconds.unevenness({"1": [0.0] * 80 + [64.0, 500.0]}) == 0, "no more than 64 segments act"
    assert curve.correlated([], [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == pytest.approx(1)
    assert curve.correlated([], [1.0, 1.0], [2.0, 4.0]) is None


def hop_delays() -> RunResult:
    """Nodes n0 to n2, a second each: 6 ms are expected at n0, then 9, then 6 again; truth 8 ms."""

    def row(node: str, mac: float, inside: float) -> dict[str, object]:
        estimate = [0.006] * 30 + [0.009] * 30 + [0.006] * 30
        return {
            "node": node, "egress": "n3", "taken": [100] * 30 + [50] * 30 + [100] * 30, "estimate_s": estimate,
            "actual_s": [0.008] * 90, "mac_s": [mac] * 90, "node_s": [inside] * 90, "node_mean_s": inside,
            "mac_mean_s": mac, "actual_mean_s": 0.008, "estimate_mean_s": 0.007, "within_share": inside / 0.1,
            "interval_mean_s": 0.01, "interval_std_s": 0.01 * inside,
        }  # fmt: skip

    rows = [row("n0", 0.001, 0.05), row("n1", 0.002, 0.0021), row("n2", 0.0015, 0.0019)]
    flow = {"from": "n0", "to": "n3", "delay_mean_s": 0.1}
    return cast(RunResult, {"flows": [flow], "hop_delays": rows, "measured_s": 90.0})


def test_windows_of_the_estimate_and_where_packets_wait() -> None:
    run = hop_delays()
    assert [PAPER.ESTIMATE[window](run) for window in (PAPER.BEFORE, PAPER.DURING, PAPER.AFTER)] == pytest.approx(
        [0.006, 0.009, 0.006]
    )
    assert [PAPER.DEPARTURES[window](run) for window in (PAPER.BEFORE, PAPER.DURING, PAPER.AFTER)] == [100, 50, 100]
    assert PAPER.FOUR_HOPS(run) == pytest.approx(0), "4 x 1.5 ms"
    assert (PAPER.AT_MOST_FOUR(run), hops.UNEVENNESS(run)) == pytest.approx((0.5, 0.05)), "of the source's row"
    assert hops.WAIT_AT_SOURCE(run) == pytest.approx(0.49)


def test_expiries_are_counted_a_second_and_node() -> None:
    run = cast(RunResult, {"relays": [{"llap_missed": 3}, {"llap_missed": 5}], "measured_s": 4.0})
    assert PAPER.MISSED(run) == 1


def _outcome(name: str, runs: dict[tuple[str, str], list[dict[str, object]]]) -> Outcome:
    """A study under AODV alone, whose cells have these runs."""
    results: dict[Cell, list[RunResult | None]] = {
        Cell(AODV, *cell): [cast(RunResult, run) for run in made] for cell, made in runs.items()
    }
    return Outcome(STUDIES[name], Effort.QUICK, {}, results)


def test_one_expiry_in_one_run_refutes_that_the_timer_never_expires() -> None:
    (claim,) = (claim for claim in CLAIMS if claim.id == "llap F11.1")

    def verdict(missed: int) -> tuple[Verdict, str]:
        loads = STUDIES["llap-overhear-chain"].points(Effort.QUICK)
        runs: dict[tuple[str, str], list[dict[str, object]]] = {
            ("llap", load.label): [{"relays": [{"llap_missed": n}] * 10, "measured_s": 60.0} for n in (0, missed, 0)]
            for load in loads
        }
        judgement = judge(claim, {"llap-overhear-chain": _outcome("llap-overhear-chain", runs)}, AODV)
        assert judgement is not None
        return judgement.verdict, judgement.note

    assert verdict(0) == (Verdict.HOLDS, "")
    assert verdict(1) == (Verdict.FAILS, ""), "0.017 a second and node in that run, 0.006 in the mean of all"


def test_the_best_and_the_worst_alpha_are_chosen_on_runs_that_do_not_estimate_them() -> None:
    """Seeds 1 and 3 of the plan's three choose; the noise that makes a best one is not counted for it."""
    goodputs = {
        "0.1": (1.0, 1.0, 1.0, 2.0),
        "0.5": (1.5, 9.0, 1.5, 1.5),
        "0.9": (3.0, 2.0, 3.0, 2.5),
        "0.99": (2.0,) * 4,
    }
    runs: dict[tuple[str, str], list[dict[str, object]]] = {
        ("llap", alpha): [{"aggregate_goodput_bps": value} for value in values] for alpha, values in goodputs.items()
    }
    measure = best_over_worst(of(GOODPUT, "llap"))
    assert measure.take(_outcome("llap-alpha", runs), AODV, "0.1") == [None, 1.0, None, 0.25]
    assert measure.take(_outcome("llap-alpha", {}), AODV, "0.1") == []


def _frames(capture: Path) -> Iterator[tuple[str, int, int]]:
    """Kind, length and NAV of each frame of a capture of the engine's: enhanced packet blocks with radiotap headers."""
    data, place = capture.read_bytes(), 0
    while place < len(data):
        kind, length = struct.unpack_from("<II", data, place)
        if kind == 6:
            (captured,) = struct.unpack_from("<I", data, place + 20)
            packet = data[place + 28 : place + 28 + captured]
            frame = packet[struct.unpack_from("<H", packet, 2)[0] :]
            yield _kind(frame), len(frame), struct.unpack_from("<H", frame, 2)[0]
        place += length


def _kind(frame: bytes) -> str:
    if frame[0] != 0x08:
        return {0xB4: "RTS", 0xC4: "CTS", 0xD4: "ACK"}.get(frame[0], f"frame control {frame[0]:#x}")
    protocol, ip = frame[30:32].hex(), frame[32:]
    if protocol != "0800":
        return {"0806": "ARP"}.get(protocol, f"protocol {protocol}")
    port = struct.unpack_from("!H", ip, 22)[0]
    return {6: "TCP", 17: "AODV" if port == 654 else f"UDP {port}"}.get(ip[9], f"IP {ip[9]}")


def test_no_frame_is_added_and_no_byte_to_any(tmp_path: Path) -> None:
    """The paper's "no extra control packets", seen on the air (docs/experiments/llap.md, X.2).

    The NAV of an RTS tells how long the data frame is on the air, an identity that LLAP would add included.
    """

    def seen(scheme: str, identity: int = 0) -> dict[str, tuple[int, int]]:
        text = (
            '[measure]\nduration = "3s"\nwarmup = "0s"\n[topology]\nkind = "chain"\nhops = 5\n[radio]\nrts = "always"\n'
            f'[routing]\nprotocol = "aodv"\n[[flow]]\nfrom = "n0"\nto = "n5"\nscheme = "{scheme}"\n'
            f"[scheme.llap]\nllap_id_bytes = {identity}\n"
        )
        capture = tmp_path / "air.pcapng"
        result, _ = engine.run_watched(engine.Job("air.toml", text.encode()), series=False, capture=capture)
        assert json.loads(result)["aggregate_goodput_bps"] > 0
        most: dict[str, tuple[int, int]] = {}
        for kind, length, nav in _frames(capture):
            longest, latest = most.get(kind, (0, 0))
            most[kind] = max(longest, length), max(latest, nav)
        return most

    plain = seen("newreno")
    assert set(plain) == {"RTS", "CTS", "ACK", "ARP", "AODV", "TCP"}
    assert seen("llap") == plain, "the same kinds, the longest of each as long"
    assert seen("llap", identity=4)["RTS"] > plain["RTS"], "section 5.5's other identity would show"


def test_what_rts_does_to_llap_is_asked_of_goodput_alone() -> None:
    """T2.7: where no MAC gives up without RTS/CTS, losses with it are no multiple of anything."""
    (claim,) = (claim for claim in CLAIMS if claim.id == "llap T2.7")

    def run(delivered: int) -> dict[str, object]:
        flow = {"segments_sent": 1000, "retransmits": 0, "delivered_bytes": delivered}
        return {"flows": [flow], "links": [], "measured_s": 250.0}

    runs = {
        ("llap", rts): [run(best + seed) for seed in range(3)]
        for rts, best in (("RTS/CTS off", 2_000), ("RTS/CTS on", 1_000))
    }
    judgement = judge(claim, {"llap-table2": _outcome("llap-table2", runs)}, AODV)
    assert judgement is not None
    assert judgement.verdict is Verdict.HOLDS


def test_what_a_claim_asks_of_several_places_is_told_apart() -> None:
    for claim in CLAIMS:
        if claim.id.startswith("llap"):
            told = [(ask.what, ask.studies, ask.points) for ask in claim.asks]
            assert len(set(told)) == len(told), claim.id
            alone = [ask.what for ask in claim.asks if ask.measure.once and len(ask.studies) == 1]
            assert len(set(alone)) == len(alone), f"{claim.id}: of numbers without a point only these words are told"
