"""``meshpace study reproduce``: the papers' pages, all from one engine, over as many sittings as it takes.

Of each paper in turn: the runs of its studies, of its profiles and of its screens; more seeds where a verdict is
undecided; then its page, and in the manifest what that stands on. Runs in the store are never made again. So the
same command goes on where it ended, and several machines that share a store share the work. A page stands on the
longer plan of each study that is there whole: a full campaign that has not ended makes pages of full plans and of
quick ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from meshpace.cli.failure import InputError
from meshpace.progress import Progress
from meshpace.report.command import write_verdicts
from meshpace.report.model import Verdict
from meshpace.study import registry
from meshpace.study.claims import Claim
from meshpace.study.decide import decide, noted
from meshpace.study.executors import Workers, workers
from meshpace.study.held import keep_more, read
from meshpace.study.manifest import MANIFEST, note
from meshpace.study.model import Effort, Study
from meshpace.study.outcome import Outcome, by_name
from meshpace.study.record import running
from meshpace.study.runner import make, tasks
from meshpace.study.screened import write
from meshpace.study.store import Store
from meshpace.study.verdicts import claims_of, judge_all
from meshpace.study.written.papers import the_papers


@dataclass(frozen=True, slots=True)
class Campaign:
    """The pages to make, from which papers, and the time for it."""

    effort: Effort
    store: Path
    pages: Path
    hours: float | None
    """Of the clock; without it as long as it takes."""
    decide_s: float
    """For more seeds, of each paper."""


def papers(names: Sequence[str]) -> tuple[tuple[str, tuple[Study, ...], tuple[Study, ...]], ...]:
    """Of each paper the name of its page, its studies with those of its profiles, and its screens.

    Raises:
        InputError: a name is none of a paper's.
    """
    there = {paper.catalogue: paper for paper in the_papers() if paper.catalogue}
    folders = [paper.name for paper in there.values()]
    for name in names:
        if name not in (registry.ALL, *folders):
            raise InputError(f"no paper {name!r} has a page; allowed: {', '.join(folders)}, {registry.ALL}")
    chosen = [one for one in there.values() if registry.ALL in names or one.name in names]
    return tuple((one.catalogue, (*one.studies, *one.profiled), one.screens) for one in chosen)


def reproduce(
    names: Sequence[str], campaign: Campaign, threads: int | None = None, executor: str = "threads"
) -> bool:  # fmt: skip
    """Makes the papers' pages, as far as the hours go; whether all of them are whole.

    Raises:
        InputError: a name is none of a paper's, or there is no folder for pages.
        OSError: the store cannot be read or written, or a page.
        KeyboardInterrupt: Ctrl-C; what is finished is stored.
    """
    wanted = papers(names)
    if not campaign.pages.is_dir():
        raise InputError(f"--pages: found no folder {campaign.pages}; allowed: one, such as docs/reproduction")
    ends = None if campaign.hours is None else time.monotonic() + 3600 * campaign.hours
    store = Store(campaign.store)
    for problem in store.problems:
        Console(stderr=True).print(str(problem), highlight=False, soft_wrap=True)
    with workers(executor, threads) as hands:
        whole = [_make(page, (*studies, *screens), campaign, store, hands, ends) for page, studies, screens in wanted]
        for at, (page, studies, screens) in enumerate(wanted):
            held = _held(store, (*studies, *screens))
            if held is not None:
                told, screened = held[: len(studies)], held[len(studies) :]
                _page(page, told, screened, campaign, store, hands, _share(ends, len(wanted) - at, campaign))
    return all(whole)


def _held(store: Store, studies: Sequence[Study]) -> list[Outcome] | None:
    """Of each study the longer plan that the store holds whole; None if of one of them no plan is whole."""
    held = by_name([outcome for outcome in read(store, studies) if outcome.complete])
    return [held[study.name] for study in studies] if held.keys() >= {study.name for study in studies} else None


def _share(ends: float | None, papers_left: int, campaign: Campaign) -> float:
    """Seconds for the seeds that decide a paper: its own, and no more than its part of what is left."""
    if ends is None:
        return campaign.decide_s
    return min(campaign.decide_s, max(0.0, ends - time.monotonic()) / papers_left)


def _make(
    page: str, studies: Sequence[Study], campaign: Campaign, store: Store, hands: Workers, ends: float | None
) -> bool:
    """Makes the runs of plans, as far as the time goes; whether all are there."""

    def enough() -> bool:
        return ends is not None and time.monotonic() >= ends

    wanted = tasks(studies, campaign.effort, noted(campaign.store, campaign.effort, running())[0])
    with Progress(f"{page} ({campaign.effort})", len(wanted)) as progress:
        tally = make(wanted, store, hands, progress, enough)
    there = len(wanted) - tally.left
    told = f"{page}: {there:,} of {len(wanted):,} runs, {tally.made:,} of them made now"
    print(told if tally.left == 0 else f"{told}; the same command goes on", flush=True)
    return tally.left == 0


def _page(
    page: str, outcomes: Sequence[Outcome], screens: Sequence[Outcome], campaign: Campaign, store: Store,
    hands: Workers, budget_s: float,
) -> None:  # fmt: skip
    """Adds seeds where a verdict is undecided, then writes the page and notes what it stands on."""
    maker = running()
    before = {effort: noted(campaign.store, effort, maker)[0] for effort in Effort}
    evidence = by_name(outcomes)
    claims = claims_of([outcome.study for outcome in outcomes])
    plain = _undecided(evidence, claims)
    with Progress(f"{page}: deciding, seconds of the budget", max(1, round(budget_s))) as progress:
        decision = decide(
            evidence, claims, store, hands, budget_s,
            lambda so_far: progress(round(so_far.spent_s), so_far.spent_s / max(budget_s, 1e-9)),
        )  # fmt: skip
    keep_more(campaign.store, maker, decision, before)
    write_verdicts(campaign.pages, outcomes, maker, ended=decision.ended)
    note(campaign.pages, page, "verdicts", maker, outcomes)
    if screens:
        path = campaign.pages / f"{page}.md"
        write(path, screens)
        note(campaign.pages, page, "screens", maker, screens)
    left = _undecided(evidence, claims)
    print(
        f"{page}: {plain[0]} of {plain[1]} verdicts undecided before {decision.deepened + decision.runs:,} runs more "
        f"({decision.spent_s:,.0f} s), {left[0]} after; {campaign.pages / f'{page}.md'} and {MANIFEST} written",
        flush=True,
    )
    sys.stdout.flush()


def _undecided(evidence: dict[str, Outcome], claims: Sequence[Claim]) -> tuple[int, int]:
    """Verdicts that are not decided, and all."""
    judged = judge_all(evidence, claims)
    found = [finding.verdict for group in judged.values() for claim in group for finding in claim.findings]
    return sum(verdict is Verdict.OPEN for verdict in found), len(found)
