"""What the lateness of a run says of it, in words."""

from __future__ import annotations

from typing import Any


def in_words(result: dict[str, Any]) -> list[str]:
    """The verdict on an emulation's result, a sentence or more."""
    lateness, dilation = result["lateness"], result["dilation"]
    lines = []
    if lateness["valid"] is None:
        lines.append("lateness: nothing was delivered to a host, so nothing can be said of it")
    else:
        share = 1 - lateness["share_late"]
        verdict = "valid" if lateness["valid"] else "INVALID"
        lines.append(
            f"lateness: {verdict}: {share:.3%} of {lateness['deliveries']} packets within "
            f"{1e3 * lateness['bound_s']:g} ms of their simulated time; median {_ms(lateness['p50_s'])}, 99 % "
            f"{_ms(lateness['p99_s'])}, 99.9 % {_ms(lateness['p999_s'])}, worst {_ms(lateness['max_s'])}; "
            f"{_scheduling(result)}"
        )
    if lateness["valid"] is False:
        lines.append(
            "the machine did not keep up (99.9 % are asked for): fewer hosts, less beside it, or --dilate F, "
            "which makes each simulated second take F"
        )
        if result["stolen_s"]:
            lines.append(
                f"a hypervisor kept this machine's processors from running for {result['stolen_s']:.2f} s in all"
            )
    if dilation > 1:
        lines.append(
            f"dilated by {dilation:g}: a simulated second took {dilation:g}; rates and times here are simulated "
            f"ones, but the hosts' own timers (retransmission, delayed acknowledgements) ran by the clock"
        )
    return lines


def _scheduling(result: dict[str, Any]) -> str:
    rescues = result["rescues"]
    woken = "" if rescues is None else f", woken by another processor {rescues} times"
    return f"{result['scheduling']}{woken}"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3f} ms"
