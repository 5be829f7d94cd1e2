"""``meshpace run``."""

from __future__ import annotations

import os

from meshpace import engine
from meshpace.cli.arguments import job, job_of_each_seed
from meshpace.cli.failure import InputError
from meshpace.notes import tell
from meshpace.progress import Progress
from meshpace.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from meshpace.formula import Formula


_PIECE = 1 << 14
"""Characters printed at a time."""


class Captured(NamedTuple):
    """A capture: its file, and the nodes and flows that it is of; none is all."""

    path: Path | None
    nodes: tuple[str, ...]
    flows: tuple[str, ...]


def names_of(option: str, words: list[str] | None) -> tuple[str, ...]:
    """Names with commas between, or of several options.

    Raises:
        InputError: one is empty.
    """
    names = tuple(name.strip() for word in words or () for name in word.split(","))
    if not all(names):
        raise InputError(f"{option}: found {','.join(words or ())!r}; allowed: names with commas between")
    return names


def simulate(
    scenario: str,
    scheme: str | type[Formula] | None,
    seed: int | None,
    seeds: int | None,
    settings: list[str] | None,
    as_json: bool,
    captured: Captured,
    trace: Path | None,
    threads: int | None,
    why: bool = False,
    film: Path | None = None,
    report: Path | None = None,
) -> None:
    """Runs one seed or several and prints the result."""
    pcap, name_of_file = captured.path, os.path.basename(scenario)  # noqa: PTH119 - pathlib is loaded where it is needed
    for option, names in (("--pcap-node", captured.nodes), ("--pcap-flow", captured.flows)):
        if names and pcap is None:
            raise InputError(f"{option}: found without --pcap; allowed: both, or neither")
    if (why or film or report) and (pcap or trace):
        raise InputError("--why, --film and --report exclude --pcap and --trace: allowed: one after the other")
    if seeds is not None:
        alone = ((seed, "--seed"), (pcap, "--pcap"), (trace, "--trace"), (why or None, "--why"), (film, "--film"),
                 (report, "--report"))  # fmt: skip
        for other, name in alone:
            if other is not None:
                raise InputError(f"--seeds and {name} exclude each other: {name} belongs to one run")
        jobs = job_of_each_seed(scenario, settings, scheme, seeds)
        tell(jobs[:1])
        with Progress(name_of_file, len(jobs)) as progress:
            texts = engine.run_many_json(jobs, threads, progress)
    else:
        if pcap or trace or film or report:
            from pathlib import Path

            from meshpace.files import distinct

            distinct({"--pcap": pcap, "--trace": trace, "--film": film, "--report": report}, [Path(scenario)])
        only = job(scenario, settings, scheme, 1 if seed is None else seed)
        tell([only])
        if why or film or report:
            from meshpace.cli.explained import explained

            with Progress(name_of_file, 1) as progress:
                explained(only, as_json=as_json, why=why, film=film, report=report, progress=progress)
            return
        texts = [_run_one(only, captured, trace)]
    if as_json:
        _print_whole(texts[0] if seeds is None else f'{{"schema": 1, "runs": [{", ".join(texts)}]}}')
        return
    import json

    from meshpace.cli.tables import print_runs

    print_runs([json.loads(text) for text in texts])


def _print_whole(text: str) -> None:
    """A piece at a time: of a large mesh it is a kilobyte a node, which a single print would hold encoded, too."""
    for begin in range(0, len(text), _PIECE):
        print(text[begin : begin + _PIECE], end="")
    print()


def _check_names(one: engine.Job, captured: Captured) -> None:
    """Raises InputError where a capture is to be of a node or flow that is not there."""
    if not captured.nodes and not captured.flows:
        return
    resolved = engine.resolve(one)
    for option, names, kind in (("--pcap-node", captured.nodes, "mesh"), ("--pcap-flow", captured.flows, "flows")):
        there = [row["id"] for row in resolved[kind]]
        for name in names:
            if name not in there:
                raise InputError(f"{option}: found {name!r}; allowed: {', '.join(there)}")


def _run_one(one: engine.Job, captured: Captured, trace: Path | None) -> str:
    _check_names(one, captured)
    with Progress(os.path.basename(one.name), 1) as progress:  # noqa: PTH119
        if captured.path is None and trace is None:
            return engine.run_many_json([one], 1, progress)[0]
        return _run_watched(one, captured, trace, progress)


def _run_watched(one: engine.Job, captured: Captured, trace: Path | None, progress: Progress) -> str:
    from contextlib import ExitStack

    from meshpace.files import replacing

    with ExitStack() as stack:
        # Both files take their places only after the run has succeeded and both are complete.
        capture = stack.enter_context(replacing(captured.path)) if captured.path else None
        table = stack.enter_context(replacing(trace)) if trace else None
        text, columns = engine.run_watched(
            one, series=table is not None, capture=capture, nodes=captured.nodes, flows=captured.flows,
            progress=progress,
        )  # fmt: skip
        if table is not None and columns is not None:
            from meshpace.traces import write_parquet

            write_parquet(table, columns, text)
        return text
