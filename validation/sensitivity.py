"""What the validation table can see: one input is made wrong at a time, and the rows that miss are counted.

A row that passes with a wrong input says nothing about that input. Prints docs/sensitivity.md:

    .venv/bin/python validation/sensitivity.py > docs/sensitivity.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from meshpace.validation.command import judge
from meshpace.validation.families import FAMILIES
from meshpace.validation.model import Setup

SEEDS = 3
CHAINS_STEP = 3
"""Of the families of chains every third set-up is run: lengths and directions take turns."""

Change = Callable[[Setup], Setup]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A wrong input, and the set-ups of one family that get it: with ``only`` among their settings or in their name."""

    what: str
    family: str
    only: str
    change: Change

    def concerns(self, setup: Setup) -> bool:
        """True if the set-up gets the wrong input."""
        return not self.only or self.only in setup.settings or self.only in setup.checks[0].name


def settings(*added: str) -> Change:
    return lambda setup: replace(setup, settings=(*setup.settings, *added))


def scheme(name: str) -> Change:
    return lambda setup: replace(setup, scheme=name)


def sensing(power: str) -> Change:
    return settings(f"radio.sensitivity={power}", f"radio.cs_sensitivity={power}")


TWICE_QUEUED = settings("scheme.vegas.vegas_alpha=4", "scheme.vegas.vegas_beta=8")
STATIC, AODV = "routing.protocol=static", "routing.protocol=aodv"
MUTATIONS = (
    Mutation("nothing (control, static)", "chain_adhoc", STATIC, settings()),
    Mutation("nothing (control, AODV)", "chain_adhoc", AODV, settings()),
    Mutation("nothing (control)", "chain_wired", "", settings()),
    Mutation("nothing (control)", "parallel", "", settings()),
    Mutation("nothing (control)", "crosscheck", "saturated hop", settings()),
    Mutation("nothing (control)", "crosscheck", "grid", settings()),
    Mutation("nothing (control)", "crosscheck", "cold tables", settings()),
    Mutation("nothing (control)", "crosscheck", "hidden senders", settings()),
    Mutation("nothing (control)", "tcp_ap_multi_static", "", settings()),
    Mutation("data rate 5.5 instead of 11 Mb/s", "chain_adhoc", STATIC, settings("radio.rate=5.5Mbps")),
    Mutation("26 bytes more a data frame", "chain_adhoc", STATIC, settings("radio.mac_overhead=60")),
    Mutation("26 bytes more a data frame", "crosscheck", "saturated hop", settings("radio.mac_overhead=60")),
    Mutation("16 bytes more a data frame", "crosscheck", "saturated hop", settings("radio.mac_overhead=50")),
    Mutation("4 instead of 7 short retries", "chain_adhoc", STATIC, settings("radio.retry_short=4")),
    Mutation("sensing range 390 instead of 550 m", "chain_adhoc", STATIC, settings("radio.cs_range=390m")),
    Mutation("summed interference instead of ns-2's capture", "chain_adhoc", STATIC, settings("radio.reception=sinr")),
    Mutation("capture at 3 instead of 10 dB", "chain_adhoc", STATIC, settings("radio.capture_threshold_db=3")),
    Mutation("capture at 3 instead of 10 dB", "parallel", "", settings("radio.capture_threshold_db=3")),
    Mutation("capture at 3 instead of 10 dB", "crosscheck", "grid", settings("radio.capture_threshold_db=3")),
    Mutation("capture at 3 instead of 10 dB", "crosscheck", "hidden senders", settings("radio.capture_threshold_db=3")),
    Mutation(
        "backoff from 0..cw instead of 0..cw-1", "crosscheck", "saturated hop", settings("radio.backoff_range=standard")
    ),
    Mutation("addresses known from the start", "crosscheck", "cold tables", settings("radio.arp=false")),
    Mutation("addresses known from the start", "crosscheck", "pairs in line", settings("radio.arp=false")),
    Mutation("backoff from 0..cw instead of 0..cw-1", "chain_adhoc", STATIC, settings("radio.backoff_range=standard")),
    Mutation("the RFC's AODV instead of ns-2's", "chain_adhoc", AODV, settings("routing.profile=rfc3561")),
    Mutation("static routes instead of AODV", "chain_adhoc", AODV, settings(STATIC)),
    Mutation("Tahoe instead of NewReno", "chain_adhoc", STATIC, scheme("tahoe")),
    Mutation("Tahoe instead of NewReno", "chain_adhoc", AODV, scheme("tahoe")),
    Mutation("delayed ACKs", "chain_adhoc", STATIC, scheme("newreno-delack")),
    Mutation("window 20 instead of 64", "chain_wired", "", settings("defaults.window=20")),
    Mutation("wired delay 5 instead of 40 ms", "chain_wired", "", settings("topology.wired_delay=5ms")),
    Mutation("one byte more a data frame", "exchange", "radio.mac_overhead=34", settings("radio.mac_overhead=35")),
    Mutation("backoff from 0..cw-1 instead of 0..cw", "bianchi", "", settings("radio.backoff_range=ns2")),
    Mutation("two-ray power and capture instead of equal power", "bianchi", "", settings("radio.propagation=two-ray")),
    Mutation("2 instead of 7 attempts", "bianchi", "", settings("radio.retry_short=2")),
    Mutation(
        "backoff from 0..cw-1 instead of 0..cw",
        "saturation",
        "radio.backoff_range=standard",
        settings("radio.backoff_range=ns2"),
    ),
    Mutation("16 bytes more a data frame", "saturation", "radio.rate=11Mbps", settings("radio.mac_overhead=50")),
    Mutation("TCP-AP of the paper instead of the agent's", "tcp_ap_multi_static", "", scheme("tcp-ap")),
    Mutation("TCP-AP of the paper instead of the agent's", "tcp_ap_chain_static", "", scheme("tcp-ap")),
    Mutation("nothing (control)", "ht_saturation", "", settings()),
    Mutation("nothing (control)", "ht_bianchi", "", settings()),
    Mutation("nothing (control)", "ns3_chain", "datagrams", settings()),
    Mutation("8 bytes more a data frame", "ht_saturation", "radio.mcs=4", settings("radio.mac_overhead=46")),
    Mutation("backoff from 0..cw-1 instead of 0..cw", "ht_saturation", "", settings("radio.backoff_range=ns2")),
    Mutation("frames of one packet", "ht_saturation", "radio.aggregate=7935", settings("radio.aggregate=0")),
    Mutation("MPDUs of one packet", "ht_saturation", "radio.amsdu=3839", settings("radio.amsdu=0")),
    Mutation("2 instead of 7 attempts", "ht_bianchi", "", settings("radio.retry_short=2")),
    Mutation("backoff from 0..cw-1 instead of 0..cw", "ht_bianchi", "", settings("radio.backoff_range=ns2")),
    Mutation("nothing (control)", "ht_categories", "", settings()),
    Mutation("backoff from 0..cw-1 instead of 0..cw", "ht_categories", "", settings("radio.backoff_range=ns2")),
    Mutation("voice instead of video", "ht_categories", "flow.0.dscp=af41", settings("flow.0.dscp=cs6")),
    Mutation("best effort instead of background", "ht_categories", "flow.1.dscp=cs1", settings("flow.1.dscp=df")),
    Mutation("one station instead of two", "ht_categories", "flow.1.from=b", settings("flow.1.from=a")),
    Mutation("frames of one packet", "ht_categories", "", settings("radio.aggregate=0")),
    Mutation("aggregates of 32,000 B", "ns3_chain", "datagrams", settings("radio.aggregate=32000")),
    Mutation("three hops sensed instead of two", "ns3_chain", "datagrams, 4 hops", sensing("-86dBm")),
    Mutation("one hop sensed instead of two", "ns3_chain", "datagrams, 4 hops", sensing("-76dBm")),
    Mutation("2 instead of 7 attempts", "ns3_chain", "4 hops", settings("radio.retry_short=2")),
    Mutation(
        "a threshold of 10 dB instead of error curves",
        "ns3_chain",
        "datagrams",
        settings("radio.error_model=threshold"),
    ),
    Mutation("an ACK for each segment", "ns3_chain", "window of", settings("scheme.sack-rfc.ack_segments=1")),
    Mutation("nothing (control)", "ns2_dumbbell", "", settings()),
    Mutation("nothing (control)", "ns3_dumbbell", "", settings()),
    Mutation("15 instead of 25 ms", "ns2_dumbbell", "link.1.delay=25ms", settings("link.1.delay=15ms")),
    Mutation("15 instead of 25 ms", "ns3_dumbbell", "link.1.delay=25ms", settings("link.1.delay=15ms")),
    Mutation("Reno instead of CUBIC", "ns2_dumbbell", "cubic", scheme("linux-reno")),
    Mutation("CUBIC instead of Reno", "ns2_dumbbell", "reno", scheme("linux-cubic")),
    Mutation("twice as many segments queued", "ns2_dumbbell", "vegas", TWICE_QUEUED),
    Mutation("twice as many segments queued", "ns3_dumbbell", "vegas", TWICE_QUEUED),
    Mutation("Reno instead of Westwood+", "ns3_dumbbell", "westwood", scheme("linux-reno")),
    Mutation("CUBIC instead of BBR", "ns3_dumbbell", "bbr", scheme("linux-cubic")),
)


