"""``meshpace schemes`` and ``meshpace scenarios``."""

from __future__ import annotations

import json

from meshpace import engine
from meshpace.cli.plain import Column, table
from meshpace.project import scenario_directory, shown

_PARTS = (
    ("sender", "congestion"),
    ("its profile", "tcp_profile"),
    ("its pacing", "pacing"),
    ("receiver's ACKs", "ack_policy"),
    ("relays", "relay"),
    ("gateway", "gateway"),
)


def print_schemes(as_json: bool) -> None:
    """One row a scheme with its parts by place; as JSON with every parameter."""
    rows = engine.schemes()
    if as_json:
        print(json.dumps({"schema": 1, "schemes": rows}))
        return
    columns = [Column("scheme"), *(Column(title) for title, _ in _PARTS), Column("what it is", flows=True)]
    cells = [[row["name"], *(str(row["parameters"].get(key, "")) for _, key in _PARTS), row["summary"]] for row in rows]
    print(table(columns, cells))


def print_scenarios() -> None:
    """One row a file: path, description, source."""
    # The other lists have no use for it, and it takes a quarter of an empty Python's start.
    import tomllib

    rows = []
    for path in sorted(scenario_directory().glob("*.toml")):
        head = tomllib.loads(path.read_text()).get("scenario", {})
        rows.append([shown(path), head.get("description", ""), head.get("source", "")])
    print(table([Column("file"), Column("what it shows", flows=True), Column("source", flows=True)], rows))
