"""A scenario in a judge's terms: what each judge's ``express`` does around its own part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from meshpace import engine
from meshpace.engine import Job
from meshpace.judges.keys import unknown
from meshpace.judges.network import Resolved, check_mesh
from meshpace.judges.refusals import NotExpressibleError, Refusals

_T = TypeVar("_T")


def expressed_by(judge: str, part: Callable[[Resolved, Refusals], _T | None], known: Mapping[str, str], job: Job) -> _T:
    """The scenario of a job, all of it, as a judge's part makes it of the resolved file; ``known`` is its keys' table.

    Raises:
        ScenarioError: the scenario cannot be run here.
        NotExpressibleError: names every key that has no counterpart in the judge, and the reasons.
    """
    resolved = engine.resolve(job)
    found = Refusals()
    scenario = part(resolved, found)
    found.of(check_mesh, resolved, job)
    found.refused += unknown(job, known)
    if found.refused:
        raise NotExpressibleError(judge, job.name, found.refused)
    assert scenario is not None, "what is missing was refused"
    return scenario
