"""Flows that a scheme does nothing for, since it paces only what crosses a gateway and they do not."""

from __future__ import annotations

from meshpace.engine import ScenarioError, any_gateway, resolve, schemes_in_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from meshpace.engine import Job

_BY_GATEWAYS = ("none", "wireless-khd")
"""Paces of senders that are none without a gateway: wireless-khd needs what the gateway tells (schemes.md 3.2)."""
_NO_TCP = ("cbr", "echo", "self-similar")


def unpaced(job: Job) -> dict[str, list[str]]:
    """Ids of TCP flows with both ends in the mesh, by their scheme, where all that it paces crosses a gateway.

    Raises:
        ScenarioError: the scenario cannot be run.
    """
    if not any_gateway(job):
        return {}
    # Senders of a formula have its pace.
    own = {formula.scheme_name() for formula in job.formulas if formula.decides()[0]}
    schemes = {
        name
        for name, parts in schemes_in_use(job).items()
        if parts["gateway"] != "none" and parts["pacing"] in _BY_GATEWAYS and name not in own
    }
    if not schemes:
        return {}
    resolved = resolve(job)
    mesh = {node["id"] for node in resolved["mesh"]}
    found: dict[str, list[str]] = {}
    for flow in resolved["flows"]:
        if flow["scheme"] in schemes and {flow["from"], flow["to"]} <= mesh and flow["app"] not in _NO_TCP:
            found.setdefault(flow["scheme"], []).append(flow["id"])
    return found


def note(job: Job) -> str | None:
    """The same in a line; None where there is no such flow, or the scenario cannot be run."""
    try:
        found = unpaced(job)
    except ScenarioError:
        return None
    if not found:
        return None
    told = (f"{scheme} paces only what crosses a gateway; {_unpaced(ids)}" for scheme, ids in found.items())
    return f"{job.name}: {'; '.join(told)}"


def _unpaced(ids: list[str]) -> str:
    shown = ", ".join(ids[:_SHOWN])
    if len(ids) == 1:
        return f"flow {shown} crosses none and is not paced"
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return f"flows {shown}{more} cross none and are not paced"


_SHOWN = 8
