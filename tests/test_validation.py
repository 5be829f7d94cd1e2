"""The harness itself: tolerances, the table, the exit status. What the engine gives is `make validate`'s business."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commanding import Cli
from meshpace import engine
from meshpace.project import reference_directory
from meshpace.validation import closed_forms, command, dumbbell, explained, measured
from meshpace.validation.document import document
from meshpace.validation.dumbbell import QUEUE, WINDOW, bottlenecks
from meshpace.validation.exchanges import exchange_us, frame_us
from meshpace.validation.families import FAMILIES
from meshpace.validation.measured import Table
from meshpace.validation.model import (
    Absolute,
    Consistent,
    Count,
    Equivalent,
    Observed,
    Relative,
    SameSide,
    Scatter,
    Setup,
    Tolerance,
    Verdict,
    reach,
)
from meshpace.validation.ns3_points import CHAINS, GOODPUT, chain_points
from meshpace.validation.points import MEASURED, points
from meshpace.validation.theory import Bianchi, Phy, fixed_point, one_sender_bps


@pytest.mark.parametrize(
    ("tolerance", "ours", "reference", "within"),
    [
        (Relative(0.1), 109.9, 100, True), (Relative(0.1), 110.1, 100, False), (Relative(0.1), 89.9, 100, False),
        (Count(), 30, 20, True), (Count(), 31, 20, False), (Count(), 13.4, 20, True), (Count(), 13.2, 20, False),
        (Count(), 15, 0, True), (Count(), 15.1, 0, False), (Count(), 34, 19.9, True), (Count(), 35, 19.9, False),
        (Absolute(0.05), 0.96, 1, True), (Absolute(0.05), 0.94, 1, False),
        (SameSide(), 1.1, 3, True), (SameSide(), 0.9, 3, False), (SameSide(), 0.9, 0.5, True),
    ],
)  # fmt: skip
def test_tolerances(tolerance: Tolerance, ours: float, reference: float, within: bool) -> None:
    assert tolerance.within(Scatter.exact(ours), Scatter.exact(reference)) is within


def test_scatter_is_allowed_for_and_no_more() -> None:
    # Welch's test of equal deviations and counts is Student's, here with 18 degrees of freedom: 2.878 and 3.922.
    a = Scatter(10, 100.0, 2.0)
    error = 2.0 * (2 / 10) ** 0.5
    for confidence, quantile in ((0.99, 2.878), (0.999, 3.922)):
        assert reach(a, a, confidence) == pytest.approx(quantile * error, rel=1e-3)
    assert reach(Scatter.exact(1.0), Scatter.exact(2.0), 0.95) == 0
    margin = 2 + 2.878 * error  # 2 % and the scatter
    for apart, within in ((margin - 0.01, True), (margin + 0.01, False)):
        assert Equivalent(0.02).within(Scatter(10, 100 + apart, 2.0), a) is within
    assert not Equivalent(0.02, outer=Relative(0.03)).within(Scatter(10, 103.5, 2.0), a), "the specification's, too"
    assert Equivalent(0.02, 5.0).within(Scatter.exact(104.9), Scatter.exact(100.0)), "a margin of at least 5"
    for apart, within in ((3.922 * error - 0.01, True), (3.922 * error + 0.01, False)):
        assert Consistent().within(Scatter(10, 100 + apart, 2.0), a) is within
    assert Consistent(3).within(Scatter.exact(3.0), Scatter.exact(0.0))
    assert not Consistent(3).within(Scatter.exact(3.1), Scatter.exact(0.0))


def test_every_point_has_been_measured_with_its_seeds() -> None:
    measured = MEASURED.read()
    assert [point.name for point in points()] == list(measured)
    assert len(measured) >= 30
    for point in points():
        assert {scatter.count for name, scatter in measured[point.name].items() if "RTT" not in name} == {point.seeds}


def test_every_chain_has_been_measured_with_ns3_and_its_seeds() -> None:
    measured = CHAINS.read()
    assert [point.name for point in chain_points()] == list(measured)
    assert len(measured) >= 40
    for point in chain_points():
        assert measured[point.name][GOODPUT].count == point.seeds
        assert measured[point.name][GOODPUT].mean > 0


@pytest.mark.parametrize(
    ("table", "controls", "rows"),
    [
        (dumbbell.NS2, {"cubic", "reno", "vegas"}, 18),
        (dumbbell.NS3, {"cubic", "vegas", "westwood", "bbr"}, 33),
    ],
)
def test_every_bottleneck_has_been_measured(table: Table[float], controls: set[str], rows: int) -> None:
    measured = table.read()
    assert [point.name for point in bottlenecks(table)] == list(measured)
    assert {point.control for point in bottlenecks(table)} == controls
    for values in measured.values():
        assert set(values) == {GOODPUT, WINDOW, QUEUE}
        assert min(values.values()) > 0
    assert sum(len(setup.checks) for setup in FAMILIES[table.name]()) == 3 * len(measured) == rows


@pytest.mark.parametrize(
    ("table", "listed"),
    [
        (MEASURED, points),
        (CHAINS, chain_points),
        (dumbbell.NS2, lambda: bottlenecks(dumbbell.NS2)),
        (dumbbell.NS3, lambda: bottlenecks(dumbbell.NS3)),
    ],
)
def test_a_file_of_measurements_is_written_as_it_was_read(
    table: Table[Any], listed: Callable[[], Sequence[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, there = table.read(), reference_directory() / f"{table.name}.csv"
    monkeypatch.setattr(measured, "reference_directory", lambda: tmp_path)
    assert table.read() == {}, "before there is a file"
    table.write(kept, (point.name for point in listed()))
    assert (tmp_path / there.name).read_text() == there.read_text()


def test_what_waits_at_a_bottleneck_is_read_off_the_delay() -> None:
    point = bottlenecks(dumbbell.NS2)[0]
    assert (point.mbps, point.delay_ms) == (10, 25)
    # 27 ms of propagation, 1.2 ms on the bottleneck and 0.12 ms on each link beside it: 3 packets more are 3.6 ms more.
    run: Observed = {"flows": [{"delay_mean_s": 0.03204}]}  # type: ignore[typeddict-item]
    assert point.waiting(run) == pytest.approx(3)
    assert point.waiting({"flows": [{"delay_mean_s": None}]}) is None  # type: ignore[typeddict-item]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_setup_is_a_scenario_that_resolves(name: str) -> None:
    setups = list(FAMILIES[name]())
    assert setups
    for setup in setups:
        assert setup.checks
        resolved = engine.resolve(setup.job(1))
        assert resolved["flows"]


def test_explanations_belong_to_rows_that_exist() -> None:
    keys = {
        f"{setup.family}: {check.name}: {check.quantity}"
        for make in FAMILIES.values() for setup in make() for check in setup.checks
    }  # fmt: skip
    assert set(explained.EXPLAINED) <= keys


def test_theory_has_the_times_of_the_tables() -> None:
    # The closed forms are built on frame times computed from the standard; the tables are what the engine is held to.
    for (overhead, mbps), times in closed_forms._DSSS_TABLE.items():
        phy = Phy("802.11b", mbps)
        shift = overhead - phy.mac_overhead
        computed = [phy.exchange(packet + shift, rts) for rts in (True, False) for packet in (1500, 40)]
        assert computed == pytest.approx(times, abs=0.06)
    for mbps, (data, tcp_ack, ack) in closed_forms._OFDM_TABLE.items():
        phy = Phy("802.11a", mbps)
        assert (phy.airtime(1536, mbps), phy.airtime(76, mbps), phy.control(14)) == (data, tcp_ack, ack)
    assert (Phy("802.11b", 11).eifs, Phy("802.11b", 11).difs) == (364, 50)


def test_one_sender_alone_is_bianchi_with_one_station() -> None:
    # Nobody to collide with: the mean backoff of the standard's range, (W - 1) / 2 = 15.5 slots.
    phy = Phy("802.11b", 11)
    for rts in (False, True):
        alone = Bianchi(phy, 1, rts).throughput_bps(1506, 1478)
        assert alone == pytest.approx(one_sender_bps(phy, 1506, 1478, rts, 15.5), rel=1e-12)


def test_bianchis_chain_is_wus_closed_form() -> None:
    # Wu et al. 2002 sum the geometric series: m retries, of which m' double the window.
    model, w, m, doubling = Bianchi(Phy("802.11b", 11), 10, False), 32, 6, 5
    for p in (0.05, 0.2, 0.4, 0.7):
        b_0 = (2 * (1 - 2 * p) * (1 - p)) / (
            w * (1 - (2 * p) ** (doubling + 1)) * (1 - p)
            + (1 - 2 * p) * (1 - p ** (m + 1))
            + w * 2**doubling * p ** (doubling + 1) * (1 - 2 * p) * (1 - p ** (m - doubling))
        )
        assert model.transmit_chance(p) == pytest.approx((1 - p ** (m + 1)) / (1 - p) * b_0, rel=1e-9)
    assert fixed_point(lambda p: 1 - p) == pytest.approx(0.5)


def _film(*frames: tuple[int, int, int, int, str]) -> Observed:
    names = ("start_ns", "airtime_ns", "from", "to", "kind")
    columns = {name: [frame[i] for frame in frames] for i, name in enumerate(names)}
    places = [{"x": 0.0, "y": 0.0}, {"x": 299.792458, "y": 0.0}]  # a microsecond apart
    return {"film": {"nodes": places, "frames": columns}}  # type: ignore[typeddict-item]


def test_exchanges_are_read_off_a_film() -> None:
    run = _film(
        (0, 2000, 0, 1, "data"), (500, 2000, 1, 0, "tcp-ack"),  # both at once: no answer
        (10_000, 2000, 0, 1, "data"), (14_000, 300, 1, 0, "ack"),
        (20_000, 2010, 0, 1, "data"), (24_010, 300, 1, 0, "ack"),
        (30_000, 900, 1, 0, "rts"), (31_000, 800, 0, 1, "cts"),
        (34_000, 500, 1, 0, "tcp-ack"), (36_000, 300, 0, 1, "ack"),
        (40_000, 4000, 0, 1, "data"), (46_000, 400, 1, 0, "block-ack"),
    )  # fmt: skip
    assert exchange_us("data", False, 3.3)(run) == pytest.approx(3.31)  # the one farther from what is expected
    assert exchange_us("data", False, 3.32)(run) == pytest.approx(3.30)
    assert exchange_us("tcp-ack", True, 3.3)(run) == pytest.approx(3.3)
    assert exchange_us("data", True, 3.3)(run) is None
    assert exchange_us("data", False, 5.4, "block-ack")(run) == pytest.approx(5.4)
    assert frame_us("data", 4.0)(run) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("family", "wrong"),
    [
        ("exchange", "radio.mac_overhead=29"),
        ("exchange", "radio.basic_rate=2Mbps"),
        ("bianchi", "radio.retry_short=2"),
        ("bianchi", "radio.propagation=two-ray"),
        ("saturation", "flow.0.packet=1450"),
        ("saturation", "radio.rts=100"),
        ("ht_saturation", "radio.mac_overhead=70"),
        ("ht_saturation", "radio.guard_interval=400ns"),
        ("ht_bianchi", "radio.rts=never"),
        ("ht_categories", "flow.0.dscp=cs3"),
        ("ht_categories", "flow.1.dscp=cs7"),
        ("ns3_chain", "radio.aggregate=2000"),
        ("ns3_chain", "radio.mcs=3"),
        ("ns2_dumbbell", "scheme.linux-cubic.congestion=newreno"),
        ("ns2_dumbbell", "scheme.vegas.congestion=newreno"),
        ("ns3_dumbbell", "link.1.delay=35ms"),
        ("ns3_dumbbell", "scheme.westwood.congestion=newreno"),
    ],
)
def test_closed_forms_notice_a_wrong_input(family: str, wrong: str) -> None:
    def wronged(setup: Setup) -> Setup:
        return replace(setup, settings=(*setup.settings, wrong))

    chosen = [wronged(setup) for setup in FAMILIES[family]() if not setup.settings[0].startswith("measure.")]
    chosen = [setup for setup in chosen if "radio.standard=802.11g" not in setup.settings][:12]
    # One set-up at a time, to the first that notices.
    assert any(not verdict.passed for setup in chosen for verdict in command.judge([setup], 1, None))


def test_rows_with_several_packets_in_an_mpdu_notice_one() -> None:
    # Of long packets two in an MPDU gain less than a row's 1 %.
    wanted = {"radio.amsdu=3839", "flow.0.packet=200"}
    chosen = [setup for setup in FAMILIES["ht_saturation"]() if wanted <= set(setup.settings)]
    one = [replace(setup, settings=(*setup.settings, "radio.amsdu=0")) for setup in chosen]
    verdicts = command.judge(one, 1, None)
    assert len(verdicts) == 6
    assert not any(verdict.passed for verdict in verdicts)


def test_two_categories_of_one_station_share_as_their_slots_say() -> None:
    setups = [setup for setup in FAMILIES["ht_categories"]() if "flow.1.from=a" in setup.settings]
    assert len(setups) == 4
    verdicts = command.judge([setups[2]], 1, None)
    assert [verdict.passed for verdict in verdicts] == [True, True]


def test_a_miss_fails_unless_it_is_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    setup = next(FAMILIES["chain_adhoc"]())
    check = setup.checks[0]
    miss = Verdict("chain_adhoc", check, (check.reference * 2, check.reference * 2.01), setup.job(1))
    monkeypatch.setattr(command, "judge", lambda *_: [miss])
    with pytest.raises(SystemExit) as end:
        command.validate(["chain_adhoc"], 1, False, None, None)
    assert end.value.code == 1
    assert "repeat with: meshpace run scenarios/chain-adhoc.toml" in capsys.readouterr().out
    monkeypatch.setitem(explained.EXPLAINED, miss.key, "because")
    command.validate(["chain_adhoc"], 1, False, None, None)
    assert "because" in capsys.readouterr().out
    assert "because" in document([miss], 1.0)


def test_one_family_end_to_end(cli: Cli, tmp_path: Path) -> None:
    done = cli("validate", "--family", "osipov_crit", "--quick", "-o", "validation.md")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "14 of 14 rows pass" in done.stdout
    page = (tmp_path / "validation.md").read_text()
    assert "| osipov_crit | 14 | 14 | 0 | 0 |" in page


def test_closed_forms_hold_and_quick_leaves_none_out(cli: Cli) -> None:
    families = [
        word
        for name in ("exchange", "bianchi", "saturation", "ht_saturation", "ht_bianchi")
        for word in ("--family", name)
    ]
    # The mean of one run has to be as near as that of --quick's two.
    done = cli("validate", *families, "--quick", "--seeds", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "249 of 249 rows pass" in done.stdout


def test_an_unknown_family_is_refused(cli: Cli) -> None:
    done = cli("validate", "--family", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "allowed: chain_adhoc" in done.stderr
