"""What of the schemes in results their sources do not print: said wherever results are shown."""

from __future__ import annotations

from collections.abc import Iterable

from meshpace.results import RunResult


def told(runs: Iterable[RunResult]) -> list[str]:
    """A line a scheme, in the order of the runs; none where everything is printed."""
    found: dict[str, list[str]] = {}
    for run in runs:
        found |= run.get("reconstructed", {})
    return [
        f"Reconstructed, as its source does not print it: of {scheme} {'; '.join(ours)}."
        for scheme, ours in found.items()
    ]
