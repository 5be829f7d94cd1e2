"""How exact times have to be: on a busy machine a packet may be late, and that is nobody's fault but the machine's.

`make test` checks verdicts: whether a flow is paced at all, at the law's rate, split where the gateway stands.
`make soak` runs the same tests on a quiet machine with MESHPACE_EXACT_TIMES=1 and asks for milliseconds.
"""

from __future__ import annotations

import os

EXACT = os.environ.get("MESHPACE_EXACT_TIMES") == "1"
PATIENCE_S = 60.0
"""How long a busy machine may take for what a quiet one does at once."""


def bound(quiet: float, busy: float) -> float:
    """A tolerance for a quiet machine, or for any."""
    return quiet if EXACT else busy
