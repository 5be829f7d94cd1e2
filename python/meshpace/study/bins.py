"""Time series of a run as they are stored: of every flow the goodput in bins of a second, and the window.

This is Python that a stored result depends on, so what stands here is part of the key of every run with a series.
"""

from __future__ import annotations

import json

import numpy as np

from meshpace.engine import Columns

BIN_S = 1.0
"""Width of a bin."""


def binned(columns: Columns) -> str:
    """Goodput in bins of a second, and windows in segments as they are sampled, every 0.25 s, as JSON.

    ``{"bin_s": 1.0, "goodput_bps": {"1": [...]}, "cwnd": {"1": [...]}}``; a flow without a window has none.
    """
    kinds, names = np.array(columns["kind"]), np.array(columns["name"])
    times = np.frombuffer(columns["t_s"], dtype="<f8")  # type: ignore[arg-type]
    goodput, windows = (np.frombuffer(columns[name], dtype="<f8") for name in ("goodput_bps", "cwnd"))  # type: ignore[arg-type]
    bins, cwnd = {}, {}
    for name in dict.fromkeys(names[kinds == "flow"].tolist()):
        mine = (kinds == "flow") & (names == name)
        # A sample at t covers the quarter of a second that ends there.
        index = np.ceil(times[mine] / BIN_S - 1e-9).astype(int) - 1
        sums, counts = np.bincount(index, weights=goodput[mine]), np.bincount(index)
        bins[name] = (sums / np.maximum(counts, 1)).tolist()
        known = windows[mine]
        cwnd[name] = np.round(known[~np.isnan(known)], 3).tolist()
    return json.dumps({"bin_s": BIN_S, "goodput_bps": bins, "cwnd": cwnd}, separators=(",", ":"))
