"""Where something is switched on, and so who can: what pacing takes, with the senders and queues that there are."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from meshpace.advice.errors import AdviceError
from meshpace.engine import Job, schemes_in_use
from meshpace.study.model import scheme_name

BASELINE = "cubic-fq-codel"
"""What most meshes run today: Linux's CUBIC over OpenWrt's FQ-CoDel."""
GATEWAY, BOTH, CALM = "paced-gateway", "paced-gateway-hosts", "calm-at-gateway"
DEPLOYABLE = (GATEWAY, BOTH, CALM)
"""What meshpaced brings to a mesh whose senders and queues stay what they are."""
_GATEWAY, _HOSTS = "pacing+goodput-control", "wireless-khd"
_NAMES = {
    GATEWAY: "pacing at the gateway", BOTH: "pacing at gateway and mesh hosts",
    CALM: "pacing by delay at the gateway, acknowledgements thinned there",
}  # fmt: skip
TOOLS = {
    GATEWAY: "meshpaced gateway", BOTH: "meshpaced gateway, and meshpaced host on them",
    CALM: 'meshpaced gateway with flow_law = "delay-rate", dr_delta = 0.5, dr_gain = 0.05 and hook = "ack-filter"',
}  # fmt: skip
"""What does it."""
SHORT = {GATEWAY: "gateway", BOTH: "gateway, hosts", CALM: "gateway, by delay"}
"""For tables of pacing."""


class Where(StrEnum):
    """Whose machines it takes."""

    GATEWAY = "the gateway"
    ROUTERS = "mesh routers"
    HOSTS = "mesh hosts"
    SERVERS = "Internet servers"


def in_words(places: tuple[Where, ...]) -> str:
    """``the gateway and mesh hosts``."""
    *first, last = places
    return f"{', '.join(first)} and {last}" if first else str(last)


def shown(scheme: str) -> str:
    """A scheme as readers know it."""
    return _NAMES.get(scheme) or scheme_name(scheme)


def settings(baseline: str) -> tuple[str, ...]:
    """What makes the schemes of :data:`DEPLOYABLE` of a baseline."""
    return (
        f'scheme.{GATEWAY}={{base="{baseline}", gateway="{_GATEWAY}"}}',
        f'scheme.{BOTH}={{base="{baseline}", gateway="{_GATEWAY}", pacing="{_HOSTS}"}}',
        # As the composition calm-gateway (docs/law.md).
        f'scheme.{CALM}={{base="{baseline}", gateway="delay-rate", gap_queue="codel", gap_window="pipe", '
        'gap_hook="ack-filter", dr_delta=0.5, dr_gain=0.05}',
    )


def parts(job: Job, scheme: str) -> Mapping[str, Any]:
    """Of a scheme, with its parameters.

    Raises:
        ScenarioError: the scenario cannot be run with it.
    """
    return schemes_in_use(job._replace(scheme=scheme))[scheme]


def paceable(baseline: str, found: Mapping[str, Any]) -> None:
    """Raises AdviceError where a baseline has what pacing would bring."""
    if found["gateway"] != "none" or found["pacing"] != "none":
        raise AdviceError(
            f"--baseline: found {baseline}, which paces already; allowed: one that does not, or --scheme with what is "
            "to be compared"
        )


def places(found: Mapping[str, Any], baseline: Mapping[str, Any]) -> tuple[Where, ...]:
    """Where one would have to act to go from a baseline to a scheme.

    TCP-GAP's pace at senders acts on those in the mesh alone: it needs what the gateway writes into acknowledgements
    (schemes.md 3.2). Whatever else senders and receivers do, servers in the Internet would have to do, too.
    """

    def differs(*names: str) -> bool:
        return any(found.get(name) != baseline.get(name) for name in names)

    ends = differs("congestion", "tcp_profile", "ack_policy") or (differs("pacing") and found["pacing"] != _HOSTS)
    return tuple(
        where
        for where, there in (
            (Where.GATEWAY, differs("gateway")),
            (Where.ROUTERS, differs("relay")),
            (Where.HOSTS, ends or differs("pacing")),
            (Where.SERVERS, ends),
        )
        if there
    ) or (Where.HOSTS, Where.SERVERS)
