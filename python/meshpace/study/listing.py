"""``meshpace study list``: a row a study, worked out once for the papers' files and the code that reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from meshpace.cli.plain import Column, table
from meshpace.project import paper_directory
from meshpace.study.kept import kept, stamp_of


def print_studies(as_json: bool) -> None:
    """One row a study, then the beginnings of names that stand for several."""
    found = kept("studies", _made_from(), _worked_out)
    if as_json:
        print(json.dumps({"schema": 1, "studies": found["studies"]}))
        return
    columns = (
        Column("study"), Column("figures", flows=True), Column("what it shows", flows=True),
        Column("claims", right=True), Column("runs\nquick", right=True), Column("runs\nfull", right=True),
    )  # fmt: skip
    rows = [
        (
            study["name"], ", ".join(study["figures"]), study["shows"], str(len(study["claims"]) or ""),
            *(f"{study['runs'][effort]:,}" for effort in ("quick", "full")),
        )
        for study in found["studies"]
    ]  # fmt: skip
    print(table(columns, rows))
    print(f"\nGroups: {', '.join(f'{name} ({count})' for name, count in found['groups'].items())}")


def _made_from() -> str:
    """A digest of the papers and of the code that reads them."""
    package = Path(__file__).resolve().parent
    code = [*package.rglob("*.py"), *package.parent.glob("*.py"), package.parent / "sweeps/vary.py"]
    papers = [path for kind in ("*.toml", "*.py") for path in paper_directory().rglob(kind)]
    engine = sorted(package.parent.glob("_engine*"))  # which schemes there are
    return stamp_of([*sorted(code), *sorted(papers), *engine])


def _worked_out() -> dict[str, Any]:
    from meshpace.study import registry
    from meshpace.study.command import described

    return {"studies": [described(study) for study in registry.STUDIES], "groups": registry.groups()}
