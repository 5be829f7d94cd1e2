"""Claims of the WE TCP-AP paper about the mesh (docs/experiments/we-tcp-ap.md, Figs. 6 to 8 and 12 to 14)."""

from __future__ import annotations

from meshpace.experiments.we.asking import CLEARLY, Runs, beside, claim, fall_beside_the_tool, guard
from meshpace.experiments.we.chains import TCP_AP, WCP, WE, WINF, XCP_WINF
from meshpace.experiments.we.quantities import LOSS, PACKET_DELAY, RECEIVED, SENT, USE
from meshpace.study.claims import Ask
from meshpace.study.measures import Measure, gain, mean_along, over_axis
from meshpace.study.quantities import GOODPUT
from meshpace.study.rules import NO_GAIN, Rule, about, trend
from meshpace.study.words import difference as signed
from meshpace.study.words import percent

SWITCHES = "we-switches-mesh"
WITH_WINF, WITH_WE = Runs("we-mesh-winf"), Runs("we-mesh")


def _printed(ours: str, than: str, low: float, high: float, outer: tuple[float, float]) -> tuple[Ask, ...]:
    """A printed range of gains: in part by their mean; to hold, all points in the outer one and both ends near."""
    measure = gain(GOODPUT, ours, than)

    def end(pick: object) -> Measure:
        take = min if pick == "least" else max
        return over_axis(lambda _, curve: take(curve), measure)

    asks = WITH_WE.asks
    return (
        asks(mean_along(measure), about(low, high, 0.0, NO_GAIN), percent, "Mean gain over the points"),
        guard(asks(measure, about(*outer, 0.0, NO_GAIN), percent, "Gain")),
        guard(asks(end("least"), about(low - 0.05, low + 0.05), percent, "Least gain")),
        guard(asks(end("greatest"), about(high - 0.05, high + 0.05), percent, "Greatest gain")),
    )


