"""The JSON of ``meshpace run --json`` as types. Seconds, bit/s, bytes; what does not apply is None."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

_From = TypedDict("_From", {"from": str})


class LoadResult(TypedDict):
    """Packets of one kind that a node sent for a flow; ``bytes`` and ``packet_bytes`` with IP header."""

    attempts: int
    bytes: int
    packets: int
    packet_bytes: int


class NodeLoad(TypedDict):
    """What a mesh node put on the air for a flow."""

    node: str
    data: LoadResult
    ack: LoadResult


class FlowResult(_From):
    """One flow over the measured interval."""

    id: str
    to: str
    hops: int | None
    scheme: str
    app: str
    goodput_bps: float
    goodput_ci95_bps: float | None
    delivered_bytes: int
    segments_sent: int
    retransmits: int | None
    timeouts: int | None
    fast_retransmits: int | None
    acks_sent: int | None
    timer_acks: int | None
    loss_ratio: float | None
    delay_mean_s: float | None
    delay_std_s: float | None
    delay_p50_s: float | None
    delay_p95_s: float | None
    delay_p99_s: float | None
    packet_delay_p50_s: float | None
    packet_delay_p95_s: float | None
    srtt_s: float | None
    pacing_rate_bps: float | None
    pacing_interval_s: float | None
    pacing_interval_acks_s: float | None
    khd_acks_s: float | None
    cwnd_mean: float | None
    transfers: int | None
    completed_s: float | None
    load: list[NodeLoad]


class FlowLoss(_From):
    """Packets of a flow that went no further; ``cause`` is a word of :data:`meshpace.why.CAUSES`."""

    flow: str
    kind: str
    cause: str
    to: str | None
    packets: int


class LinkResult(_From):
    """One directed link over the measured interval."""

    to: str
    channel: NotRequired[int]
    """Absent where the mesh has one channel, and where no number has its centre."""
    frequency_hz: NotRequired[int]
    data_drops: int
    ack_drops: int
    retry_drops: int
    queue_drops: int
    arp_drops: int
    collisions: int
    collisions_rts: int
    collisions_cts: int
    collisions_data: int
    collisions_ack: int
    attempts: int | None
    airtime_s: float | None
    aggregates: NotRequired[AggregateResult]
    """Absent where frames carry one packet."""
    rates: NotRequired[list[RateResult]]
    """Absent where no mode is chosen."""


class RateResult(TypedDict):
    """Data frames of a link in a mode."""

    rate_bps: int
    mcs: int | None
    streams: int
    frames: int
    mpdus: int
    acknowledged: int


class AggregateResult(TypedDict):
    """Frames of a link under a standard that puts several packets into one."""

    frames: int
    mpdus: int
    retries: int
    requests: int
    block_acks: int
    categories: NotRequired[dict[str, AggregateResult]]
    """The same by category of access; absent where that is best effort alone."""


class GatewayResult(TypedDict):
    """One gateway of a scheme that acts there."""

    node: str
    buffer_drops: int
    local_retransmits: int
    options_written: int
    wait_p50_s: float | None
    wait_p95_s: float | None
    queue_max: int
    aqm_drops: int
    aqm_marks: int


class RoutingResult(TypedDict):
    """The routing protocol over the measured interval."""

    route_failures: int | None
    control_packets: int | None


class HopDelayResult(TypedDict):
    """How long packets of a node for an egress took over the next hops, and what the relay expected."""

    node: str
    egress: str
    hops: int
    packets: int
    actual_mean_s: float | None
    estimate_mean_s: float | None
    error_mean: float | None
    error_abs_mean: float | None
    node_mean_s: float | None
    mac_mean_s: float | None
    interval_mean_s: float | None
    interval_std_s: float | None
    within_share: float | None
    taken: list[int]
    estimate_s: list[float | None]
    actual_s: list[float | None]
    node_s: list[float | None]
    mac_s: list[float | None]


class LatenessResult(TypedDict):
    """How late packets reached real hosts; None where none did."""

    valid: bool | None
    bound_s: float
    deliveries: int
    share_late: float | None
    p50_s: float | None
    p99_s: float | None
    p999_s: float | None
    max_s: float | None


class QueuedFlow(TypedDict):
    """What waited of a flow in a node's queue."""

    id: str
    data_mean: float | None
    data_max: int
    ack_mean: float | None
    ack_max: int


class QueueResult(TypedDict):
    """What waited in a mesh node's queue."""

    node: str
    packets_mean: float | None
    packets_max: int
    flows: list[QueuedFlow]


class RunResult(TypedDict):
    """One run."""

    schema: int
    engine: str
    scenario: str
    scenario_sha256: str
    overrides: list[str]
    scheme: str
    seed: int
    simulated_s: float
    measured_s: float
    wall_s: float
    events: int
    frames: int
    aggregate_goodput_bps: float
    jain: float | None
    jain_windows: dict[str, float | None]
    jain_per_hop: float | None
    jain_times_hops: float | None
    log_utility: float
    flows: list[FlowResult]
    links: list[LinkResult]
    gateways: list[GatewayResult]
    routing: RoutingResult
    relays: NotRequired[list[dict[str, Any]]]
    """``node`` and the counters of its relay, if relays count anything."""
    hop_delays: NotRequired[list[HopDelayResult]]
    """If asked for."""
    lateness: NotRequired[LatenessResult]
    """If it was emulated."""
    queues: NotRequired[list[QueueResult]]
    """If asked for."""
    engine_fingerprint: str
    schemes: dict[str, dict[str, Any]]
    reconstructed: NotRequired[dict[str, list[str]]]
    """If a scheme's source does not print all of it."""
