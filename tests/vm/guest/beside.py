"""What case 13 asks of a gateway that shapes by host, beside the kernel's own disciplines: bench/hosts_beside.py."""

from __future__ import annotations

from traffic import quantile

from hosts_beside import CHANGING, RATE_KBPS, follow, shapings, shared
from hosts_live import used

SECONDS = 20.0
known = shapings(RATE_KBPS)


def check(name: str, left: float, asked: str, right: float) -> None:
    """A line, as common.sh's `check` prints."""
    holds = left >= right if asked == ">=" else left <= right
    print(f"{'ok' if holds else 'FAILED'} {name} ({left:.3f} {asked} {right:.3f})", flush=True)


for word in ("nfqueue", "ebpf", "auto"):
    (got,) = shared(known[word], 20, 1, SECONDS)
    label = known[word].label
    check(f"{label}: one download beside 20, Jain of hosts", got.jain, ">=", 0.98)
    fair = (got.first + got.second) / 2
    check(f"{label}: of its fair share a host has", min(got.first, got.second) / fair, ">=", 0.8)

(kernel,), (alone,) = (shared(known[word], 0, 1, SECONDS) for word in ("htb", "nfqueue"))
check("one download alone, beside htb with fq_codel at the same rate", alone.first, ">=", 0.97 * kernel.first)

# By host a page with six connections has half beside four downloads of another host; by flow, under htb, six tenths.
theirs, ours, found = (used(known[word], 1, 1, SECONDS / 2) for word in ("cake", "nfqueue", "auto"))
check("a page beside another host's downloads, and under cake, s", ours.pages[0], "<=", 1.1 * theirs.pages[0])
# A call takes two fifths of this chain: the given rate is too much beside it, for whoever has it.
late = [quantile(got.delays["down"], 0.99) for got in (found, theirs)]
check("a call there where the rate is found, and under cake, 99 %, s", late[0], "<=", 0.5 * late[1])
theirs, ours = (used(known[word], 0, 1, SECONDS / 2) for word in ("htb", "nfqueue"))
check("a page beside its own host's, and under htb with fq_codel, s", ours.pages[0], "<=", 1.1 * theirs.pages[0])

rule, law = (follow(CHANGING[word]) for word in ("autorate", "auto"))
check("a rate that changes: goodput beside cake-autorate's", law.share, ">=", rule.share)
