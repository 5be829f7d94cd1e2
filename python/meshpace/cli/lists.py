"""``meshpace schemes`` and ``meshpace scenarios``."""

from __future__ import annotations

import json
from collections.abc import Mapping

from meshpace import engine
from meshpace.cli.plain import Column, table
from meshpace.project import scenario_directory, shown

_WIDTH = 100
_PARTS = (
    ("", "congestion", "newreno"),
    ("recovery ", "recovery", "newreno"),
    ("profile ", "tcp_profile", "ns2"),
    ("pacing ", "pacing", "none"),
    ("ACKs ", "ack_policy", "every"),
    ("relays ", "relay", "drop-tail"),
    ("gateway ", "gateway", "none"),
)
"""The word before a part's word, the part's parameter, and the default that is left out."""


def print_schemes(as_json: bool) -> None:
    """One row a scheme with its parts by place; as JSON with every parameter."""
    rows = engine.schemes()
    if as_json:
        print(json.dumps({"schema": 1, "schemes": rows}))
        return
    columns = [Column("scheme"), Column("what it is made of", flows=True), Column("what it is", flows=True)]
    cells = [[row["name"], _made_of(row["parameters"]), row["summary"]] for row in rows]
    print(table(columns, cells, width=_WIDTH))
    print("\n Where nothing else is said: profile ns2, unpaced, an ACK a segment, drop-tail, no gateway part.")


def _made_of(parameters: Mapping[str, object]) -> str:
    """The sender's control, and every part that does not go without saying."""
    said = [
        f"{prefix}{parameters[key]}"
        for number, (prefix, key, usual) in enumerate(_PARTS)
        if key in parameters and (number == 0 or parameters[key] != usual)
    ]
    return ", ".join(said)


def print_scenarios() -> None:
    """One row a file: path, description, source."""
    rows = [[shown(path), *engine.about(path)] for path in sorted(scenario_directory().glob("*.toml"))]
    print(table([Column("file"), Column("what it shows", flows=True), Column("source", flows=True)], rows))
