/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which connection a packet is of, and whether to believe that: beginnings, ends, what is noted of either side. */
#ifndef MESHPACE_CONNECTION_H
#define MESHPACE_CONNECTION_H

#include "context.h"
#include "departure.h"
#include "plausible.h"

#define AF_INET 2
#define AF_INET6 10

INLINE void note_handshake(struct context *c, enum side side)
{
	struct handshake fresh = {};
	struct handshake *known = bpf_map_lookup_elem(&handshakes, &c->key);

	/* A SYN without ACK begins anew: what an earlier connection offered is void. */
	if (known && c->packet.flags & TCP_ACK)
		memcpy(&fresh, known, sizeof(fresh));
	fresh.seen[side] = 1;
	fresh.offers[side] = c->options->has_scale;
	fresh.scale[side] = c->options->scale;
	bpf_map_update_elem(&handshakes, &c->key, &fresh, BPF_ANY);
}

/* What is known of the SYNs, if they were seen. */
INLINE void recall_handshake(struct context *c)
{
	const struct handshake *known = bpf_map_lookup_elem(&handshakes, &c->key);

	for (enum side side = WIRED; known && side <= WIRELESS; side++) {
		if (known->seen[side])
			offer(&c->flow->windows, side, known->offers[side], known->scale[side]);
	}
}

/* A connection begins with its first data. */
INLINE void open(struct context *c, bool ignored)
{
	__u32 zero = 0;
	const struct flow *template = bpf_map_lookup_elem(&blank, &zero);

	if (!template)
		return;
	if (!bpf_map_update_elem(&flows, &c->key, template, BPF_NOEXIST))
		c->flow = bpf_map_lookup_elem(&flows, &c->key);
	if (!c->flow) {
		add(UNTRACKED, 1);
		return;
	}
	c->flow->id = bpf_get_prandom_u32() & ~1u;
	c->flow->opened = c->flow->active = c->now;
	c->flow->ignored = ignored;
	c->flow->ttl = 0;
	recall_handshake(c);
}

INLINE void close(struct context *c)
{
	tell(CLOSED, c->now, 0, &c->key, c->flow);
	bpf_map_delete_elem(&flows, &c->key);
	c->flow = NULL;
}

/* Whether a packet from the mesh, which would open a connection, goes on to the wired side at all. */
INLINE bool leaves_mesh(struct context *c)
{
	struct bpf_fib_lookup fib = {.l4_protocol = IPPROTO_TCP, .ifindex = c->skb->ifindex};

	fib.sport = c->packet.source_port;
	fib.dport = c->packet.destination_port;
	if (c->packet.version == 4) {
		fib.family = AF_INET;
		fib.ipv4_src = c->packet.source[3];
		fib.ipv4_dst = c->packet.destination[3];
	} else {
		fib.family = AF_INET6;
		memcpy(fib.ipv6_src, c->packet.source, 16);
		memcpy(fib.ipv6_dst, c->packet.destination, 16);
	}
	long result = bpf_fib_lookup(c->skb, &fib, sizeof(fib), 0);
	if (result != BPF_FIB_LKUP_RET_SUCCESS && result != BPF_FIB_LKUP_RET_NO_NEIGH)
		return false;
	__u32 out = fib.ifindex;
	return !bpf_map_lookup_elem(&interfaces, &out);
}

/* Notes sequence numbers, windows and FINs of a segment that is believed. */
INLINE void note(struct context *c, enum side side)
{
	const struct packet *packet = &c->packet;
	struct half *own = side == WIRED ? &c->flow->down : &c->flow->up;
	struct half *other = side == WIRED ? &c->flow->up : &c->flow->down;
	__u32 end = packet->seq + sequence_length(packet);

	if (packet->flags & TCP_SYN)
		offer(&c->flow->windows, side, c->options->has_scale, c->options->scale);
	learn(&c->flow->windows, side, packet);
	if (packet->flags & TCP_FIN) {
		own->fin = end;
		own->has_fin = 1;
	}
	if (packet->flags & TCP_ACK && other->has_fin && !after(other->fin, packet->ack))
		other->fin_acked = 1;
	own->packets++;
	own->bytes += packet->ip_length;
	own->payload += packet->payload;
}

/* The treatment of the packet's connection, by what user space wrote. */
INLINE const struct pace *look_up(struct context *c, const struct settings *settings)
{
	const struct pace *pace = bpf_map_lookup_elem(&paces, &c->key);

	c->flow = bpf_map_lookup_elem(&flows, &c->key);
	c->treatment = pace ? pace->treatment : settings->treatment;
	if (c->flow && c->flow->ignored)
		c->treatment = OFF;
	return pace;
}

/* Holds the packet against its connection, before anything else. What cannot be of it goes on and changes nothing; a RST
 * ends it and tells nothing more. False for both of them. */
INLINE bool is_believed(struct context *c, enum side side)
{
	/* Of use only once the connection is one to keep, so that a made-up one does no harm. */
	if (c->packet.flags & TCP_SYN)
		note_handshake(c, side);
	enum judgement judgement = c->flow ? judge(&c->flow->windows, side, &c->packet) : PLAUSIBLE;
	if (judgement == IMPLAUSIBLE) {
		add(UNBELIEVED, 1);
		c->flow = NULL;
		return false;
	}
	if (judgement == ANEW)
		close(c);
	if (!(c->packet.flags & TCP_RST))
		return true;
	if (c->flow) {
		/* It follows the data that wait. */
		if (side == WIRED && c->treatment == PACE && c->flow->departure > c->now) {
			leave_at(c, c->flow->departure);
		}
		close(c);
	}
	return false;
}

/* Whether a packet that is believed makes its connection one to keep. */
INLINE bool opens(const struct context *c)
{
	return !c->flow && c->packet.payload && !(c->packet.flags & TCP_SYN);
}

#endif
