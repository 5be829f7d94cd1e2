/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whether a segment can be one of its connection: crates/gateway/src/windows.rs in C, rule by rule; why each rule is what it
 * is stands there. crates/daemon/src/ebpf/kernel/tests/plausible.rs and fuzz/targets/plausible.rs hold both against each other. */
#ifndef MESHPACE_PLAUSIBLE_H
#define MESHPACE_PLAUSIBLE_H

#include "gateway.h"
#include "kernel.h"
#include "packet.h"
#include "sequence.h"

/* Largest window scale (RFC 7323, section 2.3), assumed where the handshake was not seen. */
#define SCALE_MAX 14
/* How far behind what was sent a retransmission or an acknowledgement may lie whatever the window. */
#define SLACK 66000u
/* How far below what its side has sent a RST may lie before the other side has acknowledged anything. */
#define RESET_SLACK (1u << 15)

enum judgement {
	PLAUSIBLE,   /* it can be one of the connection */
	IMPLAUSIBLE, /* it cannot: pass it on, believe nothing of it */
	ANEW,        /* both ends agree on other numbers: another connection between the same ports */
};

INLINE bool within(__u32 lowest, __u32 highest, __u32 number)
{
	return !before(number, lowest) && !after(number, highest);
}

INLINE __u32 slack(const struct window *half)
{
	return half->window > SLACK ? half->window : SLACK;
}

INLINE bool can_reset(const struct window *own, const struct window *other, const struct packet *packet)
{
	if (own->has_acked)
		return within(own->acked, own->has_next ? later(own->next, own->acked) : own->acked, packet->seq);
	if (own->has_next)
		return within(own->next - RESET_SLACK, own->next, packet->seq);
	if (!other->has_next)
		return true;
	return packet->flags & TCP_ACK &&
	       within(other->has_acked ? other->acked : other->next - RESET_SLACK, other->next, packet->ack);
}

INLINE bool fits(const struct window *own, const struct window *other, const struct packet *packet)
{
	__u32 end = packet->seq + sequence_length(packet);
	bool acks = packet->flags & TCP_ACK;

	if (packet->flags & TCP_SYN && !acks)
		return !own->has_acked && own->has_next && own->next == end;
	if (own->has_edge && after(packet->seq, own->edge))
		return false;
	if (!own->has_edge && own->has_next && after(packet->seq, own->next + WINDOW_MAX))
		return false;
	if (own->has_next && before(end, own->next - slack(other)))
		return false;
	return !acks || !other->has_next || within(other->next - slack(own), other->next, packet->ack);
}

/* Judges a segment that came from `side`. Only that side's program writes what it writes: its own `stray`. */
INLINE enum judgement judge(struct windows *windows, enum side side, const struct packet *packet)
{
	struct window *own = &windows->halves[side], *other = &windows->halves[!side];
	__u32 start = packet->seq, end = start + sequence_length(packet);

	if (packet->flags & TCP_RST)
		return can_reset(own, other, packet) ? PLAUSIBLE : IMPLAUSIBLE;
	if (fits(own, other, packet))
		return PLAUSIBLE;
	if (packet->flags & TCP_ACK && other->has_stray && after(packet->ack, other->stray_from) &&
	    !after(packet->ack, other->stray_to))
		return ANEW;
	if (start != end) {
		if (!own->has_stray || own->stray_to != start || packet->flags & TCP_SYN)
			own->stray_from = start;
		own->stray_to = end;
		own->has_stray = 1;
	}
	return IMPLAUSIBLE;
}

/* Notes what the SYN of a side offers. */
INLINE void offer(struct windows *windows, enum side side, bool offers, __u8 scale)
{
	windows->halves[side].seen = 1;
	windows->halves[side].offers = offers;
	windows->halves[side].scale = scale > SCALE_MAX ? SCALE_MAX : scale;
}

/* By how much the windows of a side are scaled (RFC 7323, section 2.2: only if both offered it). */
INLINE __u8 scale_of(const struct windows *windows, enum side side, __u8 unseen)
{
	const struct window *own = &windows->halves[side], *other = &windows->halves[!side];

	if (!own->seen || !other->seen)
		return unseen;
	return own->offers && other->offers ? own->scale & 15 : 0;
}

/* Notes what a plausible segment tells, but for the offers of a SYN. A RST tells nothing. */
INLINE void learn(struct windows *windows, enum side side, const struct packet *packet)
{
	struct window *own = &windows->halves[side], *other = &windows->halves[!side];
	__u32 end = packet->seq + sequence_length(packet);
	__u8 scale = packet->flags & TCP_SYN ? 0 : scale_of(windows, side, SCALE_MAX);
	__u32 window = (__u32)packet->window << scale;

	if (packet->flags & TCP_RST)
		return;
	own->next = own->has_next ? later(own->next, end) : end;
	own->has_next = 1;
	if (!(packet->flags & TCP_ACK))
		return;
	if (window > own->window)
		own->window = window;
	other->acked = other->has_acked ? later(other->acked, packet->ack) : packet->ack;
	other->has_acked = 1;
	/* A window of nothing is probed with a byte (RFC 9293, section 3.8.6.1). */
	__u32 edge = packet->ack + (window ? window : 1);
	other->edge = other->has_edge ? later(other->edge, edge) : edge;
	other->has_edge = 1;
}

#endif
