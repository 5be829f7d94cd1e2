"""ARCHITECTURE.md draws the crates as they are."""

from __future__ import annotations

import re
import tomllib

from documents import ROOT


def drawn() -> list[str]:
    """The crates of the drawing, from above to below."""
    rooms = (ROOT / "ARCHITECTURE.md").read_text().partition("\n## The rooms\n")[2].split("```")[1]
    found = []
    for line in rooms.splitlines():
        if room := re.match(r"[\s│├└─┤]*([a-z, ]+?)(?: \(|  |$)", line):
            found += [name for name in room[1].split(", ") if (ROOT / "crates" / name).is_dir()]
    return found


def used(crate: str) -> set[str]:
    """The crates that one is built from, tests aside."""
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    tables = [manifest, *manifest.get("target", {}).values()]
    names = {name for table in tables for name in table.get("dependencies", {})}
    return {name.removeprefix("meshpace-") for name in names if name.startswith("meshpace-")}


def test_every_crate_is_drawn_once() -> None:
    # It reads the sources of all others, and is linked into none (the text below the drawing).
    aside = {"fingerprint"}
    assert sorted(drawn()) == sorted({crate.parent.name for crate in ROOT.glob("crates/*/Cargo.toml")} - aside)


def test_a_crate_uses_only_crates_below_it() -> None:
    order = drawn()
    upwards = [(crate, other) for at, crate in enumerate(order) for other in used(crate) - set(order[at + 1 :])]
    assert upwards == []
