//! The TCP-GAP gateway: flow table, RTT split, pacing queues, goodput control.
