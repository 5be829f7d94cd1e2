"""What the tests of both judges of ``meshpace crosscheck`` take of the scenario file's schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from meshpace import engine

SCHEMA = json.loads(engine.schema())


def schema_keys(node: dict[str, Any] = SCHEMA, at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key of the scenario file as crosscheck's tables write it, with its schema."""
    for name, inner in node.get("properties", {}).items():
        yield from schema_keys(inner, f"{at}.{name}" if at else name)
    if isinstance(named := node.get("additionalProperties"), dict):
        yield from schema_keys(named, f"{at}.NAME")
    items = node.get("items", {})
    if "properties" in items:
        yield from schema_keys(items, f"{at}[]")
    elif "properties" not in node and not isinstance(node.get("additionalProperties"), dict):
        yield at, node


def toml(table: dict[str, Any]) -> str:
    """A table on one line."""

    def value(inner: Any) -> str:
        if isinstance(inner, dict):
            return "{" + ", ".join(f"{k} = {value(v)}" for k, v in inner.items()) + "}"
        return "[" + ", ".join(map(value, inner)) + "]" if isinstance(inner, list) else str(inner)

    return "\n".join(f"{k} = {value(v)}" for k, v in table.items())
