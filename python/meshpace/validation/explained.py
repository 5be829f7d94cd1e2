"""Misses whose cause is known, by the row's key (``family: name: quantity``), with the cause in one sentence."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {
    "chain_wired: AODV, down, 3 hops: retransmissions": (
        "the reference's five seeds are a low draw (22.4, standard deviation 15): ns-2.35 itself gives 39.7 ± 8.7 with "
        "40 seeds where ours gives 45.9 ± 9.7 (meshpace crosscheck of this set-up with --seeds 40)."
    ),
    "tcp_ap_llap_table1: tcp-ap-ns2-2005, RTS on: interval": (
        "one run of our ten stays in a loop of the agent's own making: its RTO is not backed off, so at 0.2 s it is "
        "shorter than the round trip for good, every segment is sent again, and no sample renews the estimate. With 30 "
        "seeds one run is in it, with cold address tables as without; the other nine have 57 to 63 ms. Means of what "
        "is heavy-tailed say little (validation/reference/README.md)."
    ),
}
