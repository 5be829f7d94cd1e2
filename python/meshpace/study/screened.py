"""``meshpace study screen``: what open decisions do together, as Markdown for a paper's page.

Only what stands here may say "in no reading" or "in every reading" of a paper: of the combinations of a design.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from meshpace.cli.failure import InputError
from meshpace.files import replacing
from meshpace.progress import Progress
from meshpace.report.model import Verdict
from meshpace.stats import Estimate, estimate
from meshpace.study import registry
from meshpace.study.claims import Claim, Judgement, Role, combine, joined, judge, together
from meshpace.study.executors import workers
from meshpace.study.manifest import note_if_kept
from meshpace.study.model import AS_IS, Condition, Effort
from meshpace.study.outcome import Outcome, load, write_table
from meshpace.study.page import BEGIN, END, MARK
from meshpace.study.record import running
from meshpace.study.rules import bounds
from meshpace.study.runner import make, tasks
from meshpace.study.screening import design, letters
from meshpace.study.store import Store


def run_screens(
    names: Sequence[str], effort: Effort, directory: Path, threads: int | None = None, executor: str = "threads",
    folder: Path | None = None,
) -> None:  # fmt: skip
    """Makes what is missing, and prints the tables or puts them on the papers' pages in ``folder``.

    Raises:
        InputError: a page is not there.
        UnknownStudyError: a name stands for no screen.
    """
    screens = registry.find_screens(names)
    pages = {study.paper: _page(folder, study.paper) for study in screens} if folder is not None else {}
    store = Store(directory)
    for problem in store.problems:
        Console(stderr=True).print(str(problem), highlight=False, soft_wrap=True)
    wanted = tasks(screens, effort)
    with workers(executor, threads) as hands, Progress(f"{' '.join(names)} ({effort})", len(wanted)) as progress:
        make(wanted, store, hands, progress)
    outcomes = load(store, screens, effort)
    for outcome in outcomes:
        write_table(directory, outcome)
    if not pages:
        print("\n".join(line for outcome in outcomes for line in lines(outcome)))
    for paper, path in pages.items():
        mine = [outcome for outcome in outcomes if outcome.study.paper == paper]
        write(path, mine)
        print(f"Screens: {path}")


def write(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Puts the tables on a page, and notes in the manifest beside it what they stand on, if there is one.

    Raises:
        OSError: a file cannot be read or written.
    """
    with replacing(path) as draft:
        draft.write_text(within(path.read_text(encoding="utf-8"), outcomes), encoding="utf-8")
    note_if_kept(path.parent, path.stem, "screens", running(), outcomes)


def _page(folder: Path, paper: str) -> Path:
    path = folder / f"{paper}.md"
    if not paper:
        raise InputError(f"--write {folder}: found a paper without a catalogue; allowed: one whose page bears its name")
    if not path.is_file():
        raise InputError(f"--write {folder}: found no {path.name}; allowed: a folder with the papers' pages")
    return path


def within(text: str, outcomes: Sequence[Outcome]) -> str:
    """A page with the tables between their marks, or where there are none before the verdicts."""
    told = "\n".join([BEGIN, "", "## Decisions tried together", "", *(line for one in outcomes for line in lines(one))])
    told = f"{told.rstrip()}\n\n{END}"
    if BEGIN in text and END in text:
        return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: told, text, count=1, flags=re.DOTALL)
    above, mark, verdicts = text.partition(MARK)
    below = f"{mark}{verdicts}" if mark else ""
    return f"{above.rstrip()}\n\n{told}\n" + (f"\n{below}" if below else "")


@dataclass(frozen=True, slots=True)
class Combination:
    """What came out of a claim in one combination of readings."""

    label: str
    value: Estimate
    """The number that is asked first."""
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one decision on a claim's number, over all combinations of the others."""

    letter: str
    label: str
    change: Estimate

    @property
    def certain(self) -> bool:
        """Whether the interval, Bonferroni's for the decisions, leaves out zero."""
        low, high = bounds(self.change)
        return self.change.half_width is not None and (low > 0 or high < 0)


def combinations(judgement: Judgement, outcome: Outcome) -> list[Combination]:
    """A verdict a combination, corrected for their number where they are not all the same (Bonferroni)."""
    labels = [point.label for point in outcome.study.points(outcome.effort)]
    first = judgement.claim.asks[0]
    found = []
    for label in labels:
        mine = [one for one in judgement.readings if one.cells[0][1].point == label]
        groups = [joined([r for r in mine if r.ask.role is role]) for role in (Role.CLAIM, Role.GUARD)]
        value = next((one.estimate() for one in mine if one.ask is first), None)
        if value is None or not groups[0]:
            continue
        answers = [[together(group, judgement.comparisons) for group in part] for part in groups]
        found.append(Combination(label, value, combine(*answers)[0]))
    return found