def main() -> None:
    print("# What the validation can see\n")
    print(
        "A validation is worth as much as the mistakes that it would notice. This page makes mistakes on purpose:\n"
        "each row simulates with one wrong input, and counts the rows of [validation.md](validation.md) that then\n"
        f"miss their reference ({SEEDS} seeds a row, every third set-up of the chains). Rows that still pass say\n"
        "nothing about that input, and a family without a miss is blind to it. Every wrong input has misses in one\n"
        "family at least. validation/sensitivity.py writes the page.\n"
    )
    print("| wrong input | family | rows that miss | by quantity |")
    print("|---|---|--:|---|")
    for mutation in MUTATIONS:
        step = CHAINS_STEP if mutation.family.startswith("chain") else 1
        setups = [s for s in FAMILIES[mutation.family]() if mutation.concerns(s)][::step]
        if mutation.family.startswith("tcp_ap"):
            setups = [s for s in setups if s.scheme != "newreno"]
        verdicts = judge([mutation.change(setup) for setup in setups], SEEDS, None)
        misses = Counter(v.check.quantity for v in verdicts if not v.passed)
        which = ", ".join(f"{quantity} {count}" for quantity, count in misses.items()) or "-"
        family = f"{mutation.family} {mutation.only.removeprefix('routing.protocol=')}".strip()
        print(f"| {mutation.what} | {family} | {sum(misses.values())} of {len(verdicts)} | {which} |", flush=True)


if __name__ == "__main__":
    main()
