"""One run as a page: its flows and why they are slow, its network, a film."""

from __future__ import annotations

from collections.abc import Sequence

from meshpace import engine, reconstructed
from meshpace.cli.tables import show
from meshpace.engine import Job
from meshpace.rates_used import HEADS as RATE_HEADS
from meshpace.rates_used import rate_rows
from meshpace.report.films import filmed
from meshpace.report.model import Film, Report, Section, Table
from meshpace.results import RunResult
from meshpace.stats import Estimate
from meshpace.study.model import scheme_name
from meshpace.study.record import running
from meshpace.sweeps.page import drawn
from meshpace.why import AGGREGATE_HEADS, CAUSES, Verdict, aggregate_cells, frame_rows, place, suffering, way


def of_run(job: Job, run: RunResult, found: Sequence[Verdict]) -> Report:
    """Everything of a run."""
    of_links = (_links(run), _aggregates(run), _rates(run))
    sections = [_flows(run, found), _losses(found), *of_links, _network(job, _filmed(job, run))]
    return _page(job, run, f"Run of {run['scenario']}", tuple(section for section in sections if section is not None))


def of_film(job: Job, run: RunResult, found: Sequence[Verdict]) -> Report:  # noqa: ARG001 (as of_run)
    """The film alone."""
    return _page(job, run, f"Film of {run['scenario']}", (_network(job, _filmed(job, run)),))


def _page(job: Job, run: RunResult, title: str, sections: tuple[Section, ...]) -> Report:
    return Report(
        title=title,
        lead=f"{run['measured_s']:.1f} s measured of {run['simulated_s']:.1f} s simulated, seed {run['seed']}.",
        facts=(
            ("engine", str(running())),
            ("made by", job.command()),
            ("frames", f"{run['frames']:,}"),
            ("route failures", f"{run['routing']['route_failures'] or 0:,}"),
        ),
        claims=(),
        sections=sections,
        notes=tuple(reconstructed.told([run])),
    )


def _flows(run: RunResult, found: Sequence[Verdict]) -> Section:
    head = ("flow", "scheme", "hops", "goodput\nkbit/s", "delay\nms", "RTT\nms", "resent", "timeouts")
    rows = []
    for verdict in found:
        flow = verdict.flow
        rows.append(
            (
                f"{flow['id']}: {flow['from']} → {flow['to']}",
                scheme_name(flow["scheme"]),
                _number(flow["hops"], 1.0, 0),
                _number(flow["goodput_bps"], 1e-3, 1),
                _number(flow["delay_mean_s"], 1e3, 1),
                _number(flow["srtt_s"], 1e3, 1),
                _number(flow["retransmits"], 1.0, 0),
                _number(flow["timeouts"], 1.0, 0),
            )
        )
    several = run["jain"] is not None and len(run["flows"]) > 1
    shared = f" Jain's index of their goodputs is {run['jain']:.3f}." if several else ""
    return Section(
        title="Flows",
        lead=f"Together {run['aggregate_goodput_bps'] / 1e3:,.1f} kbit/s.{shared}",
        tables=(Table("Flows", head, tuple(rows), keys=2),),
        notes=tuple(map(_held_back, found)),
    )


def _held_back(verdict: Verdict) -> str:
    starved = f", starved with {verdict.share:.0%} of an equal share," if verdict.starved else ""
    return f"Flow {verdict.flow['id']}{starved} was held back by {verdict.top}."


def _losses(found: Sequence[Verdict]) -> Section | None:
    rows = [
        (
            verdict.flow["id"],
            "data" if loss["kind"] == "data" else "acknowledgement",
            CAUSES[loss["cause"]],
            place(loss),
            f"{loss['packets']:,}",
        )
        for verdict in found
        for loss in verdict.losses
    ]
    if not rows:
        return None
    table = Table("Losses", ("flow", "packet", "why", "where", "packets"), tuple(rows), keys=4)
    return Section(title="What was lost, where and why", lead="Packets that went no further.", tables=(table,))


def _links(run: RunResult) -> Section | None:
    head = ("link", "attempts", "collisions", "given up", "queue full", "no address", "air\ns")
    rows = [
        (
            way(link),
            _number(link["attempts"], 1.0, 0),
            _number(link["collisions"], 1.0, 0),
            _number(link["retry_drops"], 1.0, 0),
            _number(link["queue_drops"], 1.0, 0),
            _number(link["arp_drops"], 1.0, 0),
            _number(link["airtime_s"], 1.0, 1),
        )
        for link in suffering(run["links"])
    ]
    if not rows:
        return None
    return Section(
        title="Links that suffer",
        lead="Collisions are frames lost to an overlap at the receiver; the worst links first.",
        tables=(Table("Links", head, tuple(rows)),),
    )


def _aggregates(run: RunResult) -> Section | None:
    rows = [(link, *aggregate_cells(count)) for link, count in frame_rows(run["links"])]
    if not rows:
        return None
    return Section(
        title="Frames of several packets",
        lead="How full they were, and what of them went again; the links with the most frames first.",
        tables=(Table("Frames", ("link", *AGGREGATE_HEADS), tuple(rows)),),
    )


def _rates(run: RunResult) -> Section | None:
    rows = rate_rows(run["links"])
    if not rows:
        return None
    return Section(
        title="Modes of data frames",
        lead="What rate control chose, and how much arrived in each mode; the links with the most frames first.",
        tables=(Table("Modes", ("link", *RATE_HEADS), tuple(rows)),),
    )


def _network(job: Job, film: Film) -> Section:
    return Section(
        title="The network",
        lead="A quarter of a second of what is on the air, from the end of the warm-up on.",
        topology=drawn(engine.resolve(job)),
        films=(film,),
    )


def _filmed(job: Job, run: RunResult) -> Film:
    return filmed(job, ", ".join(dict.fromkeys(scheme_name(flow["scheme"]) for flow in run["flows"])))


def _number(value: float | None, factor: float, decimals: int) -> str:
    return show(None if value is None else Estimate(value, None, 1), (factor, decimals))
