/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which acknowledgements pass: crates/hook/src/ack_filter.rs and ack_filter/flow.rs in C, rule by rule; why each rule is what it is stands there.
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
/* A sender's window that was found small counts as such for so many, at first and at last. */
#define SMALL_FIRST 8
#define SMALL_LAST 64
/* The largest scale of window fields (RFC 7323, section 2.3). */
#define SCALE_MAX 14

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

/* The newest has waited for its tail, and passed. */
INLINE void waited(struct thin_flow *flow, __u64 tail)
{
	__u32 brought = flow->newest - flow->passed;

	if (flow->stuck) {
		__u32 half = (flow->stuck > brought ? flow->stuck : brought) / 2;
		bool again = span_since(flow->at, flow->half_at) < tail * (2 * flow->lasts);

		flow->lasts = !again ? SMALL_FIRST : flow->lasts < SMALL_LAST ? 2 * flow->lasts : SMALL_LAST;
		flow->half = half ? half : 1;
		flow->half_at = flow->at;
	}
	flow->stuck = brought;
	passes(flow, flow->at + tail);
}

INLINE void begin(struct thin_flow *flow, const struct packet *packet, __u64 now)
{
	flow->at = flow->passed_at = flow->half_at = now;
	flow->newest = flow->passed = packet->ack;
	flow->window = flow->passed_window = packet->window;
}

/* What an acknowledgement has to bring to pass. */
INLINE __u64 enough(const struct thin_flow *flow, const struct thinning *thinning, __u64 now)
{
	__u64 least = thinning->share ? flow->since / thinning->share : 0;

	if (least > thinning->bytes)
		least = thinning->bytes;
	if (flow->scale <= SCALE_MAX) {
		__u64 offered = ((__u64)flow->passed_window << flow->scale) / 2;

		if (least > offered)
			least = offered;
	}
	if (flow->half && span_since(now, flow->half_at) < thinning->tail * flow->lasts && least > flow->half)
		least = flow->half;
	return least;
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
	bool counts = (__u64)(packet->ack - flow->passed) >= enough(flow, thinning, now);
	bool seldom = silence >= thinning->tail;

	if (counts || (!seldom && span_since(now, flow->passed_at) >= thinning->wait))
		flow->stuck = 0;
	else if (!seldom && !closes_or_opens(flow->passed_window, flow->window))
		return WAITS;
	passes(flow, now);
	return PASSES;
}

#endif
