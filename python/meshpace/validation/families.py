"""The families of the reference: which scenario, which settings, which tolerance; closed forms: ``closed_forms``.

Tolerances are those of the project's specification, and within them equivalence beyond the scatter of both sides; none
is fitted to what comes out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Literal

from meshpace.project import points_directory
from meshpace.results import RunResult
from meshpace.validation import categories, closed_forms, high_throughput, later_standards
from meshpace.validation.dumbbell import ns2_dumbbell, ns3_dumbbell
from meshpace.validation.model import (
    Absolute,
    Check,
    Consistent,
    Count,
    Equivalent,
    Quantity,
    Relative,
    Row,
    SameSide,
    Setup,
    Tolerance,
    aggregate_kbps,
    count_tolerance,
    goodput_kbps,
    goodput_tolerance,
    mac_checks,
    mean,
    measured,
    recovery_checks,
    reference,
)
from meshpace.validation.ns3_points import ns3_chain
from meshpace.validation.points import MEASURED, Point, SharedQuantity, points, told
from meshpace.words import in_hops

TCP_AP_2005 = "tcp-ap-ns2-2005"
"""The scheme that is the TCP-AP authors' ns-2 agent of 2005."""

_RTS = {"0": "never", "1": "always"}
_RTS_NAME = {"0": "RTS off", "1": "RTS on"}
_AODV_SEEDS = 10
"""Runs of ours a row under AODV, whose goodput scatters over the seeds."""


def _chain_tolerance(routing: str, hops: int) -> Relative:
    if routing == "AODV":
        return Relative(0.20 if hops <= 8 else 0.30)
    return Relative(0.10 if hops <= 3 else 0.15)


def _seeds(row: Row) -> int:
    own = int(row["n_seeds"])
    return max(own, _AODV_SEEDS) if row.get("routing") == "AODV" else own


def chain_adhoc() -> Iterator[Setup]:
    """NewReno on a chain without wired part."""
    for row in reference("chain_adhoc"):
        hops = int(row["hops"])
        name = f"{row['routing']}, {_RTS_NAME[row['rts']]}, {in_hops(hops)}"
        settings = (
            f"topology.hops={hops}", f"flow.0.to=n{hops}", f"radio.rts={_RTS[row['rts']]}",
            f"routing.protocol={row['routing'].lower()}",
        )  # fmt: skip
        tolerance = goodput_tolerance(row["routing"], _chain_tolerance(row["routing"], hops))
        goodput = measured(name, "goodput", "kbit/s", row, "goodput_kbps", tolerance, goodput_kbps())
        checks = (goodput, *mac_checks(name, row), *recovery_checks(name, row))
        yield Setup("chain_adhoc", "chain-adhoc.toml", settings, "newreno", _seeds(row), checks)


def chain_wired() -> Iterator[Setup]:
    """NewReno across the gateway, both directions."""
    for row in reference("chain_wired"):
        hops = int(row["hops"])
        name = f"{row['routing']}, {row['dir']}, {in_hops(hops)}"
        turned = ("flow.0.from=B", "flow.0.to=n0") if row["dir"] == "down" else ()
        settings = (f"topology.hops={hops}", f"routing.protocol={row['routing'].lower()}", *turned)
        tolerance = goodput_tolerance(row["routing"], _chain_tolerance(row["routing"], hops))
        goodput = measured(name, "goodput", "kbit/s", row, "goodput_kbps", tolerance, goodput_kbps())
        checks = (goodput, *mac_checks(name, row), *recovery_checks(name, row))
        yield Setup("chain_wired", "demo-chain.toml", settings, "newreno", _seeds(row), checks)


def parallel() -> Iterator[Setup]:
    """Two parallel chains: the aggregate, and who wins if the flows meet."""
    turned = {
        "up": (),
        "down": ("flow.0.from=B", "flow.0.to=A1", "flow.1.from=B", "flow.1.to=A2"),
        "mix": ("flow.0.from=B", "flow.0.to=A1"),
    }
    for (direction,), rows in _by(reference("parallel"), "dir"):
        settings = ("measure.duration=550s", "measure.warmup=50s", *turned[direction])
        first = rows[0]
        tolerance = Equivalent(0.02, outer=Relative(0.15))
        aggregate = measured(direction, "aggregate goodput", "kbit/s", first, "agg_kbps", tolerance, aggregate_kbps)
        checks = [aggregate, *mac_checks(direction, first)]
        if direction == "mix":
            ratio = mean(rows[0], "goodput_kbps") / mean(rows[1], "goodput_kbps")
            checks.append(Check(direction, "flow 1 over flow 2", "", ratio, SameSide(), _first_over_second))
        yield Setup("parallel", "demo-parallel.toml", settings, "newreno", _seeds(first), tuple(checks))


