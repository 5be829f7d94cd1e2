/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* When data leave towards the mesh, and how many packets may wait for that (schemes.md 3.3). */
#ifndef MESHPACE_DEPARTURE_H
#define MESHPACE_DEPARTURE_H

#include "context.h"
#include "sequence.h"

/* Takes places among the packets that wait, until `due`. False if there are none left. */
INLINE bool take_places(__u64 now, __u64 due, __u32 packets, __u32 places)
{
	__u32 zero = 0;
	struct waiting *known = bpf_map_lookup_elem(&waiting, &zero);
	__u64 taken = 0;

	if (!known)
		return false;
	for (int i = 0; i < SLOTS; i++) {
		if (known->slots[i].time >= now >> SLOT_SHIFT)
			taken += known->slots[i].packets;
	}
	if (taken + packets > places)
		return false;
	struct slot *slot = &known->slots[due >> SLOT_SHIFT & (SLOTS - 1)];

	if (slot->time != due >> SLOT_SHIFT) {
		slot->time = due >> SLOT_SHIFT;
		slot->packets = 0;
	}
	__sync_fetch_and_add(&slot->packets, packets);
	return true;
}

/* The shaper of hosts (shaper.bpf.c) gives departures before this program comes. One that lies behind, or in another clock, is none. */
#define SHAPED_AT_MOST 20000000000ull

INLINE __u64 shaped(const struct __sk_buff *skb, __u64 now)
{
	__u64 given = skb->tstamp;

	return given > now && given - now < SHAPED_AT_MOST ? given : 0;
}

/* It leaves no earlier than then, and than the shaper has said. */
INLINE void leave_at(struct context *c, __u64 due)
{
	c->skb->tstamp = due > c->shaped ? due : c->shaped;
	/* sch_fq sorts packets without a socket by hash: paced flows get a queue of their own. */
	bpf_set_hash(c->skb, c->flow->id);
}

/* Whether its sender had to wait for the window that was announced here: less than two segments are left of it, as a receiver acknowledges
 * two at once (RFC 1122, section 4.2.3.2). */
INLINE bool uses_up(const struct flow *flow, const struct packet *packet)
{
	__u32 end = packet->seq + sequence_length(packet);

	return flow->limited && after(end + 2 * flow->segment, flow->announced.told);
}

/* Gives data towards the mesh their departure. Returns it, or 0 if too much waits already. */
INLINE __u64 schedule(struct context *c, const struct pace *pace, const struct settings *settings)
{
	struct flow *flow = c->flow;
	__u64 interval = pace && c->treatment == PACE ? pace->interval : 0;
	/* One interval after the last, in the interval in force now; at once and alone after idling (schemes.md 1.5). */
	__u64 due = flow->departure + interval;

	if (!interval || due <= c->now)
		due = c->now;
	/* What was queued under an interval that is gone must not be overtaken. */
	if (due < flow->departure)
		due = flow->departure;
	__u64 wait = due - c->now;
	if (wait > settings->horizon || (interval && wait > (__u64)pace->packets * interval)) {
		flow->drops++;
		return 0;
	}
	if (interval && pace->target) {
		flow->turn = due;
		flow->fate = judge_wait(&flow->codel, due, wait, pace->target, pace->stands, c->packet.ecn);
		/* Read back: to the kernel's checker one thing, and not one for each way through the law. */
		asm volatile("" ::: "memory");
		due = flow->turn;
		wait = due - c->now;
		if (flow->fate == LAW_DROPS) {
			flow->aged++;
			return 0;
		}
		if (flow->fate == LAW_MARKS) {
			flow->marks++;
			bpf_skb_ecn_set_ce(c->skb);
		}
	}
	if (wait && !take_places(c->now, due, c->skb->gso_segs > 1 ? c->skb->gso_segs : 1, settings->places)) {
		/* Others hold what there is: it goes on unpaced, unless it would overtake its own. */
		if (flow->departure > c->now) {
			flow->drops++;
			return 0;
		}
		add(OVERFLOWED, 1);
		due = c->now;
		wait = 0;
	}
	flow->departure = due;
	if (c->skb->gso_segs > 1) {
		/* It leaves as a burst; those behind it wait until its segments would have left. */
		flow->departure += (c->skb->gso_segs - 1) * interval;
	}
	if (wait) {
		leave_at(c, due);
		flow->delayed++;
		add(DELAYED, 1);
	} else {
		add(FORWARDED, 1);
		flow->used += uses_up(flow, &c->packet);
	}
	return due > c->shaped ? due : c->shaped;
}

#endif
