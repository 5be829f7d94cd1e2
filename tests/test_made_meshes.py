"""The meshes that ship are what bench/made_meshes.py makes today, and what `meshpace import` makes of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MESHES = ("village", "quarter", "valley")


def test_the_meshes_are_made_as_they_ship(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "bench" / "made_meshes.py", tmp_path], check=True, capture_output=True)
    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    ships = [*(ROOT / "scenarios" / "meshes").iterdir(), *(ROOT / "scenarios" / f"mesh-{name}.toml" for name in MESHES)]
    assert made == {path.relative_to(ROOT / "scenarios"): path.read_text() for path in ships}
