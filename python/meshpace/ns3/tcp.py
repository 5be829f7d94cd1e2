"""Which of our TCP schemes ns-3.37 has, with which of its types and attributes."""

from __future__ import annotations

from meshpace.judges.refusals import Refusal
from meshpace.judges.schemes import Parameters, check_scheme, parameters_of
from meshpace.ns3.model import Tcp

_SCHEMES = '"sack-rfc", "newreno-rfc", "cubic"'
"""Schemes of the table that can be expressed."""
_CONTROLS = {
    "sack": ("sack-rfc", "TcpNewReno"),
    "newreno": ("newreno-rfc", "TcpNewReno"),
    "cubic": ("cubic", "TcpCubic"),
}
"""By congestion control: the scheme whose parameters it must have, but for the free ones, and ns-3's type."""
_FREE = ("ack_delay", "ack_segments", "rto_min", "rto_initial")
_RECOVERIES = {"newreno": ("TcpClassicRecovery", False), "sack": ("TcpPrrRecovery", True)}
"""Its type, and the attribute Sack."""
_NO_DELAY_S = 0.1
"""DelAckTimeout where every segment is acknowledged: it does not act."""


def tcp_of(key: str, name: str, parameters: Parameters, segment: int, window: int) -> Tcp:
    """Sender and receiver of a scheme with these parameters.

    Raises:
        Refusal: of the parameter that ns-3 does not have, or of the whole scheme; ``key`` names it in the file.
    """
    if parameters["congestion"] == "bbr":
        # chain.cc of bench/ns3 with --cc=bbr: 0.06 to 0.2 Mbit/s over 1 to 8 hops; later releases changed it.
        raise Refusal(key, name, _SCHEMES, "its TcpBbr stalls in this release")
    congestion = parameters["congestion"] if parameters["congestion"] in _CONTROLS else "sack"
    alike, control = _CONTROLS[congestion]
    choices = {"ack_policy": ("every", "delayed")}
    if congestion == "cubic":
        choices |= {"recovery": ("newreno", "sack"), "slow_start": ("standard", "hystart")}
    check_scheme(key, name, parameters, parameters_of(alike), _SCHEMES, _FREE, choices)
    delayed = parameters["ack_policy"] == "delayed"
    recovery, sack = _RECOVERIES[parameters["recovery"]]
    return Tcp(
        window=window,
        congestion=control,
        recovery=recovery,
        sack=sack,
        hystart=parameters.get("slow_start") == "hystart",
        initial_window=_rfc3390(segment),
        ack_segments=parameters["ack_segments"] if delayed else 1,
        ack_delay_s=parameters["ack_delay"] if delayed else _NO_DELAY_S,
        rto_min_s=parameters["rto_min"],
        rto_initial_s=parameters["rto_initial"],
    )


def _rfc3390(segment: int) -> int:
    """Segments of the first window (RFC 3390, equation 1), as the profile ``rfc`` has them."""
    return min(4 * segment, max(2 * segment, 4380)) // segment