def _first_over_second(run: RunResult) -> float | None:
    flows = run["flows"]
    return flows[0]["goodput_bps"] / flows[1]["goodput_bps"] if flows[1]["goodput_bps"] else None


def llap_udp() -> Iterator[Setup]:
    """CBR over 10 hops: what arrives of what is offered."""
    for row in reference("llap_udp"):
        load = int(row["load"])
        name = f"{row['routing']}, {row['pkt']} bytes, {load} kbit/s offered"
        settings = (
            f"flow.0.rate={load}kbps", f"flow.0.packet={row['pkt']}", f"routing.protocol={row['routing'].lower()}",
        )  # fmt: skip
        tolerance = goodput_tolerance(row["routing"], Relative(0.10))
        check = measured(name, "delivered", "kbit/s", row, "goodput_kbps", tolerance, goodput_kbps())
        yield Setup("llap_udp", "llap-udp.toml", settings, None, _seeds(row), (check,))


_LLAP_PRINT = {"0": (96.64, 27.33), "1": (88.50, 53.8)}
"""LLAP paper, Table 1, the rows without LLAP: goodput in kbit/s and timeouts, by RTS."""


def llap_tcp() -> Iterator[Setup]:
    """The LLAP paper's Table 1 without LLAP: against ns-2 and, under AODV, against print."""
    for row in reference("llap_tcp"):
        name = f"{row['routing']}, {_RTS_NAME[row['rts']]}, queue {row['qlen']}"
        settings = (
            f"radio.rts={_RTS[row['rts']]}", f"radio.queue={row['qlen']}", f"routing.protocol={row['routing'].lower()}",
        )  # fmt: skip
        tolerance = _chain_tolerance(row["routing"], int(row["hops"]))
        checks = [
            measured(
                name, "goodput", "kbit/s", row, "goodput_kbps", goodput_tolerance(row["routing"], tolerance),
                goodput_kbps(),
            ),
            measured(name, "timeouts", "", row, "timeouts", count_tolerance(row["routing"]), _timeouts),
        ]  # fmt: skip
        if row["routing"] == "AODV" and row["qlen"] == "25":
            goodput, timeouts = _LLAP_PRINT[row["rts"]]
            source = "LLAP, Table 1 (print)"
            checks += [
                Check(name, "goodput", "kbit/s", goodput, tolerance, goodput_kbps(), source),
                Check(name, "timeouts", "", timeouts, Count(), _timeouts, source),
            ]
        yield Setup("llap_tcp", "llap-table1.toml", settings, "newreno", _seeds(row), tuple(checks))


def _timeouts(run: RunResult) -> float | None:
    return run["flows"][0]["timeouts"]


def _pacing_checks(name: str, row: Row, routing: str, goodput: Relative) -> list[Check]:
    """Goodput of any row; round-trip time and departure interval of the rows of TCP-AP."""
    close = Relative(0.20)
    tolerance = goodput_tolerance(routing, goodput)
    checks = [measured(name, "goodput", "kbit/s", row, "goodput_kbps", tolerance, goodput_kbps())]
    if row["tcp"] != "Newreno":
        tolerance = Consistent(outer=close) if routing == "AODV" else Equivalent(0.05, outer=close)
        checks += [
            measured(name, "RTT", "ms", row, "rtt_ms", tolerance, _mean_ms("srtt_s")),
            measured(name, "interval", "ms", row, "interval_ms", tolerance, _mean_ms("pacing_interval_s")),
        ]
    return checks


def _mean_ms(key: Literal["srtt_s", "pacing_interval_s"]) -> Quantity:
    """The mean over the flows, in ms."""

    def take(run: RunResult) -> float | None:
        there = [value for flow in run["flows"] if (value := flow[key]) is not None]
        return 1e3 * sum(there) / len(there) if there else None

    return take


def _scheme(row: Row) -> str:
    return "newreno" if row["tcp"] == "Newreno" else TCP_AP_2005


