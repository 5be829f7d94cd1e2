"""Small pieces of Tcl."""

from __future__ import annotations

from meshpace.ns2.model import Ns2Scenario


def number(value: float) -> str:
    """``value`` as Tcl reads it without loss."""
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def comment(text: str) -> str:
    """``text`` fit for one comment line: no line break, no backslash that would continue it."""
    return " ".join(text.replace("\\", "/").split())


def node_index(scenario: Ns2Scenario, name: str) -> int:
    """The index of the mesh node ``name`` in ns-2, where nodes are numbered in order of creation."""
    return next(index for index, node in enumerate(scenario.nodes) if node.name == name)
