"""Misses whose cause is known, by the row's key (``family: name: quantity``), with the cause in one sentence."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {
    "chain_wired: AODV, down, 3 hops: retransmissions": (
        "the reference's five seeds are a low draw (22.4, standard deviation 15): ns-2.35 itself gives 39.7 ± 8.7 with "
        "40 seeds where ours gives 45.9 ± 9.7 (meshpace crosscheck of this set-up with --seeds 40)."
    ),
}
