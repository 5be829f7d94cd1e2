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

/* Notes when the segments of a packet pass. */
INLINE void stamp(struct context *c, struct half *half, enum side from, __u64 at)
{
	struct departure_key key = {.flow = c->flow->id + (from == WIRELESS)};
	__u32 start = c->packet.seq, end = start + sequence_length(&c->packet);
	__u32 size = c->skb->gso_size;

	if (!half->begun) {
		half->una = half->end = start;
		half->begun = 1;
	}
	if (pass(half, start, end) != FRESH)
		return;
	if (!size) {
		key.seq = from == WIRELESS ? start : end;
		bpf_map_update_elem(&departures, &key, &at, BPF_ANY);
		return;
	}
	for (int i = 0; i < SEGMENTS_MAX; i++) {
		if (!after(end, start))
			return;
		__u32 stop = end - start > size ? start + size : end;
		key.seq = from == WIRELESS ? start : stop;
		bpf_map_update_elem(&departures, &key, &at, BPF_ANY);
		start = stop;
	}
}

/* The round trip that an acknowledgement of `half` tells; 0 if none. */
INLINE __u64 round_trip(struct context *c, struct half *half, enum side data_from)
{
	struct departure_key key = {.flow = c->flow->id + (data_from == WIRELESS)};
	__u32 from, ack = c->packet.ack;
	bool timed;

	if (!half->begun || !(c->packet.flags & TCP_ACK) || !covers(half, ack, &from, &timed))
		return 0;
	key.seq = data_from == WIRELESS ? from : ack;
	const __u64 *at = timed ? bpf_map_lookup_elem(&departures, &key) : NULL;
	/* It acknowledges what still waits for its departure: an optimistic one, not to be believed. */
	if (at && *at >= c->now)
		return 0;
	acknowledge(half, ack);
	return at && c->now - *at < RTT_MAX ? c->now - *at : 0;
}

#endif
