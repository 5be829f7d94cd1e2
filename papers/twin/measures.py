"""What real hosts do in the runs of a twin: iperf3 over the chain, with this machine's kernel."""

from __future__ import annotations

from collections.abc import Mapping

from meshpace.study.model import Settings

_AFTER_S = 10
"""What iperf3 says at the end has to cross the mesh, too."""


def iperf3(scheme: str, settings: Mapping[str, str]) -> Settings | None:
    """Of a kernel's runs: iperf3 at the ends of the chain, over the same interval as the simulated flow is measured.

    ``kernel-CONTROL`` is what iperf3's rows call the kernel's sender with that congestion control.
    """
    if not scheme.startswith("kernel-"):
        return None
    there, control = f"n{settings['topology.hops']}", scheme.removeprefix("kernel-")
    end, warmup = (int(settings[f"measure.{key}"].removesuffix("s")) for key in ("duration", "warmup"))
    transfer = f"iperf3 -J -c {there} -C {control} -O {warmup} -t {end - warmup}"
    tables = (
        f'{{node="{there}",run="iperf3 -s -1"}}',
        f'{{node="n0",run="{transfer}",start="500ms",collect="iperf3"}}',
    )
    return (
        ("emulate.host", f"[{','.join(tables)}]"),
        ("flow", "[]"),
        ("measure.duration", f"{end + _AFTER_S}s"),
    )