_LONG_MEASURE = ("measure.duration=200s", "measure.warmup=40s")


def _tcp_ap_chain(routing: str, goodput: Relative, seeds: int) -> Iterator[Setup]:
    family = f"tcp_ap_chain_{routing}"
    for row in reference(family):
        hops = int(row["hops"])
        name = f"{_scheme(row)}, {in_hops(hops)}"
        settings = (*_LONG_MEASURE, f"topology.hops={hops}", f"flow.0.to=n{hops}", f"routing.protocol={routing}")
        checks = _pacing_checks(name, row, routing.upper(), goodput)
        if row["tcp"] != "Newreno":
            # At three hops its interval is too short for the path: how it takes losses shows there.
            checks += recovery_checks(name, {**row, "routing": routing.upper()})
        yield Setup(family, "chain-adhoc.toml", settings, _scheme(row), max(seeds, int(row["n_seeds"])), tuple(checks))


def tcp_ap_chain_static() -> Iterator[Setup]:
    """The TCP-AP authors' agent on static routes."""
    yield from _tcp_ap_chain("static", Relative(0.10), 3)


def tcp_ap_chain_aodv() -> Iterator[Setup]:
    """The TCP-AP authors' agent under AODV."""
    yield from _tcp_ap_chain("aodv", Relative(0.20), _AODV_SEEDS)


def tcp_ap_llap_table1() -> Iterator[Setup]:
    """The TCP-AP authors' agent on the LLAP paper's chain."""
    for row in reference("tcp_ap_llap_table1"):
        name = f"{_scheme(row)}, {_RTS_NAME[row['rts']]}"
        settings = (f"radio.rts={_RTS[row['rts']]}", "radio.queue=50")
        checks = tuple(_pacing_checks(name, row, "AODV", Relative(0.20)))
        yield Setup("tcp_ap_llap_table1", "llap-table1.toml", settings, _scheme(row), int(row["n_seeds"]), checks)


def tcp_ap_multi_static() -> Iterator[Setup]:
    """One, two and four flows along one 8-hop chain."""
    for (_, count), rows in _by(reference("tcp_ap_multi_static"), "tcp", "nflow"):
        first = rows[0]
        name = f"{_scheme(first)}, {count} flows"
        settings = (
            "measure.duration=250s", "measure.warmup=50s", "topology.hops=8", "flow.0.to=n8", f"flow.0.count={count}",
        )  # fmt: skip
        tolerance = Equivalent(0.02, outer=Relative(0.10))
        checks = [measured(name, "aggregate goodput", "kbit/s", first, "agg_kbps", tolerance, aggregate_kbps)]
        if int(count) > 1:
            fair = Equivalent(0.0, 0.005, Absolute(0.05))
            checks.append(measured(name, "Jain's index", "", first, "jain", fair, lambda run: run["jain"]))
        close, flows = Equivalent(0.05, outer=Relative(0.20)), _mean_row(rows)
        if first["tcp"] != "Newreno":
            checks += [
                measured(name, "RTT", "ms", flows, "rtt_ms", close, _mean_ms("srtt_s")),
                measured(name, "interval", "ms", flows, "interval_ms", close, _mean_ms("pacing_interval_s")),
            ]
        timeouts = Equivalent(0.10, 3, Count())
        checks.append(measured(name, "timeouts a flow", "", flows, "timeouts", timeouts, _timeouts_a_flow))
        yield Setup(
            "tcp_ap_multi_static", "chain-adhoc.toml", settings, _scheme(first), int(first["n_seeds"]), tuple(checks)
        )


def _mean_row(rows: list[Row]) -> Row:
    """The mean over the flows, with the deviation of one: flows of a run go together."""
    columns = ("rtt_ms", "interval_ms", "timeouts")
    means = {f"{c}_mean": str(sum(mean(row, c) for row in rows) / len(rows)) for c in columns}
    spreads = {f"{c}_std": str(sum(float(row[f"{c}_std"]) for row in rows) / len(rows)) for c in columns}
    return {**rows[0], **means, **spreads}


def _timeouts_a_flow(run: RunResult) -> float | None:
    return float(sum(flow["timeouts"] or 0 for flow in run["flows"])) / len(run["flows"])


