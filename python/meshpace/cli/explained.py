"""``meshpace run`` with ``--why``, ``--film`` or ``--report``."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from meshpace import engine
from meshpace.engine import Job
from meshpace.files import replacing


def explained(
    job: Job, *, as_json: bool, why: bool, film: Path | None, report: Path | None, progress: Callable[[int], None]
) -> None:
    """Runs one seed with an account of its losses; prints it if ``why``, writes the pages.

    Raises:
        ScenarioError: it cannot be run.
        MissingPackageError: what a page needs is not installed.
        OSError: a file cannot be written; said before anything is run.
    """
    from meshpace.why import as_json as told
    from meshpace.why import verdicts

    with ExitStack() as stack:
        drafts = [None if path is None else stack.enter_context(replacing(path)) for path in (film, report)]
        text, losses = engine.why(job, progress)
        run = json.loads(text)
        found = verdicts(run, losses)
        if any(drafts):
            from meshpace.report.page import render
            from meshpace.report.run import of_film, of_run

            for draft, build in zip(drafts, (of_film, of_run), strict=True):
                if draft is not None:
                    draft.write_text(render(build(job, run, found)), encoding="utf-8")
    if as_json:
        print(json.dumps({**run, "why": told(found)}, separators=(",", ":")) if why else text)
        return
    from meshpace.cli.tables import print_runs

    print_runs([run])
    if why:
        from meshpace.cli.why import print_why

        print_why(run, found)
