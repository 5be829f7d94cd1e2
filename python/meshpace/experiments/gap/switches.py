"""Which ingredient makes a result: what the TCP-GAP paper leaves open, changed one at a time and several at once.

A switch changes ingredients of a scenario and leaves the rest as it is (docs/experiments/gap.md, section 5; the numbers
O1 to O25 are its). Where a claim does not hold, the switch that moves its number most towards the paper's is the
ingredient to blame; if none does, that is said.
"""

from __future__ import annotations

from dataclasses import replace

from meshpace.experiments.gap.figures import CASES, CHAINS, CROSS, FAST, PARALLEL, WITH_NOGC
from meshpace.experiments.gap.web import CONNECTIONS
from meshpace.study.model import AODV, AS_IS, STATIC, Axis, Plan, Point, Settings, Study, timed
from meshpace.study.quantities import DELAY, DROPS, GOODPUT, JAIN, JAIN_10S, RESENT, ROUTE_FAILURES, SHARE, TIMEOUTS

_OWN = "not in the papers"
_GAP = ("tcp-gap", "tcp-gap-nogc")


def _of(schemes: tuple[str, ...], *pairs: tuple[str, str]) -> Settings:
    """Parameters of several schemes."""
    return tuple((f"scheme.{scheme}.{parameter}", value) for parameter, value in pairs for scheme in schemes)


def _all(*pairs: tuple[str, str]) -> Settings:
    return _of(WITH_NOGC, *pairs)


def _law(*pairs: tuple[str, str]) -> Settings:
    return _of(_GAP, *pairs)


def _control(*pairs: tuple[str, str]) -> Settings:
    return _of(("tcp-gap",), *pairs)


def _of_flows(flows: int, key: str, value: str) -> Settings:
    return tuple((f"flow.{flow}.{key}", value) for flow in range(flows))


_WINDOW_20: Settings = (("defaults.window", "20"),)
_NEAR: Settings = (("topology.wired_delay", "5ms"),)
_NO_RTS: Settings = (("radio.rts", "never"),)
_NO_CAPTURE: Settings = (("radio.capture_threshold_db", "100"),)
"""Interference at 550 m in the paper's words (O24): frames from 1 m and from 550 m differ by 71 dB (two-ray ground)."""
_OLD_RTO = _all(("rto_initial", "6s"), ("rto_max", "100000s"), ("rto_backoff_max", "64"))
"""Of ns-2 before 2006 and before 28 March 2007: factor at most 64 of 6 s, 384 s without a round trip's sample (O4)."""
_OLD_CUT = _all(("window_cut", "integer"))
"""Of ns-2 before 24 January 2006 (O4b)."""
_OLD_NS2: Settings = (*_OLD_RTO, *_OLD_CUT, *_all(("rto_min", "1s")), ("radio.mac_overhead", "28"))
"""With what is older still or later (O4a)."""

OLD_NS2 = "ns-2 of the paper's time: RTO values, window cut, MAC overhead"

EVERYWHERE = (
    Point(AS_IS),
    Point("static routes", routing="static"),
    Point("AODV as in ns-2", routing="aodv"),
    Point("AODV after RFC 3561", routing="rfc3561"),
    Point("reception by SINR", reception="sinr"),
    Point("reception as in ns-2", reception="ns2-capture"),
    Point("any overlapping frame within 550 m destroys", _NO_CAPTURE),
    Point("window 20", _WINDOW_20),
    Point("window 32", (("defaults.window", "32"),)),
    Point("window 128", (("defaults.window", "128"),)),
    Point("initial RTO 6 s, no upper limit", _OLD_RTO),
    Point("integer-valued window cut", _OLD_CUT),
    Point("minimum RTO 1 s", _all(("rto_min", "1s"))),
    Point("MAC overhead 28 bytes", (("radio.mac_overhead", "28"),)),
    Point(OLD_NS2, _OLD_NS2),
    Point("initial ssthresh of the window", _all(("initial_ssthresh", "64"))),
    Point("both flows start at 0", (("defaults.start_jitter", "0s"),)),
    Point("no RTS/CTS", _NO_RTS),
    Point("interval of one hop below 4 hops", _law(("ap_short_path", "one-hop"))),
    Point("interval of n hops below 4 hops", _law(("ap_short_path", "n-hop"))),
    Point("mean absolute deviation", _law(("ap_variation", "mad"))),
    Point("10 samples", _law(("history", "10"))),
    Point("20 samples", _law(("history", "20"))),
    Point("100 samples", _law(("history", "100"))),
    Point("all samples", _law(("history", "10000"))),
    Point("variation of the k-hop delays", _law(("ap_samples", "khd"))),
    Point("no sample rejected", _law(("delaybound", "60s"))),
    Point("hops to the gateway by its routing table", _law(("gap_h", "route"))),
    Point("no RTO back-off of the paced sender", _law(("ap_rto_backoff", "false"))),
    Point("packets leave at the ticks of a timer", _law(("gap_pacer", "timer"))),
    Point("the gateway paces from the start, by 50 ms", _law(("gap_initial_interval", "50ms"))),
    Point("duplicate ACKs to the letter", _law(("gap_dupack", "literal"))),
    Point("duplicate ACKs forwarded", _law(("gap_dupack", "off"))),
    Point(
        "mean absolute deviation of 10 k-hop delays",
        _law(("ap_variation", "mad"), ("ap_samples", "khd"), ("history", "10")),
    ),
    Point("window 20, no RTS/CTS", (*_WINDOW_20, *_NO_RTS)),
)  # fmt: skip
"""A switch to what a condition has already is that condition as it is, and costs nothing."""

