"""``meshpace report``: what the store holds, as one page and as figures for papers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from meshpace.files import replacing
from meshpace.progress import Progress
from meshpace.report.errors import NothingToReportError, VerdictsLostError
from meshpace.report.figures import appearance, views
from meshpace.report.films import film_section
from meshpace.report.model import Report
from meshpace.report.page import render
from meshpace.report.sections import study_section
from meshpace.study.engines import described, find_engine
from meshpace.study.held import any_ended, read
from meshpace.study.manifest import note_if_kept
from meshpace.study.outcome import Outcome, by_name
from meshpace.study.page import Campaign, below, told_in
from meshpace.study.record import Maker, running
from meshpace.study.registry import PROFILED, STUDIES, again_in, find
from meshpace.study.store import Store
from meshpace.study.verdicts import claims_of, judge_all
from meshpace.study.written.papers import the_papers


def report(
    directory: Path, output: Path, figures: Path | None, made_by: str | None = None, verdicts: Path | None = None,
    own: Sequence[str] = (), profile: str | None = None,
) -> None:  # fmt: skip
    """Writes the page, and the figures as PDF to the folder ``figures`` if one is given.

    With a folder ``verdicts`` the verdicts on each paper go as Markdown into its page there.

    Of the engine with the fingerprint ``made_by``, or of the running one. Of all built-in studies, or of those that
    ``own`` names, files among them; with a ``profile`` these again at its readings.

    Raises:
        MendableError: ``own`` names no study.
        UnknownEngineError: the store holds no runs of that engine.
        NothingToReportError: the store holds nothing to report.
        VerdictsLostError: a page in ``verdicts`` has verdicts of studies that the store does not hold.
        MissingPackageError: an optional package is not installed.
        OSError: the store cannot be read or a file cannot be written.
    """
    studies = find(own, profile) if own else (*STUDIES, *(again_in(STUDIES, PROFILED, profile) if profile else ()))
    store = Store(directory)
    for problem in store.problems:
        print(problem, file=sys.stderr)
    with replacing(output) as draft, Progress("report", 1 + len(studies)) as progress:
        maker = None if made_by is None else find_engine(store, made_by)
        outcomes = read(store, studies, maker)
        progress(1)
        if not outcomes:
            raise NothingToReportError(_nothing(store, maker))
        if verdicts is not None:
            _keep(verdicts, outcomes)
        ended = any_ended(directory, maker or running())
        draft.write_text(render(build(outcomes, progress, maker, ended=ended)), encoding="utf-8")
        count = 0 if figures is None else _write_figures(figures, outcomes)
    if verdicts is not None:
        for path in write_verdicts(verdicts, outcomes, maker or running(), ended=ended):
            print(f"Verdicts: {path}")
    print(f"Report: {output}")
    if figures is not None:
        print(f"Figures: {count} PDF files in {figures}")


def _keep(folder: Path, outcomes: Sequence[Outcome]) -> None:
    """Nothing is written where a page would lose verdicts: they may be an earlier engine's, and cost hours."""
    held = {outcome.study.name for outcome in outcomes if not outcome.missing}
    for paper in {outcome.study.paper for outcome in outcomes} - {""}:
        path = folder / f"{paper}.md"
        told = told_in(path.read_text(encoding="utf-8")) if path.exists() else ()
        there = (*STUDIES, *PROFILED)
        lost = [study.name for study in there if study.name in told and study.name not in held]
        if lost:
            raise VerdictsLostError(
                f"--verdicts {folder}: found verdicts in {path.name} of {', '.join(lost)}, which the store does not "
                "hold whole; allowed: a store that does, or another folder"
            )


def write_verdicts(folder: Path, outcomes: Sequence[Outcome], maker: Maker, *, ended: bool = False) -> list[Path]:
    """Writes ``<paper>.md`` in the folder for every paper; what stands there above the mark stays.

    Raises:
        OSError: a file cannot be read or written.
    """
    judged = judge_all(by_name(outcomes), claims_of(outcome.study for outcome in outcomes), ended=ended)
    unjudged = {paper.catalogue: paper.unjudged for paper in the_papers()}
    paths = []
    for paper in dict.fromkeys(outcome.study.paper for outcome in outcomes if outcome.study.paper):
        mine = [outcome for outcome in outcomes if outcome.study.paper == paper]
        claims = {outcome.study.name: judged[outcome.study.name] for outcome in mine if outcome.study.name in judged}
        path = folder / f"{paper}.md"
        prose = path.read_text(encoding="utf-8") if path.exists() else f"# {paper}"
        campaign = Campaign("meshpace report --verdicts", maker, mine, unjudged=unjudged.get(paper, {}))
        with replacing(path) as draft:
            draft.write_text(below(prose, campaign, claims), encoding="utf-8")
        note_if_kept(folder, paper, "verdicts", maker, mine)
        paths.append(path)
    return paths


