"""The command line, storing finished runs at once: `sweep_child.py sweep ...`."""

from __future__ import annotations

from meshpace.cli import main
from meshpace.study import runner

if __name__ == "__main__":
    runner.FLUSH_S = 0.02
    main()
