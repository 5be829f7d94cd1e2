"""The schemes of the thesis on WiFu's TCP: Tahoe, and what each puts beside it (docs/experiments/thesis.md, 1)."""

from __future__ import annotations

from meshpace.study.model import Settings

TAHOE, AP, FEW, FIXED, DA, AD = "tahoe", "tcp-ap", "few", "fixed-rate", "newreno-dynack", "dynack-ap"
"""The control; n-hop pacing; FeW; a fixed rate; dynamic delayed acknowledgements; pacing with these. The names are
those of the engine's compositions: what ``newreno-dynack`` has beside its acknowledgements is Tahoe here."""

_THRESHOLD = 65_535 / 1448
"""WiFu's slow-start threshold before the first loss, segments: its largest window (schemes.md 5). FeW has none."""

_COMMON: dict[str, Settings] = {
    TAHOE: (),
    AP: (("profile", "byu-literal"), ("ap_short_path", "n-hop"), ("congestion", "tahoe")),
    FEW: (("few_base", "tahoe"), ("initial_ssthresh", repr(_THRESHOLD))),
    FIXED: (("congestion", "tahoe"), ("ap_queue", "all")),
    DA: (("profile", "byu-literal"), ("congestion", "tahoe")),
    AD: (("profile", "byu-literal"), ("ap_short_path", "n-hop"), ("congestion", "tahoe")),
}
"""``byu-literal`` where a scheme has it: the limiter holds retransmissions, n has no limit by the path, 1, 3, 3, 4."""


def of_scheme(scheme: str, *values: tuple[str, str]) -> Settings:
    """Parameters of a scheme as settings."""
    return tuple((f"scheme.{scheme}.{key}", value) for key, value in values)


def wifu(*schemes: str) -> Settings:
    """WiFu's TCP and the thesis's literal parameters for these schemes."""
    return tuple(
        setting
        for scheme in schemes
        for setting in of_scheme(scheme, ("tcp_profile", "wifu"), *_COMMON.get(scheme, ()))
    )


def hops(*schemes: str, n: int) -> Settings:
    """N of the n-hop delay."""
    return tuple(setting for scheme in schemes for setting in of_scheme(scheme, ("n", str(n))))
