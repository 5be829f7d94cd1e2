"""Notes on standard error about scenarios that do run, but perhaps not as the user thinks."""

from __future__ import annotations

import sys

from meshpace import gateways, precedence
from meshpace.engine import complaints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from meshpace.engine import Job

_NOTES = (precedence.note, gateways.note)


def tell(jobs: Iterable[Job]) -> None:
    """Says which schemes of flows ``--scheme`` replaces, and which flows nothing paces: once a scenario and scheme.

    Of what cannot be run it says nothing: its error is a line that stands alone.
    """
    told: dict[tuple[str, str | None, int], str] = {}
    for job in jobs:
        for number, note in enumerate(_NOTES):
            key = (job.name, job.scheme, number)
            if key not in told and (line := note(job)) is not None and not complaints(job):
                told[key] = line
    for line in told.values():
        print(line, file=sys.stderr)