CLAIMS = (
    claim(
        "F6.1",
        "TCP-AP with rt-Winf has clearly more throughput than TCP-AP.",
        "Fig. 6",
        "clearly",
        WITH_WINF.more(GOODPUT, WINF, TCP_AP, rule=CLEARLY),
        switches=SWITCHES,
    ),
    claim(
        "F6.2",
        "Its throughput is below XCP-Winf's.",
        "Fig. 6",
        "below",
        WITH_WINF.less(GOODPUT, WINF, XCP_WINF),
    ),
    claim("F6.3", "WCP's throughput is above it.", "Fig. 6", "above", WITH_WINF.more(GOODPUT, WCP, WINF)),
    claim(
        "F6.4",
        "With more nodes and flows it turns conservative against XCP-Winf.",
        "Fig. 6",
        "conservative",
        WITH_WINF.ratio_falls(GOODPUT, WINF, XCP_WINF),
    ),
    claim(
        "F6.5",
        "Without a fairness module it shares less fairly than XCP-Winf and WCP.",
        "Fig. 6",
        "less fair",
        *(WITH_WINF.less_fair(WINF, than) for than in (XCP_WINF, WCP)),
    ),
    claim(
        "F6.6",
        "XCP-Winf loses less.",
        "Fig. 6",
        "loses less",
        WITH_WINF.part_less(LOSS, XCP_WINF, WINF),
        beside(WITH_WINF.part_less(LOSS, XCP_WINF, WCP)),
    ),
    claim(
        "F7.1",
        "Its delay is below TCP-AP's.",
        "Fig. 7",
        "below",
        WITH_WINF.less(PACKET_DELAY, WINF, TCP_AP),
        switches=SWITCHES,
    ),
    claim("F7.2", "Its delay is above XCP-Winf's.", "Fig. 7", "above", WITH_WINF.more(PACKET_DELAY, WINF, XCP_WINF)),
    claim("F7.3", "Its delay is above WCP's.", "Fig. 7", "above", WITH_WINF.more(PACKET_DELAY, WINF, WCP)),
    claim(
        "F8.1",
        "It receives more packets than TCP-AP.",
        "Fig. 8",
        "more",
        WITH_WINF.more(RECEIVED, WINF, TCP_AP),
        switches=SWITCHES,
    ),
    claim("F8.2", "Fewer than XCP-Winf.", "Fig. 8", "fewer", WITH_WINF.less(RECEIVED, WINF, XCP_WINF)),
    claim("F8.3", "Fewer than WCP.", "Fig. 8", "fewer", WITH_WINF.less(RECEIVED, WINF, WCP)),
    claim(
        "F8.4",
        "The decline against XCP-Winf shows most in packets received.",
        "Fig. 8",
        "most",
        WITH_WINF.ratio_falls(RECEIVED, WINF, XCP_WINF),
        WITH_WINF.asks(
            fall_beside_the_tool(WINF, XCP_WINF),
            trend(NO_GAIN, rises=False),
            signed,
            "Its fall less that of the throughput as the tool has it",
        ),
    ),
    claim(
        "F12.1",
        "WE TCP-AP has 20 to 40 % more throughput than TCP-AP.",
        "Fig. 12",
        "20 to 40 %",
        *_printed(WE, TCP_AP, 0.20, 0.40, (0.15, 0.45)),
    ),
    claim(
        "F12.2",
        "WE TCP-AP has 14 to 25 % more throughput than TCP-AP with rt-Winf.",
        "Fig. 12",
        "14 to 25 %",
        *_printed(WE, WINF, 0.14, 0.25, (0.09, 0.30)),
    ),
    claim(
        "F12.3",
        "So TCP-AP with rt-Winf lies between 0.96 and 1.23 of TCP-AP (by arithmetic).",
        "Fig. 12",
        "0.96 to 1.23",
        WITH_WE.asks(gain(GOODPUT, WINF, TCP_AP), about(-0.04, 0.23), percent, "Throughput of TCP-AP with rt-Winf"),
        switches=SWITCHES,
    ),
    claim(
        "F12.4",
        "XCP-Winf has the highest throughput of all.",
        "Fig. 12",
        "highest",
        *WITH_WE.most(GOODPUT, XCP_WINF, (TCP_AP, WINF, WE, WCP)),
    ),
    claim(
        "F12.5",
        "WE TCP-AP follows XCP-Winf closely.",
        "Fig. 12",
        "closely",
        WITH_WE.close(GOODPUT, WE, XCP_WINF),
    ),
    claim(
        "F12.6",
        "WE TCP-AP is more stable and fairer than TCP-AP.",
        "Fig. 12",
        "more stable",
        WITH_WE.unsteadier(WE, TCP_AP, rises=False),
        WITH_WE.scattered(WE, TCP_AP, rises=False),
        WITH_WE.fairer(WE, TCP_AP),
    ),
    claim(
        "F13.1",
        "WE TCP-AP's delay is below TCP-AP's.",
        "Fig. 13",
        "below",
        WITH_WE.less(PACKET_DELAY, WE, TCP_AP),
        switches=SWITCHES,
    ),
    claim(
        "F13.2",
        "XCP-Winf's delay is the lowest, WE TCP-AP's close to it.",
        "Fig. 13",
        "lowest",
        *WITH_WE.least(PACKET_DELAY, XCP_WINF, (TCP_AP, WINF, WE, WCP)),
        WITH_WE.asks(
            gain(PACKET_DELAY, WE, XCP_WINF),
            Rule("EQUALITY", high=0.1),
            percent,
            "Delay, WE TCP-AP against XCP-Winf",
        ),
    ),
    claim(
        "F14.1",
        "WE TCP-AP receives more packets than TCP-AP.",
        "Fig. 14",
        "more",
        WITH_WE.more(RECEIVED, WE, TCP_AP),
        switches=SWITCHES,
    ),
    claim(
        "F14.2",
        "It receives fewer packets than XCP-Winf, but not many fewer.",
        "Fig. 14",
        "close below",
        WITH_WE.less(RECEIVED, WE, XCP_WINF),
        WITH_WE.close(RECEIVED, WE, XCP_WINF),
    ),
    claim(
        "F14.3",
        "Its rate is higher and its losses fewer than TCP-AP's.",
        "Fig. 14",
        "higher, fewer",
        WITH_WE.more(SENT, WE, TCP_AP),
        WITH_WE.part_less(LOSS, WE, TCP_AP),
        switches=SWITCHES,
    ),
    claim("F14.4", "It uses the medium better than TCP-AP.", "Fig. 14", "better", WITH_WE.more(USE, WE, TCP_AP)),
    claim(
        "F14.5",
        "TCP-AP has good throughput with few packets; WE TCP-AP mends that.",
        "Fig. 14",
        "mends",
        WITH_WE.kept_by_the_tool(TCP_AP, WE),
    ),
)
