"""Reference pages: the commands of their help, the scenario file of its schema, the schemes with their formulas."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from meshpace import engine
from meshpace.cli import COMMANDS
from meshpace.cli.declared import Group
from meshpace.cli.parsing import parser_of

_PLACES = {
    "congestion": "sender", "pacing": "its pacing", "ack_policy": "receiver", "relay": "relays", "gateway": "gateway",
}  # fmt: skip


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Name and Markdown of each."""
    yield "commands.md", commands()
    yield "scenario.md", scenario(json.loads(engine.schema()))
    yield "schemes.md", schemes((root / "docs" / "schemes.md").read_text(encoding="utf-8"))


def commands() -> str:
    """The help of every command."""
    os.environ["COLUMNS"] = "100"
    parts = [
        "# Commands and options", "Made of each command's `--help`. What they do: [the command line](../docs/cli.md).",
    ]  # fmt: skip
    parts += [f"## {prog}\n\n```text\n{text}```" for prog, text in _helps(COMMANDS, COMMANDS.name)]
    return "\n\n".join(parts) + "\n"


def _helps(group: Group, prog: str) -> Iterator[tuple[str, str]]:
    for name, entry in group.commands.items():
        if isinstance(entry, Group):
            yield from _helps(entry, f"{prog} {name}")
        else:
            yield f"{prog} {name}", parser_of(entry, f"{prog} {name}").format_help()


def scenario(schema: Mapping[str, Any]) -> str:
    """Every key with what it may be, its default and what it says."""
    parts = [
        "# The scenario file",
        "Made of `meshpace schema`, which is the same for programs. A key without a default may be left out or must be "
        "given, as its description says; `meshpace check FILE` tells everything that is wrong with a file.",
    ]
    for section, said in schema["properties"].items():
        listed = said.get("type") == "array"
        inner = said["items"] if listed else said
        by_name = not inner.get("properties") and isinstance(inner.get("additionalProperties"), dict)
        head = f"[[{section}]]" if listed else f"[{section}.NAME]" if by_name else f"[{section}]"
        keys = (inner["additionalProperties"] if by_name else inner).get("properties", {})
        required = set(inner.get("required", ()))
        rows = [
            f"| `{key}` | {_cell(_allowed(value))} | {_default(value, key in required)} | "
            f"{_cell(value.get('description', ''))} |"
            for key, value in keys.items()
        ]
        said_first = said.get("description") or inner.get("description", "")
        parts.append(
            f"## {head}\n\n{said_first}\n\n| key | what it may be | default | what it says |\n|---|---|---|---|"
        )
        parts[-1] += "\n" + "\n".join(rows)
    return "\n\n".join(parts) + "\n"


def _allowed(value: Mapping[str, Any]) -> str:
    if "enum" in value:
        return ", ".join(f"`{json.dumps(word)}`" for word in value["enum"])
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if alternatives := value.get("anyOf") or value.get("oneOf"):
        return " or ".join(dict.fromkeys(filter(None, map(_allowed, alternatives))))
    kind = str(value.get("type", ""))
    if kind == "array":
        return f"list of {_allowed(value.get('items', {}))}".strip()
    if unit := _with_unit(str(value.get("pattern", ""))):
        return unit
    low, high = value.get("minimum", value.get("exclusiveMinimum")), value.get("maximum")
    bounds = "" if low is None and high is None else f" {_edge(low, 'from')} {_edge(high, 'to')}".rstrip()
    measure = f" ({value['x-unit']})" if "x-unit" in value else ""
    return f"{kind}{bounds}{measure}"


def _with_unit(pattern: str) -> str:
    """A number with a unit, of the pattern of its text."""
    found = re.search(r"\(([A-Za-z/|%]+)\)", pattern)
    return f"text with {', '.join(found[1].split('|'))}" if found else ""


def _edge(value: float | None, word: str) -> str:
    return "" if value is None else f"{word} {value:,.10g}"


def _default(value: Mapping[str, Any], required: bool) -> str:
    if "default" in value:
        return f"`{json.dumps(value['default'])}`"
    return "must be given" if required else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def schemes(normative: str) -> str:
    """Every scheme with its parts, formulas and parameters."""
    parts = [
        "# Catalogue of schemes",
        "Made of `meshpace schemes --json` and of the formulas in [schemes.md](../docs/schemes.md), which defines "
        "them: symbols, constants, every decision where papers leave one open.",
        "| scheme | what it is | " + " | ".join(_PLACES.values()) + " |\n|---|---|" + "---|" * len(_PLACES),
    ]
    rows = engine.schemes()
    parts[-1] += "".join(
        f"\n| [{row['name']}](#{row['name']}) | {_cell(row['summary'])} | "
        + " | ".join(f"`{row['parameters'].get(key, '')}`" for key in _PLACES)
        + " |"
        for row in rows
    )
    for row in rows:
        parts += _scheme(row, normative)
    return "\n\n".join(parts) + "\n"


def _scheme(row: Mapping[str, Any], normative: str) -> Iterator[str]:
    yield f"## {row['name']}\n\n{row['summary']}."
    source = str(row["source"])
    number = re.match(r"schemes\.md (\d+(?:\.\d+)?)", source)
    heading, text = section(normative, number[1]) if number else ("", "")
    where = f"[{source}](../docs/schemes.md#{anchor(heading)})" if heading else source
    yield f"Source: {where}."
    if formulas := _formulas(text):
        yield formulas
    listed = "\n".join(f"| `{key}` | `{json.dumps(value)}` |" for key, value in sorted(row["parameters"].items()))
    yield f"| parameter | value |\n|---|---|\n{listed}"


def section(normative: str, number: str) -> tuple[str, str]:
    """The heading that starts with a number, and what stands below it up to the next of its kind.

    Raises:
        KeyError: there is none.
    """
    depth = 2 + number.count(".")
    heads = list(re.finditer(rf"^#{{2,{depth}}} (.*)$", normative, re.MULTILINE))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        if re.match(rf"{re.escape(number)}\.? ", head[1]):
            return head[1], normative[head.end() : after.start() if after else len(normative)]
    raise KeyError(f"schemes.md {number}")


def anchor(heading: str) -> str:
    """The heading's place in the page, as Python-Markdown's table of contents names it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def _formulas(text: str) -> str:
    """The indented blocks that number an equation."""
    blocks = re.findall(r"(?:^    .*\n?)+", text, re.MULTILINE)
    return "\n\n".join(
        block.rstrip("\n") for block in blocks if re.search(r"\(\d+\.\d+[a-z]?\)\s*$", block, re.MULTILINE)
    )