def effects(claim: Claim, outcome: Outcome, condition: Condition) -> list[Effect]:
    """The main effects on the number that is asked first: where a decision is turned less where it is not, by seed."""
    study = outcome.study
    factors = study.axis.factors
    rows = design(len(factors)).rows
    columns = [claim.asks[0].measure.take(outcome, condition, point.label) for point in study.axis.points]
    seeds = [seed for seed in zip(*columns, strict=False) if None not in seed]
    found = []
    for at, (letter, factor) in enumerate(zip(letters(len(factors)), factors, strict=True)):
        signs = [1 if row[at] else -1 for row in rows]
        halves = len(rows) / 2
        changes = [
            sum(sign * (value or 0.0) for sign, value in zip(signs, seed, strict=True)) / halves for seed in seeds
        ]
        change = estimate(changes, 1 - 0.05 / len(factors))
        if change is not None:
            found.append(Effect(letter, factor.label, change))
    return found


def lines(outcome: Outcome) -> Iterator[str]:
    """The combined decisions, then a table for each condition."""
    study = outcome.study
    factors = study.axis.factors
    drawn = design(len(factors))
    command = f"meshpace study screen {study.name} --{outcome.effort}"
    yield f"### {study.title} ({study.name})"
    yield ""
    yield (
        f"{len(factors)} decisions, each as it is or at one other reading, in {len(drawn.rows)} of "
        f"{2 ** len(factors):,} combinations: a fractional factorial of resolution IV, in which what a decision does "
        f"by itself is clear of what any two do together{_generated(drawn.generators)}. {outcome.plan_seeds} seeds. "
        f"Written by `{command}`, engine {running()}."
    )
    yield ""
    yield "| | turned | open decision |"
    yield "|---|---|---|"
    for letter, factor in zip(letters(len(factors)), factors, strict=True):
        yield f"| {letter} | {factor.label} | {', '.join(factor.decisions) or '-'} |"
    for condition in dict.fromkeys(cell.condition for cell in outcome.records):
        yield ""
        yield from _condition(outcome, condition)
    yield ""


def _generated(generators: Sequence[str]) -> str:
    return f" ({', '.join(generators)})" if generators else ""


_HEADS = (
    "claim", "asked", "as it is", "least", "greatest", "all turned", "verdicts", "certain effects, the greatest first",
)  # fmt: skip


def _condition(outcome: Outcome, condition: Condition) -> Iterator[str]:
    count = len(outcome.study.axis.points)
    yield f"{condition.name}; of a combination the letters of what is turned:"
    yield ""
    yield f"| | {' | '.join(_HEADS)} |"
    yield "|---" * (1 + len(_HEADS)) + "|"
    for claim in outcome.study.claims:
        judgement = judge(claim, {outcome.study.name: outcome}, condition)
        found = [] if judgement is None else combinations(judgement, outcome)
        if not found:
            continue
        show = claim.asks[0].show
        by_label = {one.label: one for one in found}
        least, greatest = (pick(found, key=lambda one: one.value.mean) for pick in (min, max))
        all_turned = by_label.get(outcome.study.axis.points[-1].label)
        cells = (
            f"| {claim.id} | {claim.statement}", claim.tolerance or "-",
            show(by_label[AS_IS].value) if AS_IS in by_label else "-",
            *(f"{show(one.value)} ({one.label})" for one in (least, greatest)),
            "-" if all_turned is None else show(all_turned.value), _summed(found, count),
            _effects(claim, outcome, condition),
        )  # fmt: skip
        yield f"{' | '.join(cells)} |"


def _summed(found: Sequence[Combination], count: int) -> str:
    verdicts = Counter(one.verdict for one in found)
    if len(found) == count and set(verdicts) == {Verdict.HOLDS}:
        return f"holds in every one of {count}"
    if len(found) == count and set(verdicts) == {Verdict.FAILS}:
        return f"holds in no one of {count}"
    told = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in Verdict if verdicts[verdict])
    return told if len(found) == count else f"{told}; {count - len(found)} without a number"


def _effects(claim: Claim, outcome: Outcome, condition: Condition) -> str:
    found = sorted(effects(claim, outcome, condition), key=lambda one: -abs(one.change.mean))
    show = claim.asks[0].show
    return "; ".join(f"{one.letter} {show(one.change)}" for one in found if one.certain) or "none"
