"""Claims of the WE TCP-AP paper about the ad hoc network (docs/experiments/we-tcp-ap.md, T1)."""

from __future__ import annotations

from meshpace.experiments.we.adhoc import STILL
from meshpace.experiments.we.asking import CLEARLY, SIGNIFICANT, Runs, beside, claim, ratio
from meshpace.experiments.we.chains import TCP_AP, WCP, WE, WINF, XCP_B, XCP_WINF
from meshpace.experiments.we.quantities import LOSS, PACE, PACKET_DELAY, QUEUES, RECEIVED, USE, WE_DROPS
from meshpace.study.claims import Against, Ask
from meshpace.study.measures import change_along, gain, mean_along
from meshpace.study.quantities import GOODPUT, JAIN, JAIN_10S, Quantity
from meshpace.study.rules import NO_GAIN, Rule, order
from meshpace.study.words import difference as signed
from meshpace.study.words import percent

BASE, WITH_WINF, WITH_WE, TWIN = map(Runs, ("we-adhoc-base", "we-adhoc-winf", "we-adhoc", "we-adhoc-static"))
MESH = "we-mesh"
SWITCHES = "we-switches-adhoc"
LIGHT, HEAVY = ("4", "8", "16"), ("32", "64", "128")
FEW, MANY = ("4", "8"), ("64", "128")
_RIVALS = (XCP_B, XCP_WINF, WCP)
_LOW = Rule("ORDER", high=0.9)
"""A ratio that has dropped "significantly"."""


def _slower_than_still(measure_of: str) -> Ask:
    """TCP-AP's ratio to XCP-Winf with moving nodes less that with static ones, 64 of them."""
    quantity = GOODPUT if measure_of == "throughput" else JAIN
    moved = change_along(ratio(quantity, TCP_AP, XCP_WINF), (f"32, {STILL}", "32"))
    what = f"{quantity.title} of TCP-AP by XCP-Winf, 64 nodes moving less static"
    return TWIN.asks(moved, order(NO_GAIN, rises=False), signed, what)


def _low(quantity: Quantity, named: str) -> tuple[Ask, ...]:
    """With many flows TCP-AP with rt-Winf has nine tenths of XCP-Winf's and WCP's at the most."""
    asks, what = WITH_WINF.at(MANY).asks, f"{named} as a part of the other's, many flows"
    return tuple(asks(ratio(quantity, WINF, other), _LOW, signed, what) for other in (XCP_WINF, WCP))


