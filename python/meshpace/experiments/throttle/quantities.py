"""Load on the air and losses as quantities of a run (docs/experiments/ingress-throttling.md, section 1)."""

from __future__ import annotations

from meshpace.experiments.throttle.load import Counting, of_run
from meshpace.results import RunResult
from meshpace.study.quantities import Quantity, Take


def _lost(run: RunResult) -> float | None:
    """TCP packets given up by MACs or dropped by queues, for each data segment sent."""
    sent = sum(flow["segments_sent"] for flow in run["flows"])
    lost = sum(link["data_drops"] + link["ack_drops"] + link["queue_drops"] for link in run["links"])
    return lost / sent if sent else None


def _relayed(counting: Counting) -> Take:
    """Data transmissions of all nodes over those of the source, a hop of the way."""

    def take(run: RunResult) -> float | None:
        flow = run["flows"][0]
        key = "attempts" if counting == "attempts" else "packets"
        counts = {node["node"]: node["data"][key] for node in flow["load"]}  # type: ignore[literal-required]
        source = counts.get(flow["from"], 0)
        return sum(counts.values()) / (source * flow["hops"]) if source and flow["hops"] else None

    return take


def queued(flow: int) -> Quantity:
    """Data packets of one of the flows that wait at its source, mean over time."""

    def take(run: RunResult) -> float | None:
        if flow >= len(run["flows"]):
            return None
        source, name = run["flows"][flow]["from"], run["flows"][flow]["id"]
        rows = (row["flows"] for row in run.get("queues", []) if row["node"] == source)
        return next((of_flow["data_mean"] for row in rows for of_flow in row if of_flow["id"] == name), None)

    return Quantity(f"queued_{flow + 1}", f"packets of flow {flow + 1} in its source's queue", "", take, decimals=2)


def _ack_part(run: RunResult) -> float | None:
    load = of_run(run)
    return load.ack / load.data if load.data else None


NET_LOAD = Quantity("net_load", "load on the air", "kbit/s", lambda run: of_run(run).net, 1e-3, 0)
DATA_LOAD = Quantity("data_load", "load on the air, data", "kbit/s", lambda run: of_run(run).data, 1e-3, 0)
ACK_PART = Quantity("ack_part", "load of acknowledgements over that of data", "", _ack_part, decimals=3)
LOST = Quantity("lost", "TCP packets lost for each segment sent", "%", _lost, factor=100.0, decimals=2)
RELAYED = Quantity("relayed", "attempts of all nodes a hop, over the source's", "", _relayed("attempts"), decimals=3)
RELAYED_ONCE = Quantity(
    "relayed_once", "packets of all nodes a hop, over the source's", "", _relayed("once"), decimals=3
)
QUEUED = tuple(map(queued, range(3)))
"""Of the three flows of Tables 2 and 3."""