_WIRED = (
    Point("one wired link", (("topology.wired_hops", "1"),)),
    Point("two wired links", (("topology.wired_hops", "2"),)),
    Point("wired delay 5 ms a link", _NEAR),
    Point("window 20, wired delay 5 ms a link", (*_WINDOW_20, *_NEAR)),
)
"""Where the generator makes the wired part (O2)."""
_TWO_FLOWS = (
    Point("flow 1 starts 10 s earlier", (("flow.1.start", "10s"),)),
    Point("flow 2 starts 10 s earlier", (("flow.0.start", "10s"),)),
)
_GOODPUT_CONTROL = (
    Point("goodput control: in the order of the paper's figure", _control(("gc_order", "figure"))),
    Point("goodput control: caps fall only when a flow ends", _control(("gc_reset", "end"))),
    Point("goodput control: no hold-off", _control(("gc_hold_off", "0"))),
    Point("goodput control: caps relaxed by a factor", _control(("gc_aging", "multiplicative"))),
    Point("goodput control: every second", _control(("gc_interval", "1s"))),
    Point("goodput control: every 20 s", _control(("gc_interval", "20s"))),
    Point("goodput control: threshold 1.05", _control(("gc_threshold", "1.05"))),
    Point("goodput control: threshold 1.5", _control(("gc_threshold", "1.5"))),
    Point("goodput control: every second, threshold 1.05", _control(("gc_interval", "1s"), ("gc_threshold", "1.05"))),
)  # fmt: skip
_ONE_QUEUE = (Point("one pacing queue for all flows", _law(("gap_queues", "one"))),)
"""Of the gateway, where it paces several flows (O15)."""
_OPTION = (
    Point("the option costs nothing", _law(("gap_option_length", "0"))),
    Point("the option costs 4 bytes", _law(("gap_option_length", "4"))),
)
"""Where acknowledgements come from the wired part (O22)."""
_HOST = (Point("the gateway keeps state for a host", _law(("gap_state", "host"))),)
"""Where a host has several connections (O25)."""
_FRAMES = (
    Point("basic rate 2 Mbit/s", (("radio.basic_rate", "2Mbps"),)),
    Point("basic rate 11 Mbit/s", (("radio.basic_rate", "11Mbps"),)),
    Point("short preamble", (("radio.preamble", "short"),)),
    Point("short preamble, basic rate 11 Mbit/s", (("radio.preamble", "short"), ("radio.basic_rate", "11Mbps"))),
)
_OFDM_FRAMES = (Point("control frames at 6 Mbit/s", (("radio.basic_rate", "6Mbps"),)),)
_LONGER = (Point("five times as long", (("measure.duration", "1000s"),)),)
"""No flow starves here, so that 55,000 packets of each (O7) are only a longer run."""
_ONE_ROUTER = (Point("all hosts behind one router", (("link.5.a", "RT2"), ("link.6.a", "RT2"))),)
_FROM_100_S = (Point("counted from 100 to 1,100 s", (("measure.warmup", "100s"), ("measure.duration", "1100s"))),)
"""Of Table 2 (O14); its schemes are those of gap-link-drops."""


def _counted(flows: int) -> tuple[Point, ...]:
    """When a file's time begins (O12b), and what of files that are not through (O12d)."""
    return (
        Point("a file's time begins with its first packet", _of_flows(flows, "file_clock", "first-packet")),
        Point("unfinished files count", _of_flows(flows, "unfinished_files", "counted")),
    )


_FILES = (
    Point("files of 1,024 bytes a kbyte", _of_flows(2, "file_mean", "30720B")),
    Point("mean file of 90 kB", _of_flows(2, "file_mean", "90kB")),
    Point("first interval 10 ms", _law(("initial_interval", "10ms"))),
    *_counted(2),
)

_QUICK = (
    AS_IS, "static routes", "AODV as in ns-2", "AODV after RFC 3561", "window 20", "no RTS/CTS",
    OLD_NS2, "mean absolute deviation", "10 samples",
)  # fmt: skip
"""The quick plans'."""


def _concerning(schemes: tuple[str, ...], point: Point) -> Point:
    """The point without parameters of schemes that are not run: runs that differ in those only are the same."""
    kept = tuple(
        (key, value) for key, value in point.settings if not key.startswith("scheme.") or key.split(".")[1] in schemes
    )
    return replace(point, settings=kept)


