"""``meshpace study run`` and ``meshpace study decide``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from meshpace.cli.terminal import console
from meshpace.cli.verdicts import print_verdicts
from meshpace.errors import MendableError
from meshpace.files import replacing, try_out
from meshpace.progress import Progress
from meshpace.study import registry
from meshpace.study.claims import Claim
from meshpace.study.decide import Decision, decide, deepen, noted, save
from meshpace.study.emulated import makeable
from meshpace.study.engines import others
from meshpace.study.executors import Workers, workers
from meshpace.study.held import keep_more, read
from meshpace.study.model import NOTHING_MORE, Condition, Effort, Study
from meshpace.study.outcome import Outcome, by_name, load, write_table
from meshpace.study.page import Campaign, page
from meshpace.study.record import running
from meshpace.study.runner import Tally, make, tasks
from meshpace.study.store import Store
from meshpace.study.telling import claims_as_json
from meshpace.study.verdicts import CLAIMS, claims_of, judge_all


class NothingHeldError(MendableError):
    """The store has nothing to go on with."""


def _claims(study: Study) -> list[str]:
    """The claims that are shown with it."""
    return [claim.id for claim in CLAIMS if claim.study == study.name]


def described(study: Study) -> dict[str, object]:
    """What ``meshpace study list --json`` says of a study."""
    return {
        "name": study.name,
        "title": study.title,
        "paper": study.paper,
        "figures": study.figures,
        "claims": _claims(study),
        "source": study.source,
        "shows": study.shows,
        "scenario": study.scenario,
        "axis": study.axis.title,
        "points": [point.label for point in study.axis.points],
        "schemes": study.schemes,
        "decisions": [{"decision": one, "points": points} for one, points in study.turned().items()],
        "conditions": [{"routing": c.routing, "reception": c.reception} for c in study.conditions],
        "runs": {effort: study.runs(effort) for effort in Effort},
    }


def run_studies(
    names: Sequence[str], effort: Effort, directory: Path, threads: int | None = None, executor: str = "threads",
    output: Path | None = None, *, budget_s: float | None = None, profile: str | None = None, as_json: bool = False,
) -> None:  # fmt: skip
    """Makes what is missing, writes the tables, prints the verdicts and writes them to ``output``.

    With a budget it adds seeds until verdicts are decided; without one it keeps to those that were added before.
    """
    studies = registry.find(names, profile)
    try_out(output)
    claims = claims_of(studies)
    store = Store(directory)
    terminal, errors = console(), Console(stderr=True)
    for problem in store.problems:
        errors.print(str(problem), highlight=False, soft_wrap=True)
    before, ended = noted(directory, effort, running())
    more = before if budget_s is None else NOTHING_MORE
    wanted = tasks(studies, effort, more)
    studies, left_out = makeable(studies, names, wanted, store)
    if left_out:
        errors.print(left_out, highlight=False, soft_wrap=True)
        claims = claims_of(studies)
        wanted = tasks(studies, effort, more)
    decision = None
    with workers(executor, threads) as hands:
        with Progress(f"{' '.join(names)} ({effort})", len(wanted)) as progress:
            tally = make(wanted, store, hands, progress)
        outcomes = load(store, studies, effort, more=more)
        evidence = by_name(outcomes)
        if budget_s is None:
            added = deepen(evidence, claims, store, hands).more
            # As they stand now: another process may have gone on deciding.
            kept, ended = noted(directory, effort, running())
        else:
            decision = _decide(evidence, claims, store, hands, budget_s)
            added, ended = decision.more, decision.ended
            before, _ = noted(directory, effort, running())
            kept = {place: seeds for place, seeds in before.items() if place[0] not in evidence}
        both = {place: kept.get(place, 0) + added.get(place, 0) for place in [*kept, *added]}
        if both:
            save(directory, effort, running(), both, ended=ended)
    for outcome in outcomes:
        write_table(directory, outcome)
    judged = judge_all(by_name(outcomes), claims, ended=ended)
    if as_json:
        runs = {"made": tally.made, "stored": tally.stored, "others": tally.others}
        print(json.dumps({
            "schema": 1, "effort": effort, "engine_fingerprint": running().fingerprint, "runs": runs,
            "claims": claims_as_json(judged), "decide": None if decision is None else _decided(decision),
            "left_out": left_out or None,
        }))  # fmt: skip
    else:
        _print_tally(terminal, tally, directory)
        if elsewhere := others(store):
            terminal.print(elsewhere, highlight=False, soft_wrap=True)
        print_verdicts(terminal, judged, _conditions(outcomes))
        if decision is not None:
            terminal.print(tell(decision), highlight=False, soft_wrap=True)
    if output is not None:
        command = f"meshpace study run {' '.join(names)} --{effort}{f' --profile {profile}' if profile else ''}"
        campaign = Campaign(command, running(), outcomes, None if decision is None else tell(decision))
        with replacing(output) as draft:
            draft.write_text(page(campaign, judged))


def _decide(
    evidence: dict[str, Outcome], claims: Sequence[Claim], store: Store, hands: Workers, budget_s: float
) -> Decision:
    with Progress("deciding, seconds of the budget", max(1, round(budget_s))) as progress:
        return decide(
            evidence, claims, store, hands, budget_s,
            lambda so_far: progress(round(so_far.spent_s), so_far.spent_s / max(budget_s, 1e-9)),
        )  # fmt: skip


def decide_held(
    names: Sequence[str], directory: Path, budget_s: float, threads: int | None = None, executor: str = "threads", *,
    profile: str | None = None, as_json: bool = False,
) -> None:  # fmt: skip
    """Goes on deciding with what the store holds of the studies, of each the longer plan that is there whole.

    Seeds that were added before count, and the budget is for more. Nothing of a plan is run.

    Raises:
        NothingHeldError: of none of them a whole plan is there.
    """
    store, maker = Store(directory), running()
    terminal, errors = console(), Console(stderr=True)
    for problem in store.problems:
        errors.print(str(problem), highlight=False, soft_wrap=True)
    studies = registry.find(names, profile)
    claims = claims_of(studies)
    evidence = by_name([outcome for outcome in read(store, studies, maker) if outcome.complete])
    if not evidence:
        there = others(store)
        raise NothingHeldError(
            f"{directory} holds no whole plan of {' '.join(names)}, made by engine {maker}: "
            f"`meshpace study run {' '.join(names)}` makes it{'; ' if there else ''}{there}"
        )
    with workers(executor, threads) as hands:
        decision = _decide(evidence, claims, store, hands, budget_s)
    keep_more(directory, maker, decision)
    outcomes = [outcome for outcome in evidence.values() if outcome.records]
    for outcome in outcomes:
        write_table(directory, outcome)
    judged = judge_all(evidence, claims, ended=decision.ended)
    if as_json:
        print(json.dumps({
            "schema": 1, "efforts": {outcome.study.name: outcome.effort for outcome in outcomes},
            "engine_fingerprint": maker.fingerprint, "claims": claims_as_json(judged), "decide": _decided(decision),
        }))  # fmt: skip
        return
    print_verdicts(terminal, judged, _conditions(outcomes))
    terminal.print(tell(decision), highlight=False, soft_wrap=True)


def _conditions(outcomes: Sequence[Outcome]) -> list[Condition]:
    return list(dict.fromkeys(cell.condition for outcome in outcomes for cell in outcome.records))


def _decided(decision: Decision) -> dict[str, object]:
    return {
        "deepened": decision.deepened,
        "runs": decision.runs,
        "spent_s": decision.spent_s,
        "ended": decision.ended,
        "undecided": decision.undecided,
        "left_runs": sum(decision.left.values()),
        "left_s": decision.left_s,
    }


def tell(decision: Decision) -> str:
    """The seeds added, and the cost of the rest."""
    text = f"{decision.deepened:,} runs added at best points. " if decision.deepened else ""
    text += f"{decision.runs:,} runs added to decide, {_hours(decision.spent_s)}"
    text += ": the budget ended it." if decision.ended else "."
    if decision.undecided:
        text += (
            f" {decision.undecided} verdicts are not decided; if means and spreads stay, that would take "
            f"{sum(decision.left.values()):,} more runs, {_hours(decision.left_s)}."
        )
    return text


def _hours(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 600 else f"{seconds / 3600:,.1f} h"


def _print_tally(terminal: Console, tally: Tally, directory: Path) -> None:
    others = f", {tally.others:,} by other processes" if tally.others else ""
    terminal.print(
        f"{tally.made:,} runs made{others}, {tally.stored:,} were in {directory}; tables in {directory / 'tables'}",
        highlight=False,
        soft_wrap=True,
    )