def _nothing(store: Store, maker: Maker | None) -> str:
    if maker is not None:
        return f"{store.directory} holds no runs of engine {maker} that a study of today asks for"
    there = described(store)
    kept = f"; it holds {there}: see `meshpace report --engine`" if there else ""
    return f"{store.directory} holds no runs of engine {running()}: make some with `meshpace study run`{kept}"


def _write_figures(folder: Path, outcomes: Sequence[Outcome]) -> int:
    from meshpace.report.papers import write_figures

    with Progress("figures", sum(len(views(outcome)) for outcome in outcomes)) as progress:
        return write_figures(folder, outcomes, progress)


def _ignore(_: int) -> None:
    pass


def build(
    outcomes: Sequence[Outcome], progress: Callable[[int], None] = _ignore, maker: Maker | None = None, *,
    ended: bool = False,
) -> Report:  # fmt: skip
    """The page of these outcomes; ``progress`` gets one more than the sections that are done.

    ``ended`` says that a budget for more seeds was spent before every verdict was decided.
    """
    maker = maker or running()
    claims = judge_all(by_name(outcomes), claims_of(outcome.study for outcome in outcomes), ended=ended)
    outcomes = [outcome for outcome in outcomes if outcome.records or outcome.study.name in claims]
    title, lead = _headed(outcomes)
    sections, order = [film_section()], appearance(outcomes)
    for count, outcome in enumerate(outcomes, start=2):
        sections.append(study_section(outcome, claims.get(outcome.study.name, ()), order))
        progress(count)
    judged = sum(len(claim.findings) for group in claims.values() for claim in group)
    runs = {record.key: record for outcome in outcomes for record in outcome.all_records()}
    simulated = sum(record.run()["simulated_s"] for record in runs.values())
    return Report(
        title=title,
        lead=f"{lead} Every number can be asked for the command that repeats it.",
        facts=(
            ("engine", str(maker)),
            ("studies", str(len(outcomes))),
            ("verdicts", f"{judged:,}"),
            ("runs", f"{len(runs):,}"),
            ("simulated", f"{simulated / 3600:,.1f} hours"),
            ("effort", " and ".join(sorted({str(outcome.effort) for outcome in outcomes}))),
        ),
        claims=(),
        sections=tuple(sections),
        notes=(
            *_older(maker),
            "Means over the seeds; bands, whiskers and ± are 95 % confidence intervals (Student's t). A verdict needs "
            "an interval that leaves no doubt; where it leaves some, the claim is undecided, not refuted. × is ours "
            "over the paper's number. Which intervals are corrected for the number of comparisons: docs/studies.md.",
            "Delay runs from the first hand-over to the network layer until the first arrival at the receiver: the "
            "wait in the sender's own pacing queue is outside, that in the gateway's is inside. Of several flows, "
            "delay and round-trip time are the mean of the flows' means, as the papers' claims have it: one flow with "
            "a handful of packets weighs as much as one with thousands (meshpace compare weighs packets).",
            "Charts by plotly.js (MIT licence), which this page carries; nothing is fetched.",
        ),
        interactive=True,
    )


def _headed(outcomes: Sequence[Outcome]) -> tuple[str, str]:
    """Title and lead: of the papers' studies, or of one's own."""
    papers = dict.fromkeys(outcome.study.paper for outcome in outcomes if outcome.study.paper)
    if papers:
        title, whose = ("TCP-GAP", "the TCP-GAP paper") if set(papers) == {"gap"} else (", ".join(papers),) * 2
        return (
            f"{title}, figure by figure",
            f"The experiments of {whose}, run again: each claim with the paper's number, ours, and a verdict "
            "for each routing protocol and model of reception.",
        )
    studies = [outcome.study for outcome in outcomes]
    return ", ".join(study.title for study in studies), " ".join(study.shows for study in studies if study.shows)


def _older(maker: Maker) -> tuple[str, ...]:
    mine = running()
    if maker == mine:
        return ()
    return (
        f"Every number here was made by engine {maker}. The animation and the drawings of topologies are "
        f"those of engine {mine}, and the commands repeat the runs with whatever engine they are given to.",
    )