def _switches(
    family: str, title: str, scenario: str, settings: Settings = (), more: tuple[Point, ...] = (), *,
    schemes: tuple[str, ...] = WITH_NOGC[:2], quick: Settings | None = None, full: Settings | None = None,
) -> Study:  # fmt: skip
    return Study(
        name=f"gap-switches-{family}",
        paper="gap",
        title=f"Ingredients changed: {title}",
        figures=(),
        source=_OWN,
        shows=f"What changed ingredients do to the schemes: {title}.",
        scenario=scenario,
        axis=Axis("ingredient", "", tuple(_concerning(schemes, point) for point in (*EVERYWHERE, *more))),
        schemes=schemes,
        conditions=(AODV, STATIC),
        settings=settings,
        quick=Plan(4, quick or timed(40, 10), _QUICK, core_s=0.04),
        full=Plan(5, full or timed(200, 20), core_s=0.2),
        quantities=(GOODPUT, SHARE, JAIN, JAIN_10S, DELAY, RESENT, DROPS, TIMEOUTS, ROUTE_FAILURES),
    )


def _chain(way: str, hops: int, family: str) -> Study:
    length: Settings = (("topology.hops", str(hops)),)
    more = (*_WIRED, *(_OPTION if way == "up" else ()))
    return _switches(f"{family}-{way}", f"chain of {hops} hops, {CASES[way]}", CHAINS[way], length, more)


def _several(case: str) -> tuple[Point, ...]:
    """What concerns flows that meet at the gateway, by their directions."""
    return (*(_OPTION if case != "down" else ()), *(_ONE_QUEUE if case != "up" else ()))


def _fast(profile: str) -> Study:
    standard, what = FAST[profile]
    return _switches(
        f"54mbps-{profile}", f"54 Mbit/s, {what}, wired links of 20 Mbit/s", "gap-fig15-54mbps.toml",
        (("topology.wired_rate", "20Mbps"), ("radio.standard", standard)),
        (*_WIRED, *_TWO_FLOWS, *(_OFDM_FRAMES if profile == "ofdm" else _FRAMES)), quick=timed(15, 5),
        full=timed(60, 10),
    )  # fmt: skip


def _http(kind: str) -> Study:
    kept: Settings = tuple((f"flow.{flow}.connection_per_file", "false") for flow in range(2)) if kind else ()
    title = f"web traffic on parallel chains, {CONNECTIONS[kind]}"
    more = (*_WIRED, *_FILES, *_ONE_QUEUE, *(() if kind else _HOST))
    return _switches(f"http{kind}", title, "gap-fig22-http-parallel.toml", kept, more)


def _random(family: str, title: str, scenario: str, settings: Settings = (), more: tuple[Point, ...] = ()) -> Study:
    places = (
        Point("ends at least two hops from the gateway", (("topology.min_hops", "2"),)),
        Point("gateway nearest the centre", (("topology.gateway", "centre"),)),
        Point("the gateway a 121st node", (("topology.nodes", "121"),)),
        Point("one topology", (("topology.placement_seed", "1"),)),
        Point("ends may be drawn again", (("topology.repeat_ends", "true"),)),
    )
    return _switches(family, title, scenario, settings, (*_WIRED, *places, *_ONE_QUEUE, *more), quick=timed(30, 10))


_FAST_MESH = Point("54 Mbit/s, DSSS frame times", (("radio.standard", "802.11g-ns2"),))

STUDIES = (
    *(_chain(way, 8, "chain") for way in CHAINS),
    *(_chain(way, 3, "short") for way in CHAINS),
    *(
        _switches(
            f"parallel-{case}", f"parallel chains, {CASES[case]}", PARALLEL[case], (),
            (
                *_WIRED,
                *_TWO_FLOWS,
                *_LONGER,
                *_several(case),
                *((*_GOODPUT_CONTROL, *_FROM_100_S) if case == "mix" else ()),
            ),
            schemes=WITH_NOGC,
        )
        for case in PARALLEL
    ),
    *(
        _switches(
            f"cross-{case}", f"cross, {CASES[case]}", CROSS[case], (),
            (
                *(Point(f"arms of {hops} hops", (("topology.hops", str(hops)),)) for hops in (2, 3, 5)),
                *_ONE_ROUTER,
                *_several(case),
                *(_GOODPUT_CONTROL if case == "mix" else ()),
            ),
            schemes=WITH_NOGC,
        )
        for case in CROSS
    ),
    *map(_fast, FAST),
    *map(_http, CONNECTIONS),
    _random("random", "random mesh", "gap-fig21-random.toml", more=_OPTION),
    *(
        _random(
            f"http-random{kind}", f"web traffic in a random mesh, {CONNECTIONS[kind]}", "gap-fig24-http-random.toml",
            (("flow.0.connection_per_file", "false"),) if kind else (),
            (_FAST_MESH, *_counted(1), *(() if kind else _HOST)),
        )
        for kind in CONNECTIONS
    ),
)  # fmt: skip