CLAIMS = (
    claim(
        "F3.1",
        "TCP-AP has the lowest throughput of four schemes.",
        "Fig. 3",
        "lowest",
        *BASE.least(GOODPUT, TCP_AP, _RIVALS),
    ),
    claim(
        "F3.2",
        "XCP-Winf improves throughput significantly over TCP-AP.",
        "Fig. 3",
        "significantly",
        BASE.more(GOODPUT, XCP_WINF, TCP_AP, rule=SIGNIFICANT),
    ),
    claim("F3.3", "WCP's throughput is above TCP-AP's.", "Fig. 3", "above", BASE.more(GOODPUT, WCP, TCP_AP)),
    claim(
        "F3.4",
        "XCP-b's throughput is above TCP-AP's and below XCP-Winf's and WCP's.",
        "Fig. 3",
        "between",
        BASE.more(GOODPUT, XCP_B, TCP_AP),
        BASE.less(GOODPUT, XCP_B, XCP_WINF),
        BASE.less(GOODPUT, XCP_B, WCP),
    ),
    claim(
        "F3.5",
        "XCP-b is good with few flows and falls back under load.",
        "Fig. 3",
        "falls back",
        BASE.ratio_falls(GOODPUT, XCP_B, XCP_WINF),
        BASE.at(FEW).close(GOODPUT, XCP_B, XCP_WINF),
    ),
    claim(
        "F3.6",
        "Under heavy load XCP-b over-estimates the capacity and is unstable: it loses more and varies more.",
        "Fig. 3",
        "unstable",
        BASE.at(HEAVY).part_more(LOSS, XCP_B, XCP_WINF),
        BASE.at(HEAVY).part_more(LOSS, XCP_B, WCP),
        BASE.at(HEAVY).unsteadier(XCP_B, XCP_WINF),
        BASE.at(HEAVY).unsteadier(XCP_B, WCP),
        BASE.at(HEAVY).scattered(XCP_B, XCP_WINF),
        BASE.at(HEAVY).scattered(XCP_B, WCP),
    ),
    claim(
        "F3.7",
        "TCP-AP's throughput is good for the packets that it delivers.",
        "Fig. 3",
        "good",
        BASE.kept_by_the_tool(TCP_AP, XCP_WINF),
    ),
    claim(
        "F3.8",
        "TCP-AP sends more than the medium carries: it loses, drops and queues more than XCP-Winf and WCP.",
        "Fig. 3",
        "over-estimates",
        *(BASE.part_more(quantity, TCP_AP, than) for quantity in (LOSS, WE_DROPS) for than in (XCP_WINF, WCP)),
        *BASE.most(QUEUES, TCP_AP, (XCP_WINF, WCP)),
    ),
    claim(
        "F3.9",
        "TCP-AP is conservative and under-uses the medium.",
        "Fig. 3",
        "conservative",
        *BASE.least(USE, TCP_AP, (WCP, XCP_WINF)),
    ),
    claim(
        "F3.10",
        "TCP-AP shares less fairly than XCP-Winf.",
        "Fig. 3",
        "less fair",
        BASE.less_fair(TCP_AP, XCP_WINF),
        BASE.less_fair(TCP_AP, XCP_WINF, quantity=JAIN_10S),
    ),
    claim(
        "F3.11",
        "TCP-AP's deficit grows with density and with movement, and so does its unfairness.",
        "Fig. 3",
        "grows",
        BASE.ratio_falls(GOODPUT, TCP_AP, XCP_WINF),
        BASE.ratio_falls(JAIN, TCP_AP, XCP_WINF),
        _slower_than_still("throughput"),
        _slower_than_still("Jain's index"),
    ),
    claim(
        "F4.1",
        "TCP-AP has the highest delay of four schemes.",
        "Fig. 4",
        "highest",
        *BASE.most(PACKET_DELAY, TCP_AP, _RIVALS),
    ),
    claim(
        "F4.2",
        "XCP-Winf's delay is below TCP-AP's and XCP-b's.",
        "Fig. 4",
        "below",
        *BASE.least(PACKET_DELAY, XCP_WINF, (TCP_AP, XCP_B)),
    ),
    claim(
        "F4.3",
        "WCP's delay is below TCP-AP's, as is XCP-b's, which is above XCP-Winf's and WCP's.",
        "Fig. 4",
        "between",
        BASE.less(PACKET_DELAY, WCP, TCP_AP),
        BASE.less(PACKET_DELAY, XCP_B, TCP_AP),
        BASE.more(PACKET_DELAY, XCP_B, XCP_WINF),
        BASE.more(PACKET_DELAY, XCP_B, WCP),
    ),
    claim(
        "F5.1",
        "TCP-AP receives the fewest packets of four schemes.",
        "Fig. 5",
        "fewest",
        *BASE.least(RECEIVED, TCP_AP, _RIVALS),
    ),
    claim(
        "F5.2",
        "WCP receives more packets than TCP-AP, and so does XCP-b, which receives fewer than XCP-Winf and WCP.",
        "Fig. 5",
        "between",
        BASE.more(RECEIVED, WCP, TCP_AP),
        BASE.more(RECEIVED, XCP_B, TCP_AP),
        BASE.less(RECEIVED, XCP_B, XCP_WINF),
        BASE.less(RECEIVED, XCP_B, WCP),
    ),
    claim(
        "F9.1",
        "TCP-AP with rt-Winf has clearly more throughput than TCP-AP.",
        "Fig. 9",
        "clearly",
        WITH_WINF.more(GOODPUT, WINF, TCP_AP, rule=CLEARLY),
        switches=SWITCHES,
    ),
    claim(
        "F9.2",
        "It beats WCP too (the reading by grammar).",
        "Fig. 9",
        "above",
        WITH_WINF.more(GOODPUT, WINF, WCP),
        WITH_WINF.less(PACKET_DELAY, WINF, WCP),
        WITH_WINF.more(RECEIVED, WINF, WCP),
    ),
    claim(
        "F9.3",
        "With light load its throughput is good against XCP-Winf's.",
        "Fig. 9",
        "good",
        WITH_WINF.at(LIGHT).close(GOODPUT, WINF, XCP_WINF),
    ),
    claim(
        "F9.4",
        "With more nodes, flows and movement its throughput drops significantly against the others.",
        "Fig. 9",
        "drops",
        WITH_WINF.ratio_falls(GOODPUT, WINF, XCP_WINF),
        WITH_WINF.ratio_falls(GOODPUT, WINF, WCP),
        *_low(GOODPUT, "Throughput"),
    ),
    claim(
        "F9.5",
        "WCP is good: more throughput and packets than TCP-AP, less delay.",
        "Fig. 9",
        "good",
        WITH_WINF.more(GOODPUT, WCP, TCP_AP),
        WITH_WINF.more(RECEIVED, WCP, TCP_AP),
        WITH_WINF.less(PACKET_DELAY, WCP, TCP_AP),
    ),
    claim(
        "F9.6",
        "It is fairer under movement than TCP-AP.",
        "Fig. 9",
        "fairer",
        WITH_WINF.fairer(WINF, TCP_AP),
    ),
    claim(
        "F9.7",
        "It is still unstable: it varies more than XCP-Winf.",
        "Fig. 9",
        "unstable",
        WITH_WINF.unsteadier(WINF, XCP_WINF),
    ),
    claim(
        "F10.1",
        "The delay of TCP-AP with rt-Winf is below TCP-AP's.",
        "Fig. 10",
        "below",
        WITH_WINF.less(PACKET_DELAY, WINF, TCP_AP),
        switches=SWITCHES,
    ),
    claim(
        "F11.1",
        "TCP-AP with rt-Winf receives more packets than TCP-AP.",
        "Fig. 11",
        "more",
        WITH_WINF.more(RECEIVED, WINF, TCP_AP),
        switches=SWITCHES,
    ),
    claim(
        "F11.2",
        "In packets, too, it falls significantly behind XCP-Winf and WCP.",
        "Fig. 11",
        "falls",
        WITH_WINF.ratio_falls(RECEIVED, WINF, XCP_WINF),
        WITH_WINF.ratio_falls(RECEIVED, WINF, WCP),
        *_low(RECEIVED, "Packets received"),
    ),
    claim(
        "F15.1",
        "WE TCP-AP has clearly more throughput than TCP-AP.",
        "Fig. 15",
        "clearly",
        WITH_WE.more(GOODPUT, WE, TCP_AP, rule=CLEARLY),
        switches=SWITCHES,
    ),
    claim(
        "F15.2",
        "With more nodes and flows it is more efficient than TCP-AP.",
        "Fig. 15",
        "more efficient",
        WITH_WE.at(HEAVY).more(GOODPUT, WE, TCP_AP),
        WITH_WE.asks(
            change_along(gain(GOODPUT, WE, TCP_AP)),
            Rule("TREND", low=-NO_GAIN),
            percent,
            "Gain at the end of the axis less at its beginning",
        ),
    ),
    claim(
        "F15.3", "XCP-Winf's throughput is above WE TCP-AP's.", "Fig. 15", "above", WITH_WE.more(GOODPUT, XCP_WINF, WE)
    ),
    claim(
        "F15.4",
        "WE TCP-AP does not react quickly and stays unstable: it varies more than XCP-Winf.",
        "Fig. 15",
        "unstable",
        WITH_WE.unsteadier(WE, XCP_WINF),
    ),
    claim(
        "F15.5",
        "WE TCP-AP loses less, uses the channel better and shares more fairly than TCP-AP.",
        "Fig. 15",
        "better",
        WITH_WE.part_less(LOSS, WE, TCP_AP),
        WITH_WE.part_less(WE_DROPS, WE, TCP_AP),
        WITH_WE.more(USE, WE, TCP_AP),
        WITH_WE.fairer(WE, TCP_AP),
    ),
    claim(
        "F15.6",
        "WE TCP-AP raises the flows' rate.",
        "Fig. 15",
        "raises",
        WITH_WE.more(PACE, WE, TCP_AP),
        switches=SWITCHES,
    ),
    claim(
        "F15.7",
        "WE TCP-AP does better in ad hoc networks than in the mesh.",
        "Fig. 15",
        "better",
        Ask(
            mean_along(gain(GOODPUT, WE, TCP_AP)),
            order(NO_GAIN),
            percent,
            "Mean gain over TCP-AP in the ad hoc network, less that in the mesh",
            (WITH_WE.study,),
            against=Against(MESH, "5", mean_along(gain(GOODPUT, WE, TCP_AP)), lambda a, b: a - b),
        ),
        beside(WITH_WE.close(GOODPUT, WE, XCP_WINF)),
    ),
    claim(
        "F16.1",
        "WE TCP-AP's delay is below TCP-AP's.",
        "Fig. 16",
        "below",
        WITH_WE.less(PACKET_DELAY, WE, TCP_AP),
        switches=SWITCHES,
    ),
    claim(
        "F16.2", "WE TCP-AP's delay is above XCP-Winf's.", "Fig. 16", "above", WITH_WE.more(PACKET_DELAY, WE, XCP_WINF)
    ),
    claim(
        "F17.1",
        "WE TCP-AP receives more packets than TCP-AP.",
        "Fig. 17",
        "more",
        WITH_WE.more(RECEIVED, WE, TCP_AP),
        switches=SWITCHES,
    ),
    claim(
        "F17.2",
        "It receives fewer packets than XCP-Winf, by more than in throughput.",
        "Fig. 17",
        "fewer",
        WITH_WE.less(RECEIVED, WE, XCP_WINF),
        WITH_WE.kept_by_the_tool(WE, XCP_WINF),
    ),
)
