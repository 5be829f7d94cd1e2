"""docs/result-fields.md from what the engine says of each field.

`python tests/result_fields.py > docs/result-fields.md` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_SOURCES = ("crates/mesh/src/result.rs", "crates/python/src/stamp.rs")
_PLACES = {
    "RunResult": ("The run", ""),
    "FlowResult": ("A flow", "flows"),
    "LinkResult": ("A link", "links"),
    "AggregateResult": ("Frames of several packets on a link", "links.aggregates"),
    "RateResult": ("Data frames of a link in a mode", "links.rates"),
    "GatewayResult": ("A gateway", "gateways"),
    "RoutingResult": ("Routing", "routing"),
    "RelayResult": ("A relay", "relays"),
    "HopDelayResult": ("Delays over the next hops", "hop_delays"),
    "QueueResult": ("Packets that waited in a node's queue", "queues"),
    "QueuedFlow": ("Packets of a flow that waited there", "queues.flows"),
    "NodeLoad": ("What a node sent for a flow", "flows.load"),
    "LoadResult": ("Packets of one kind", "flows.load.data"),
    "Stamped": ("The engine that made the run", ""),
}
"""Heading, and where it stands in the JSON."""
_TYPES = {
    "String": "text", "&'static str": "text", "bool": "true or false", "f64": "number", "usize": "whole number",
    "u64": "whole number", "u32": "whole number",
    "u8": "whole number",
}  # fmt: skip


_HEAD = (
    "# Fields of a result",
    "",
    "A run's result is one JSON object. `meshpace run --json` prints it, and `meshpace.run` returns it. This page",
    "lists its fields. Times are in seconds, rates in bit/s, sizes in bytes. A value that does not apply is null,",
    "never 0. Counters and rates cover the measured interval; `wall_s`, `events`, `frames` and `simulated_s` cover",
    "the whole run. [contract.md](contract.md) says what each is meant to be in full.",
    "",
    "`python tests/result_fields.py` writes this page from the engine's sources; a test holds it against them and",
    "against runs.",
    "",
)


def structs() -> dict[str, list[tuple[str, str, str]]]:
    """Name, type and text of every field, by struct."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    current: list[tuple[str, str, str]] = []
    for source in _SOURCES:
        text: list[str] = []
        for raw in (ROOT / source).read_text(encoding="utf-8").splitlines():
            line = raw.strip()
            if begin := re.match(r"(?:pub )?struct (\w+)", line):
                current = found.setdefault(begin[1], [])
                text = []
            elif comment := re.match(r"/// ?(.*)", line):
                text.append(comment[1])
            elif member := re.match(r"(?:pub )?(\w+): (.*),$", line):
                current.append((member[1], member[2], " ".join(text)))
                text = []
            elif not line.startswith("#["):
                text = []
    return {name: found[name] for name in _PLACES}


def _kind(rust: str) -> str:
    if optional := re.fullmatch(r"Option<(.*)>", rust):
        return f"{_kind(optional[1])}, or null"
    if several := re.fullmatch(r"Vec<(.*)>", rust):
        return f"list of {_kind(several[1])}"
    return _TYPES.get(rust, "object")


def page() -> str:
    """The page."""
    lines = [*_HEAD]
    for name, rows in structs().items():
        heading, place = _PLACES[name]
        lines += [f"## {heading}{f' (`{place}`)' if place else ''}", "", "| field | | |", "|---|---|---|"]
        lines += [f"| `{field}` | {_kind(kind)} | {text} |" for field, kind, text in rows if field != "result"]
        lines.append("")
    return "\n".join(lines)


def undocumented(run: Mapping[str, Any]) -> list[str]:
    """The fields of a run that the page does not have."""
    known = {name: {field for field, _, _ in rows} for name, rows in structs().items()}
    top = known["RunResult"] | known["Stamped"]
    return list(dict.fromkeys([*(name for name in run if name not in top), *_inside(run, known)]))


def _inside(run: Mapping[str, Any], known: Mapping[str, set[str]]) -> Iterator[str]:
    for struct, (_, place) in _PLACES.items():
        value: Any = run.get(place)
        for row in value if isinstance(value, list) else [value or {}]:
            # The counters of a relay have names of their own.
            yield from (f"{place}.{name}" for name in row if name not in known[struct] and struct != "RelayResult")


if __name__ == "__main__":
    print(page(), end="")
