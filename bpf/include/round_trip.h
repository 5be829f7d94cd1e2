/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Round trips: when segments pass, and what their acknowledgements tell (schemes.md 3.2, 3.3). */
#ifndef MESHPACE_ROUND_TRIP_H
#define MESHPACE_ROUND_TRIP_H

#include "context.h"
#include "sequence.h"

#define SECOND 1000000000ull
/* Older round trips are stale entries, not measurements. */
#define RTT_MAX (60 * SECOND)
/* Segments of one unsegmented packet that are timed one by one: 64 KB of full-size ones and some. */
#define SEGMENTS_MAX 64

/* Notes when the segments of a packet pass; how they do. */
INLINE enum passage stamp(struct context *c, struct half *half, enum side from, __u64 at)
{
	struct departure_key key = {.flow = c->flow->id + (from == WIRELESS)};
	__u32 start = c->packet.seq, end = start + sequence_length(&c->packet);
	__u32 size = c->skb->gso_size;

	if (!half->begun) {
		half->una = half->end = start;
		half->begun = 1;
	}
	if (from == WIRED)
		leave_or_fill(&c->flow->hole, half->una, half->end, start, end, at);
	enum passage passage = pass(half, start, end);
	if (passage != FRESH)
		return passage;
	if (!size) {
		key.seq = from == WIRELESS ? start : end;
		bpf_map_update_elem(&departures, &key, &at, BPF_ANY);
		return FRESH;
	}
	for (int i = 0; i < SEGMENTS_MAX; i++) {
		if (!after(end, start))
			break;
		__u32 stop = end - start > size ? start + size : end;
		key.seq = from == WIRELESS ? start : stop;
		bpf_map_update_elem(&departures, &key, &at, BPF_ANY);
		start = stop;
	}
	return FRESH;
}

/* Tells how long a segment towards the mesh has been gone that leaves again `at` some time: it was under way for that long, at least. Of what
 * had left when something was sent again before nothing is told: the hole that this filled may have kept its acknowledgement back
 * (crates/gateway/src/shaper/finder/segments.rs). */
INLINE void tell_again(struct context *c, __u64 at)
{
	struct flow *flow = c->flow;
	struct departure_key key = {.flow = flow->id, .seq = c->packet.seq + sequence_length(&c->packet)};
	const __u64 *left = flow->again_at && flow->again_end == key.seq ? &flow->again_at : NULL;
	__u64 since = 0;

	if (!left && (!flow->again_at || after(key.seq, flow->untimed)))
		left = bpf_map_lookup_elem(&departures, &key);
	if (left)
		since = *left;
	flow->again_at = at;
	flow->again_end = key.seq;
	flow->untimed = flow->down.end;
	if (since && since < c->now && c->now - since < RTT_MAX)
		tell(AGAIN, c->now, c->now - since, &c->key, flow);
}

/* Whether a round trip is to be told: of connections that no law paces, a host's are so far apart. */
INLINE bool is_time(struct context *c, __u64 apart)
{
	struct mesh_host host;

	if (!apart || c->treatment == PACE)
		return true;
	memcpy(host.address, c->key.wireless, sizeof(host.address));
	const __u64 *before = bpf_map_lookup_elem(&told, &host);
	if (before && c->now - *before < apart)
		return false;
	bpf_map_update_elem(&told, &host, &c->now, BPF_ANY);
	return true;
}

/* The round trip that an acknowledgement of `half` tells; 0 if none. Of data towards the mesh: whether no other segment was acknowledged with it,
 * and, if `fills`, that of what fills a hole. */
INLINE __u64 round_trip(struct context *c, struct half *half, enum side data_from, bool fills, bool *single)
{
	struct departure_key key = {.flow = c->flow->id + (data_from == WIRELESS)};
	struct hole *hole = &c->flow->hole;
	__u32 from, ack = c->packet.ack;
	bool timed;

	if (!half->begun || !(c->packet.flags & TCP_ACK) || !covers(half, ack, &from, &timed))
		return 0;
	key.seq = data_from == WIRELESS ? from : ack;
	const __u64 *left = timed ? bpf_map_lookup_elem(&departures, &key) : NULL;
	bool is_filled = data_from == WIRED && hole->filled && !after(hole->end, ack);
	__u64 at = is_filled ? hole->filled : left ? *left : 0;

	/* It acknowledges what still waits for its departure: an optimistic one, not to be believed. */
	if (at >= c->now)
		return 0;
	acknowledge(half, ack);
	*single = !is_filled && ack - from <= c->flow->segment;
	if (is_filled) {
		hole->filled = 0;
		if (!fills)
			return 0;
	}
	return at && c->now - at < RTT_MAX ? c->now - at : 0;
}

#endif