def osipov_three() -> Iterator[Setup]:
    """Three flows of one, two and three hops from one node; each also alone."""
    windows = {"custom": (2, 3, 4), "default": (20, 20, 20)}
    for (rts, cw, only), rows in _by(reference("osipov_three"), "rts", "cw", "only"):
        name = f"{_RTS_NAME[rts]}, windows {cw}"
        if only == "0":
            scenario = "osipov-three.toml"
            settings = [f"flow.{i}.window={window}" for i, window in enumerate(windows[cw])]
        else:
            scenario = "osipov-critical.toml"
            settings = ["measure.duration=132s", f"flow.0.to=n{only}", f"flow.0.window={windows[cw][int(only) - 1]}"]
        checks = tuple(
            measured(
                f"{name}, {'together' if only == '0' else 'alone'}", f"goodput of flow {row['flow']}", "kbit/s", row,
                "goodput_kbps", Equivalent(0.02, outer=Relative(0.10)), goodput_kbps(index),
            )
            for index, row in enumerate(rows)
        )  # fmt: skip
        settings.append(f"radio.rts={_RTS[rts]}")
        seeds = int(rows[0]["n_seeds"])
        yield Setup("osipov_three", scenario, tuple(settings), "newreno", seeds, checks)


def osipov_crit() -> Iterator[Setup]:
    """One flow with a window of 3/2 its hops, 126 m apart."""
    windows = (2, 3, 4, 6, 7, 9, 10, 12, 13)
    for row in reference("osipov_crit"):
        hops = int(row["hops"])
        settings = (
            f"topology.hops={hops}", f"flow.0.to=n{hops}", f"flow.0.window={windows[hops - 1]}",
            f"defaults.segment={row['pkt']}",
        )  # fmt: skip
        name = f"{row['pkt']} bytes, {in_hops(hops)}"
        tolerance = goodput_tolerance("STATIC", _chain_tolerance("STATIC", hops))
        check = measured(name, "goodput", "kbit/s", row, "goodput_kbps", tolerance, goodput_kbps())
        yield Setup("osipov_crit", "osipov-critical.toml", settings, "newreno", int(row["n_seeds"]), (check,))


def crosscheck() -> Iterator[Setup]:
    """Points of our own choice, measured with `crosscheck`: saturated hops, cold tables, pairs, grids, crosses.

    A flow's own row is judged where it scatters by less than a tenth in ns-2; where flows take turns or starve, Jain's
    index and the aggregate are. One saturated sender hardly scatters: half a percent, and every byte and slot shows.
    """
    known = MEASURED.read()
    for point in points():
        flows = sum(name.startswith("goodput of flow") for name in known[point.name])
        checks = tuple(
            Check(
                point.name, quantity.name, quantity.unit, scatter.mean, _point_tolerance(point, quantity),
                quantity.ours, deviation=scatter.deviation, seeds=scatter.count,
            )
            for quantity in told(flows)
            if (scatter := known[point.name].get(quantity.name)) is not None
            and (flows == 1 or quantity.flow is None or scatter.deviation < 0.1 * scatter.mean)
        )  # fmt: skip
        yield Setup("crosscheck", point.scenario, point.settings, point.scheme, point.seeds, checks, points_directory)


def _point_tolerance(point: Point, quantity: SharedQuantity) -> Tolerance:
    if point.aodv:
        return Consistent(3) if quantity.is_count else Consistent(share=0.005)
    if quantity.is_count:
        return Equivalent(0.10, 3)
    if "Jain" in quantity.name:
        return Equivalent(0.0, 0.005)
    if "RTT" in quantity.name:
        return Equivalent(0.05)
    return Equivalent(0.005 if point.saturated else 0.02)


def _by(rows: Iterator[Row], *columns: str) -> list[tuple[tuple[str, ...], list[Row]]]:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return list(groups.items())


FAMILIES: dict[str, Callable[[], Iterator[Setup]]] = {
    family.__name__: family
    for family in (
        chain_adhoc, chain_wired, parallel, llap_udp, llap_tcp, tcp_ap_chain_static, tcp_ap_chain_aodv,
        tcp_ap_llap_table1, tcp_ap_multi_static, osipov_three, osipov_crit,
        crosscheck, ns2_dumbbell, ns3_dumbbell, ns3_chain,
        closed_forms.exchange, closed_forms.bianchi, closed_forms.saturation,
        high_throughput.ht_saturation, later_standards.vht_saturation, later_standards.he_saturation,
        high_throughput.ht_bianchi, categories.ht_categories,
    )
}  # fmt: skip
