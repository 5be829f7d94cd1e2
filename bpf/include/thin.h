/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which acknowledgements pass: crates/hook/src/ack_filter.rs in C, rule by rule; why each rule is what it is stands there.
 * crates/daemon/src/edge/kernel/tests/same.rs holds both against each other. */
#ifndef MESHPACE_THIN_H
#define MESHPACE_THIN_H

#include "edge.h"
#include "kernel.h"
#include "packet.h"
#include "sequence.h"

#define TCP_URG 0x20
#define TCP_ECE 0x40
#define TCP_CWR 0x80
/* A connection that acknowledged nothing for so many waits for the tail begins anew. */
#define ANEW_TAILS 4

enum thinned {
	PASSES, /* it stands for all before it */
	NEWS,   /* it passes beside what waits */
	WAITS,
};

INLINE __u64 span_since(__u64 now, __u64 earlier)
{
	return now > earlier ? now - earlier : 0;
}

/* Everything up to the newest has passed. */
INLINE void passes(struct thin_flow *flow, __u64 at)
{
	flow->passed = flow->newest;
	flow->passed_at = at;
	flow->passed_window = flow->window;
}

/* Nothing is lost with it once a newer one comes. */
INLINE bool is_plain(const struct packet *packet, bool other_options)
{
	return !packet->payload && !packet->reserved && !other_options &&
	       !(packet->flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_URG | TCP_ECE | TCP_CWR));
}

INLINE bool closes_or_opens(__u32 before, __u32 now)
{
	return 2 * now < before || 2 * before < now;
}

INLINE void begin(struct thin_flow *flow, const struct packet *packet, __u64 now)
{
	flow->at = flow->passed_at = now;
	flow->newest = flow->passed = packet->ack;
	flow->window = flow->passed_window = packet->window;
}

/* What becomes of an acknowledgement of a connection that is known. */
INLINE enum thinned thin(struct thin_flow *flow, const struct packet *packet, bool plain,
			 const struct thinning *thinning, __u64 now)
{
	flow->window = packet->window;
	if (!plain || !after(packet->ack, flow->newest)) {
		flow->newest = later(flow->newest, packet->ack);
		passes(flow, now);
		return NEWS;
	}
	__u64 silence = span_since(now, flow->at);

	if (silence > thinning->tail * ANEW_TAILS)
		flow->since = 0;
	flow->since += packet->ack - flow->newest;
	flow->newest = packet->ack;
	flow->at = now;
	__u64 enough = thinning->share ? flow->since / thinning->share : 0;

	if (enough > thinning->bytes)
		enough = thinning->bytes;
	if ((__u64)(packet->ack - flow->passed) >= enough || closes_or_opens(flow->passed_window, flow->window) ||
	    span_since(now, flow->passed_at) >= thinning->wait || silence >= thinning->tail) {
		passes(flow, now);
		return PASSES;
	}
	return WAITS;
}

#endif
